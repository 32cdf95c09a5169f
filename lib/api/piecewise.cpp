#include "api/piecewise.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "compile/compile.h"
#include "graph/abilities.h"
#include "ops/core/custom.h"
#include "ops/core/interpreter.h"
#include "passes/subgraph.h"

namespace whittle::api {
namespace {

struct CompiledPart {
    Subgraph subgraph;
    std::unique_ptr<Executable> executable;  ///< null: on the reference
};

class PiecewiseExecutable final : public Executable {
  public:
    PiecewiseExecutable(Graph graph, std::vector<CompiledPart> parts)
        : graph_(std::move(graph)), parts_(std::move(parts)) {}

    RunResult run(std::span<const whittle::Tensor> inputs) override {
        std::map<ValueRef, whittle::Tensor> values;
        const std::vector<NodeId> placeholders = graph_.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); ++i) values.insert_or_assign({placeholders[i], 0}, inputs[i]);
        for (const CompiledPart& part : parts_) {
            std::vector<whittle::Tensor> operands;
            for (const ValueRef& input : part.subgraph.inputs) operands.push_back(values.at(input));
            RunResult result =
                part.executable ? part.executable->run(operands) : RunResult(evaluate(part.subgraph.graph, operands));
            if (std::holds_alternative<BackendFailure>(result)) return result;
            const Values& outputs = std::get<Values>(result);
            for (std::size_t i = 0; i < outputs.size(); ++i)
                values.insert_or_assign(part.subgraph.outputs[i], outputs[i]);
        }
        Values outputs;
        for (const NodeId id : graph_.outputs()) outputs.push_back(values.at(value_of(graph_, {id})));
        return outputs;
    }

  private:
    Graph graph_;
    std::vector<CompiledPart> parts_;
};

/// The first call that is left to the reference: of an op that the program declared, and the backend lacks. A backend
/// that cannot say what it lacks is somebody else's, and cannot have it.
std::optional<NodeId> first_left(const Backend& backend, const Graph& graph) {
    std::optional<std::vector<std::string>> lacking;
    for (const NodeId id : graph.calls()) {
        const std::string& target = graph.node({id}).target;
        if (!left_to_reference(target)) continue;
        if (!offered<Support>(backend)) return id;
        if (!lacking) lacking = unsupported_by(backend, graph);
        if (std::ranges::count(*lacking, target) != 0) return id;
    }
    return std::nullopt;
}

/// The call runs on the reference.
CompileResult compile_around(Backend& backend, const BackendOptions& options, const Graph& graph,
                             std::optional<CompileStage> part, const OnBreakRequest& on_break, NodeId at) {
    std::vector<NodeId> before, behind;
    for (const NodeId id : graph.calls())
        if (!is_getitem(graph.node({id})) && id != at) (id < at ? before : behind).push_back(id);
    std::vector<CompiledPart> parts;
    for (const std::vector<NodeId>& calls : {before, std::vector<NodeId>{at}, behind}) {
        if (calls.empty()) continue;
        CompiledPart made{piece(graph, calls), nullptr};
        made.subgraph.graph.name = graph.name + "_" + std::to_string(parts.size());
        if (calls.size() != 1 || calls.front() != at) {
            CompileResult compiled = compile_with_breaks(backend, options, made.subgraph.graph, part, on_break);
            auto* executable = std::get_if<std::unique_ptr<Executable>>(&compiled);
            if (!executable) return compiled;
            made.executable = std::move(*executable);
        }
        parts.push_back(std::move(made));
    }
    return std::make_unique<PiecewiseExecutable>(graph, std::move(parts));
}

}  // namespace

CompileResult compile_with_breaks(Backend& backend, const BackendOptions& options, const Graph& graph,
                                  std::optional<CompileStage> part, const OnBreakRequest& on_break) {
    const std::optional<NodeId> left = first_left(backend, graph);
    if (left) {
        const std::string& target = graph.node({*left}).target;
        log_info(LogChannel::backend,
                 target + " runs on the reference: backend " + backend.name() + " does not implement this op");
        return compile_around(backend, options, graph, part, on_break, *left);
    }
    CompileResult result =
        part ? program::compile_part(backend, *part, graph, options) : program::compile(backend, graph, options);
    const auto* request = std::get_if<BreakRequest>(&result);
    if (!request) return result;
    const NodeId at = request->node;
    if (at < 0 || static_cast<std::size_t>(at) >= graph.nodes.size() || !is_op_call(graph.node({at})))
        throw Error("backend " + backend.name() + " requested a graph break (" + request->reason + ") at node " +
                    std::to_string(at) + " of graph " + graph.name +
                    ", which is not a call; expected a break at a call");
    on_break(graph, graph.node({at}), request->reason);
    return compile_around(backend, options, graph, part, on_break, at);
}

}  // namespace whittle::api
