#include "judge.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/abilities.h"
#include "ops/core/draws.h"
#include "ops/core/registry.h"
#include "program/program.h"
#include "run/outcome.h"
#include "tensor/compare.h"

namespace whittle::conformance {
namespace {

constexpr std::string_view kNames[] = {"pass", "random", "unsupported", "wrong", "failed"};

/// Without Halide's checks of buffers, which cost most of its time; a load outside of them would be seen as a wrong
/// result or a crash.
const BackendOptions kHalideOptions = {{"asserts", "off"}};

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

/// What a compilation makes of the model. It may refuse, which the run tells.
void count_planned(const LoadedModel& loaded, Judged& judged) {
    for (const auto& [op, count] : loaded.folded) judged.folded += count;
    judged.calls = judged.folded + all_calls(loaded.graph);
    try {
        program::CompiledProgram program(loaded.graph);
        if (lowers(program.graph(program::Stage::core)))
            judged.kernels = program.plan([](expr::Group&) { return expr::Schedule{}; }).kernels.size();
        judged.folded += static_cast<std::size_t>(program.limits().applications("fold"));
    } catch (const Error&) {
    }
}

/// "" when the model that the graph is written as is read as the same graph.
std::string rewritten(const Graph& graph) {
    const std::string bytes = to_onnx(graph);
    const LoadedModel again = load_onnx_bytes(std::as_bytes(std::span(bytes)), "again.onnx", {}, {});
    return same_structure(graph, again.graph) ? "" : "written as ONNX and read again it is another graph";
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

Judged judge(const Model& model, const std::filesystem::path& folder, Backend& backend, bool planned) {
    Judged judged;
    LoadedModel loaded;
    TestDataSet data;
    std::vector<Tensor> inputs;
    try {
        data = data_set(model, folder);
        LoadOptions options;
        options.lengths = data.lengths;
        for (const NamedTensor& input : data.inputs) options.values.push_back({{}, input.tensor});
        loaded = load_onnx_with_breaks(model.file, options);
        for (std::size_t i = 0; i < loaded.inputs.size() && i < data.inputs.size(); ++i)
            if (std::ranges::find(loaded.constants, loaded.inputs[i]) == loaded.constants.end())
                inputs.push_back(data.inputs[i].tensor);
    } catch (const Error& error) {
        return {.verdict = Verdict::unsupported, .message = error.message()};
    }
    if (planned) count_planned(loaded, judged);
    const bool reference = offered<Reference>(backend);
    Outcome outcome = reference ? run_in_process(loaded.graph, inputs, backend, {})
                                : run_isolated(loaded.graph, inputs, backend, kHalideOptions, Limits{});
    if (outcome.kind == Outcome::Kind::unsupported) {
        judged.verdict = Verdict::unsupported;
        judged.message = outcome.message;
    } else if (outcome.failed()) {
        judged.verdict = Verdict::failed;
        judged.message = std::string(name(outcome.kind)) + " at " + outcome.stage + ": " + outcome.message;
    } else {
        const bool random = draws_random_numbers(loaded.graph);
        if (reference && !(judged.message = rewritten(loaded.graph)).empty()) {
            judged.verdict = Verdict::failed;
            return judged;
        }
        judged.message = differing(outcome.outputs, data.outputs, !random);
        judged.verdict = !judged.message.empty() ? Verdict::wrong : random ? Verdict::random : Verdict::pass;
    }
    return judged;
}

}  // namespace

std::string_view name(Verdict verdict) { return kNames[static_cast<std::size_t>(verdict)]; }

Judged judge(const Model& model, Backend& backend, bool planned) {
    Judged judged{.verdict = Verdict::failed, .message = "found no data set, expected one at least"};
    for (const std::filesystem::path& folder : model.data_sets) {
        judged = judge(model, folder, backend, planned);
        if (judged.verdict != Verdict::pass) break;
    }
    return judged;
}

}  // namespace whittle::conformance
