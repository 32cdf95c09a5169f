#include "debug/wrong_rule.h"

#include <algorithm>

#include "base/error.h"
#include "ops/core/recorder.h"
#include "passes/no_grad.h"
#include "passes/subgraph.h"
#include "program/gradients.h"
#include "program/program.h"

namespace whittle::debug {
namespace {

/// The call alone, of which all that can have a gradient wants one.
Subgraph alone(const Graph& functional, NodeId call) {
    Subgraph part = subgraph(functional, std::vector<NodeId>{call});
    for (Node& node : part.graph.nodes)
        if (node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr)
            node.results[0].requires_grad = is_floating(node.results[0].dtype);
    part.graph = with_gradients_told(std::move(part.graph));
    return part;
}

bool is_wrong(const Subgraph& part, const std::map<ValueRef, Tensor>& values, Backend& backend,
              const Suspect& suspect) {
    const auto tensors = [&](const std::vector<ValueRef>& keys) {
        std::vector<Tensor> result;
        for (const ValueRef& key : keys) result.push_back(values.at(key));
        return result;
    };
    const Outcome outcome =
        query(part.graph, tensors(part.inputs), tensors(part.outputs), backend, suspect);
    return outcome.is_failure() && !outcome.part.empty();
}

}  // namespace

std::optional<Culprit> wrong_rule(const Graph& failing, Backend& backend, const Limits& limits) {
    const auto made = program::differentiate(failing);
    if (!made || !made->refused.empty()) return std::nullopt;
    Graph captured = failing;
    captured.failure.reset();
    program::CompiledProgram program(std::move(captured));
    const Graph& functional = program.graph(CompileStage::functional);
    Recorder reference(functional);
    reference.run(functional, failing.failure->inputs);
    const Suspect suspect = suspect_of(*failing.failure, limits);
    std::vector<NodeId> calls = functional.calls();
    std::ranges::reverse(calls);
    for (const NodeId id : calls) {
        const Node& call = functional.node({id});
        if (is_getitem(call)) continue;
        try {
            if (is_wrong(alone(functional, id), reference.values, backend, suspect))
                return Culprit{"gradient", {}, {}, call.target};
        } catch (const Error&) {  // it cannot be judged alone
        }
    }
    return Culprit{"pass", {}, {}, std::string(program::pass_of(CompileStage::joint))};
}

}  // namespace whittle::debug
