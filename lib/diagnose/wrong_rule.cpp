#include "diagnose/wrong_rule.h"

#include <algorithm>

#include "base/error.h"
#include "compile/gradients.h"
#include "compile/program.h"
#include "graph/value_ref.h"
#include "ops/core/recorder.h"
#include "passes/no_grad.h"

namespace whittle::diagnose {
namespace {

/// A call alone on its values, as failing as the graph. All of its operands that can have a gradient want one; what it
/// reads twice is read twice, by its rule and not by who adds gradients up.
Graph alone(const Graph& functional, NodeId id, const std::map<ValueRef, Tensor>& values, const Failure& failure) {
    Graph made{.name = functional.name, .dialect = functional.dialect, .opset_imports = functional.opset_imports};
    std::vector<Tensor> inputs;
    const NodeRef result = made.add(map_inputs(functional.node({id}), [&](NodeRef ref) {
        const Node& operand = functional.node(ref);
        inputs.push_back(values.at(value_of(functional, ref)).with_requires_grad(is_floating(operand.meta().dtype)));
        return Arg(made.placeholder(operand.name, ValueMeta::of(inputs.back())));
    }));
    made.output(add_results(made, result));
    made = with_gradients_told(std::move(made));
    made.failure = failure;
    made.failure->inputs = std::move(inputs);
    return made;
}

}  // namespace

std::optional<Culprit> wrong_rule(Asker& asker) {
    const auto made = program::differentiate(asker.graph());
    if (!made || !made->refused.empty()) return std::nullopt;
    Graph captured = asker.graph();
    captured.failure.reset();
    program::CompiledProgram program(std::move(captured));
    const Graph& functional = program.graph(CompileStage::functional);
    Recorder reference(functional);
    reference.run(functional, asker.failure().inputs);
    std::vector<NodeId> calls = functional.calls();
    std::ranges::reverse(calls);
    for (const NodeId id : calls) {
        const Node& call = functional.node({id});
        if (is_getitem(call)) continue;
        std::vector<Tensor> outputs;
        for (int i = 0; i < static_cast<int>(call.results.size()); ++i) outputs.push_back(reference.values.at({id, i}));
        try {
            const Answer said = asker.ask(alone(functional, id, reference.values, asker.failure()), outputs);
            if (said.again == Again::fails && said.outcome.failed_at_gradients())
                return Culprit{"gradient", {}, {}, call.target};
        } catch (const Error&) {  // it cannot be judged alone
        }
    }
    return Culprit{"pass", {}, {}, std::string(name(PassId::joint))};
}

}  // namespace whittle::diagnose
