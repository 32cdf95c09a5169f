#include "judge.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "compile/program.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/outcome.h"
#include "ops/core/draws.h"
#include "ops/core/registry.h"
#include "ops/onnx/sequence.h"
#include "tensor/compare.h"

namespace whittle::conformance {
namespace {

constexpr std::string_view kNames[] = {"pass", "helped", "random", "unsupported", "wrong", "failed"};

/// Without Halide's checks of buffers, which cost most of its time; a load outside of them would be seen as a wrong
/// result or a crash. Without the pass in which the reference computes constants.
const BackendOptions kHalideOptions = {{"asserts", "off"}, {"disable", "fold"}};

Tolerance tolerance_of(DType dtype) { return is_floating(dtype) ? Tolerance{1e-3, 1e-7} : Tolerance{0, 0}; }

/// How the outputs differ from the data set's; "" when they do not.
std::string differing(const Values& got, const std::vector<NamedTensor>& expected, bool values) {
    if (got.size() != expected.size())
        return std::to_string(got.size()) + " outputs, expected " + std::to_string(expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto difference = compare(got[i], expected[i].tensor, tolerance_of(expected[i].tensor.dtype()));
        if (!difference) continue;
        if (!values && difference->kind != Difference::Kind::dtype && difference->kind != Difference::Kind::sizes)
            continue;
        return "output " + std::to_string(i) + ": " + difference->description;
    }
    return {};
}

std::size_t all_calls(const Graph& graph) {
    std::size_t calls = 0;
    for (const NodeId id : graph.calls()) calls += !is_getitem(graph.nodes[static_cast<std::size_t>(id)]);
    for (const auto& [name, nested] : graph.subgraphs) calls += all_calls(*nested);
    return calls;
}

/// What can be planned: ops that choose and repeat run on the host, between plans of their own.
bool lowers(const Graph& core) {
    return std::ranges::all_of(core.calls(), [&](NodeId id) {
        const Node& call = core.nodes[static_cast<std::size_t>(id)];
        const RegisteredOp* op = Registry::instance().op(call.target);
        return is_getitem(call) || (op && op->def->lower);
    });
}

/// How many kernels a compilation makes of the graph; nothing where it refuses it, or does not plan it as a whole.
std::optional<std::size_t> kernels_of(const Graph& graph) {
    try {
        program::CompiledProgram program(graph, kHalideOptions);
        if (!lowers(program.graph(program::Stage::core))) return std::nullopt;
        return program.plan([](expr::Group&) { return expr::Schedule{}; }).kernels.size();
    } catch (const Error&) {
        return std::nullopt;
    }
}

struct Read {
    LoadedModel model;
    std::vector<Tensor> inputs;  ///< of those that did not become constants
    bool folded = false;         ///< calls of constants alone were computed by the reference while it was read
};

Read read(const Model& model, const TestDataSet& data, bool fold) {
    LoadOptions options{.lengths = data.lengths, .fold = fold};
    for (const NamedTensor& input : data.inputs) options.values.push_back({{}, input.tensor});
    Read result{load_onnx_with_breaks(model.file, options), {}, fold};
    const std::vector<std::string>& constants = result.model.constants;
    for (std::size_t i = 0; i < result.model.inputs.size() && i < data.inputs.size(); ++i)
        if (std::ranges::find(constants, result.model.inputs[i]) == constants.end())
            result.inputs.push_back(data.inputs[i].tensor);
    return result;
}

/// As its file has it, where the compiler can plan that.
Read read_for_compiler(const Model& model, const TestDataSet& data, Judged& judged) {
    try {
        Read result = read(model, data, false);
        if (const auto kernels = kernels_of(result.model.graph)) {
            judged.kernels = *kernels;
            return result;
        }
    } catch (const Error&) {  // sizes that are known only where constants are computed
    }
    Read result = read(model, data, true);
    judged.kernels = kernels_of(result.model.graph).value_or(0);
    return result;
}

/// What the op gives is told by sizes, or by what is listed, picked and chosen, without computing anything.
bool is_told(const std::string& op) {
    return op == "onnx.Shape" || op == "onnx.Size" || op == "onnx.If" || op == "onnx.Loop" || onnx_sequence_op(op);
}

/// Counts what became of the model's calls; names those that the reference computes.
std::string count_calls(const Read& read, Judged& judged) {
    const LoadedModel& loaded = read.model;
    std::string helped;
    for (const auto& [op, count] : loaded.folded) {
        const bool told = !read.folded || is_told(op);
        (told ? judged.told : judged.helped) += count;
        if (!told) helped += " " + op;
    }
    judged.calls = judged.told + judged.helped + all_calls(loaded.graph);
    for (const NodeId id : loaded.graph.calls()) {
        const Node& node = loaded.graph.node({id});
        const bool runs_graphs = std::ranges::any_of(
            node.kwargs, [](const auto& kwarg) { return std::holds_alternative<GraphRef>(kwarg.second.value); });
        if (!runs_graphs) continue;  // these are compiled, but not who chooses and repeats them
        ++judged.helped;
        helped += " " + node.target;
    }
    return helped;
}

/// "" when the model that the graph is written as is read as the same graph.
std::string rewritten(const Graph& graph) {
    const std::string bytes = to_onnx(graph);
    const LoadedModel again = load_onnx_bytes(std::as_bytes(std::span(bytes)), "again.onnx", {}, {});
    if (same_structure(graph, again.graph)) return "";
    std::istringstream before(print(graph)), after(print(again.graph));
    std::string was, is;
    while (std::getline(before, was) && std::getline(after, is) && was == is) continue;
    return "written as ONNX and read again it is another graph: " + was + " became " + is;
}

/// As load_test_data_set(). numpy has no bfloat16: the data have its bits as UINT16.
TestDataSet data_set(const Model& model, const std::filesystem::path& folder) {
    if (!model.features.contains("type:BFLOAT16")) return load_test_data_set(folder, declared_values(model.file));
    const TempDir scratch("whittle-conformance");
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder)) {
        onnx::TensorProto proto;
        if (!proto.ParseFromString(read_file(entry.path()))) throw Error({entry.path(), {}}, "found no tensor");
        const std::string stem = entry.path().stem();
        const auto position = static_cast<std::size_t>(std::stoi(stem.substr(stem.find('_') + 1)));
        const std::vector<int>& declared = stem.starts_with("input") ? model.inputs : model.outputs;
        if (proto.data_type() == onnx::TensorProto::UINT16 && declared.at(position) == onnx::TensorProto::BFLOAT16)
            proto.set_data_type(onnx::TensorProto::BFLOAT16);
        write_file(scratch.path() / entry.path().filename(), proto.SerializeAsString());
    }
    return load_test_data_set(scratch.path());
}

