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

bool wants_gradient(const Node& operand) { return is_floating(operand.meta().dtype); }

/// All of its operands that can have a gradient want one; what it reads twice is read twice, by its rule and not by
/// who adds gradients up.
Alone alone(const Graph& functional, NodeId id, const std::map<ValueRef, Tensor>& values) {
    Alone made;
    made.graph.name = functional.name;
    made.graph.dialect = functional.dialect;
    made.graph.opset_imports = functional.opset_imports;
    const Node& call = functional.node({id});
    std::vector<NodeRef> read;
    for_each_input(call, [&](NodeRef ref) { read.push_back(ref); });
    std::vector<Arg> operands(read.size());
    for (const bool attributes : {false, true})  // behind the placeholders
        for (std::size_t i = 0; i < read.size(); ++i) {
            const Node& operand = functional.node(read[i]);
            if ((operand.kind == NodeKind::get_attr) != attributes) continue;
            const Tensor value = values.at(value_of(functional, read[i])).with_requires_grad(wants_gradient(operand));
            operands[i] = attributes ? made.graph.get_attr(operand.target,
                                                           value.clone().with_requires_grad(value.requires_grad()))
                                     : made.graph.placeholder(operand.name, ValueMeta::of(value));
            if (!attributes) made.inputs.push_back(value);
        }
    std::size_t next = 0;
    const Node copy = map_inputs(call, [&](NodeRef) { return operands[next++]; });
    const NodeRef result = made.graph.add(copy);
    std::vector<NodeRef> outputs;
    for (int i = 0; i < static_cast<int>(call.results.size()); ++i) {
        outputs.push_back(call.results.size() == 1 ? result : made.graph.add(getitem(result, i, copy)));
        made.outputs.push_back(values.at({id, i}));
    }
    made.graph.output(outputs);
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
    return Culprit{"pass", {}, {}, std::string(program::pass_of(CompileStage::joint))};
}

}  // namespace whittle::diagnose
