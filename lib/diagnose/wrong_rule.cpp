#include "diagnose/wrong_rule.h"

#include <algorithm>

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/recorder.h"
#include "passes/no_grad.h"
#include "program/gradients.h"
#include "program/program.h"

namespace whittle::diagnose {
namespace {

/// A call alone, on its values.
struct Alone {
    Graph graph;
    std::vector<Tensor> inputs, outputs;
};

/// All of its operands that can have a gradient want one; what it reads twice is read twice, by its rule and not by
/// who adds gradients up.
Alone alone(const Graph& functional, NodeId id, const std::map<ValueRef, Tensor>& values) {
    Alone made;
    made.graph.name = functional.name;
    made.graph.dialect = functional.dialect;
    made.graph.opset_imports = functional.opset_imports;
    const Node& call = functional.node({id});
    const NodeRef result = made.graph.add(map_inputs(call, [&](NodeRef ref) {
        const Node& operand = functional.node(ref);
        made.inputs.push_back(
            values.at(value_of(functional, ref)).with_requires_grad(is_floating(operand.meta().dtype)));
        return Arg(made.graph.placeholder(operand.name, ValueMeta::of(made.inputs.back())));
    }));
    made.graph.output(add_results(made.graph, result));
    for (int i = 0; i < static_cast<int>(call.results.size()); ++i) made.outputs.push_back(values.at({id, i}));
    made.graph = with_gradients_told(std::move(made.graph));
    return made;
}

bool is_wrong(const Alone& call, Backend& backend, const Suspect& suspect) {
    const Judgement said =
        judge({call.graph, call.inputs, {call.outputs, std::string(kReferenceBackend)}, suspect}, backend);
    return said.fails() && said.outcome.failed_at_gradients();
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
            if (is_wrong(alone(functional, id, reference.values), backend, suspect))
                return Culprit{"gradient", {}, {}, call.target};
        } catch (const Error&) {  // it cannot be judged alone
        }
    }
    return Culprit{"pass", {}, {}, std::string(name(PassId::joint))};
}

}  // namespace whittle::diagnose
