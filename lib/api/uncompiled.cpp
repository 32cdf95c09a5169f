#define WHITTLE_API_IMPLEMENTATION
#include "api/uncompiled.h"

#include <algorithm>

#include "api/call.h"
#include "api/global_state.h"
#include "api/session.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"

namespace whittle::api {
namespace {

bool requires_grad(const std::vector<ImplPtr>& operands) {
    return std::ranges::any_of(operands, [](const ImplPtr& operand) { return operand->meta.requires_grad; });
}

/// A call with nested graphs, by the interpreter.
TensorList run_nested(const Graph& around, const Node& call, const std::vector<ImplPtr>& operands) {
    if (requires_grad(operands))
        throw Error(call.target +
                        ": found an operand that requires a gradient, expected no such operand: capture failed, and "
                        "without a compiled graph this operation has no gradient",
                    "detach() the operands, or call the function without compile()");
    Graph graph{.name = around.name, .subgraphs = around.subgraphs};
    std::vector<whittle::Tensor> inputs;
    for (const ImplPtr& operand : operands) {
        graph.placeholder("operand", operand->meta);
        inputs.push_back(*operand->value);
    }
    Node node = call;
    node.results = infer(graph, node);
    graph.output(add_results(graph, graph.add(std::move(node))));
    TensorList results;
    for (const whittle::Tensor& value : evaluate(graph, inputs)) results.push_back(wrap(value));
    return results;
}

bool has_nested(const Node& call) {
    return std::ranges::any_of(call.args, [](const Arg& arg) { return std::holds_alternative<GraphRef>(arg.value); });
}

}  // namespace

TensorList run_uncompiled(const Graph& graph, const std::map<NodeId, ImplPtr>& given,
                          const std::vector<NodeRef>& wanted) {
    const NotRecording not_recording;
    std::vector<TensorList> values(graph.nodes.size());
    const auto at = [&](NodeRef ref) -> TensorList& { return values.at(static_cast<std::size_t>(ref.id)); };
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (const auto known = given.find(static_cast<NodeId>(i)); known != given.end()) {
            values[i] = {Tensor(known->second)};
            continue;
        }
        if (node.kind != NodeKind::call) continue;
        if (const auto read = item_read(node)) {
            values[i] = {at({read->node}).at(static_cast<std::size_t>(read->index))};
            continue;
        }
        std::vector<ImplPtr> operands;
        Node call = map_inputs(node, [&](NodeRef ref) {
            operands.push_back(at(ref).at(0).impl());
            return Arg(NodeRef{static_cast<NodeId>(operands.size() - 1)});
        });
        call.results.clear();
        const auto tracked = [](const ValueMeta& meta) { return meta.requires_grad; };
        const InPlaceForm* const in_place = Registry::instance().in_place(call.target);
        const GradMode mode(in_place || !requires_grad(operands) || std::ranges::any_of(node.results, tracked));
        if (in_place) {
            values[i] = {Tensor(operands.at(0))};
            issue_write(std::move(call), in_place->functional, operands, nullptr);
        } else {
            values[i] =
                has_nested(call) ? run_nested(graph, call, operands) : issue(std::move(call), operands, nullptr);
        }
    }
    TensorList results;
    for (const NodeRef ref : wanted) results.push_back(at(ref).at(0));
    return results;
}

void take_value(TensorImpl& pending, const Tensor& computed) {
    const TensorImpl& from = *computed.impl();
    pending.value = from.value;
    pending.meta = from.meta;
    pending.autograd = from.autograd;
    pending.session.reset();
    pending.place = {};
}

}  // namespace whittle::api
