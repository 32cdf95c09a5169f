#include "backends/command/short_onnx.h"

#include <algorithm>

#include "backends/command/definitions.h"
#include "base/base64.h"
#include "base/files.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "ops/core/registry.h"
#include "printers/short_program.h"

namespace whittle {
namespace {

constexpr std::size_t kMostParameters = std::size_t(64) << 20;  // bytes that are sent with a report

ReproProgram::File tensor_file(const std::string& prefix, std::size_t number, const Tensor& tensor) {
    const TempDir folder("whittle-repro");
    const std::filesystem::path file = folder.path() / "tensor.pb";
    save_tensor_proto(file, tensor);
    return {"test_data_set_0/" + prefix + std::to_string(number) + ".pb", read_file(file)};
}

/// What the compiler itself gets right with something switched off is no question of an opset's definitions.
std::string opset_condition(const ShortRequest& request, const ShortModel& model) {
    return request.blame.controlled() ? "" : opset_words(model.graph);
}

/// The file where it is small, as what a shell makes it of: trackers take no attachments of that type.
std::string pasted(const ReproProgram::File& file) {
    constexpr std::size_t kMost = 2048;  // bytes
    if (file.text.size() > kMost) return "";
    return "\n<details><summary>" + file.name + " in base64, to paste into a shell</summary>\n\n```sh\nbase64 -d > " +
           file.name + " << END\n" + base64(file.text) + "END\n```\n</details>\n";
}

}  // namespace

std::string title_of(const ShortRequest& request, const ShortModel& model, TitleWords words) {
    words.how = opset_condition(request, model);
    return report_title(request, model.graph, &Registry::instance(), words);
}

std::string statement_of(const ShortRequest& request, const ShortModel& model, TitleWords words) {
    words.how = opset_condition(request, model);
    return whole_statement(request, model.graph, &Registry::instance(), words);
}

std::string model_text(const ShortModel& model, bool why) {
    const std::string definitions = why ? definitions_text(model.graph) : "";
    const ReproProgram::File& file = model.files.at(0);
    const std::string below = pasted(file);
    return "The model (`" + file.name + "`, " + std::to_string(file.text.size()) + " bytes, " +
           (below.empty() ? "attached" : "below") + "):\n\n```\n" + model.text + "```\n" + below +
           (definitions.empty() ? "" : "\n" + definitions);
}

std::string not_in_short_model(const ShortRequest& request) {
    const Failure& failure = *request.graph.failure;
    if (std::string why = not_shown_shortly(failure); !why.empty()) return why;
    if (request.graph.dialect != "onnx") return "a short program needs a graph in the ONNX dialect";
    for (const auto& [name, nested] : request.graph.subgraphs)
        if (!nested->attributes.empty() || !nested->subgraphs.empty())
            return "a nested graph of the model has parameters or nested graphs of its own";
    std::size_t bytes = 0;
    for (const auto& [name, value] : request.graph.attributes) bytes += value.contiguous().contiguous_bytes().size();
    if (bytes > kMostParameters) return "the parameters are too large for a bug report";
    const auto empty = [](const Tensor& tensor) { return tensor.numel() == 0; };
    if (std::ranges::any_of(failure.inputs, empty) || std::ranges::any_of(request.expected, empty))
        return "a short program cannot have an input or output without elements";
    return {};
}

ShortModel short_model(const ShortRequest& request) {
    ShortModel model;
    model.graph = with_short_names(request.graph, OutputNames::y);
    const TempDir folder("whittle-repro");
    const std::filesystem::path file = folder.path() / "model.onnx";
    const OnnxNames names = save_onnx(model.graph, file);
    model.inputs = names.inputs, model.outputs = names.outputs;
    model.text = onnx_text(model.graph);
    model.files.push_back({"model.onnx", read_file(file)});
    for (std::size_t i = 0; i < request.graph.failure->inputs.size(); i++)
        model.files.push_back(tensor_file("input_", i, request.graph.failure->inputs[i]));
    for (std::size_t i = 0; i < request.expected.size(); i++)
        model.files.push_back(tensor_file("output_", i, request.expected[i]));
    return model;
}

}  // namespace whittle