Judged judge(const Model& model, const std::filesystem::path& folder, Backend& backend) {
    Judged judged;
    TestDataSet data;
    Read read_model;
    const bool reference = offered<Reference>(backend);
    try {
        data = data_set(model, folder);
        read_model = reference ? read(model, data, true) : read_for_compiler(model, data, judged);
    } catch (const Error& error) {
        return {.verdict = Verdict::unsupported, .message = error.message()};
    }
    const Graph& graph = read_model.model.graph;
    const std::string helped = reference ? "" : count_calls(read_model, judged);
    const Outcome outcome = reference ? run_in_process(graph, read_model.inputs, backend, {})
                                      : run_isolated(graph, read_model.inputs, backend, kHalideOptions, Limits{});
    if (outcome.kind == Outcome::Kind::unsupported) {
        judged.verdict = Verdict::unsupported;
        judged.message = outcome.message;
    } else if (outcome.failed()) {
        judged.verdict = Verdict::failed;
        judged.message = std::string(name(outcome.kind)) + " at " + outcome.stage + ": " + outcome.message;
    } else {
        const bool random = draws_random_numbers(graph);
        if (reference && !(judged.message = rewritten(graph)).empty()) {
            judged.verdict = Verdict::failed;
            return judged;
        }
        judged.message = differing(outcome.outputs, data.outputs, !random);
        judged.verdict = !judged.message.empty() ? Verdict::wrong : random ? Verdict::random : Verdict::pass;
        if (judged.verdict == Verdict::pass && !reference && judged.helped > 0) {
            judged.verdict = Verdict::helped;
            judged.message = "the reference computed" + helped;
        }
    }
    return judged;
}

}  // namespace

std::string_view name(Verdict verdict) { return kNames[static_cast<std::size_t>(verdict)]; }

Judged judge(const Model& model, Backend& backend) {
    Judged judged{.verdict = Verdict::failed, .message = "found no data set, expected one at least"};
    for (const std::filesystem::path& folder : model.data_sets) {
        judged = judge(model, folder, backend);
        if (judged.verdict != Verdict::pass) break;
    }
    return judged;
}

}  // namespace whittle::conformance
