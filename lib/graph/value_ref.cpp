#include "graph/value_ref.h"

#include <algorithm>

#include "base/error.h"

namespace whittle {

bool is_getitem(const Node& node) { return node.kind == NodeKind::call && node.target == kGetItem; }
bool is_op_call(const Node& node) { return node.kind == NodeKind::call && node.target != kGetItem; }

std::int64_t op_count(const Graph& graph) { return std::ranges::count_if(graph.nodes, is_op_call); }

std::optional<ValueRef> item_read(const Node& node) {
    if (!is_getitem(node)) return std::nullopt;
    const NodeRef* call = node.args.size() == 2 ? node.args[0].node() : nullptr;
    const auto* index = call ? std::get_if<std::int64_t>(&node.args[1].value) : nullptr;
    if (!index)
        throw Error("getitem: found arguments that are not a node and an index, expected getitem(%call, index)");
    return ValueRef{call->id, static_cast<int>(*index)};
}

ValueRef value_of(const Graph& graph, NodeRef ref) { return item_read(graph.node(ref)).value_or(ValueRef{ref.id, 0}); }

std::map<ValueRef, Tensor> leaf_values(const Graph& graph, std::span<const Tensor> inputs) {
    std::map<ValueRef, Tensor> values;
    std::size_t next = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
        const Node& node = graph.node({id});
        if (node.kind == NodeKind::placeholder) values[{id, 0}] = inputs[next++];
        if (node.kind == NodeKind::get_attr) values[{id, 0}] = graph.attributes.at(node.target);
    }
    return values;
}

const Node& producer_of(const Graph& graph, const Node& node) {
    const std::optional<ValueRef> read = item_read(node);
    return read ? graph.node({read->node}) : node;
}

Node getitem(NodeRef call, int index, const Node& made) {
    return {.kind = NodeKind::call,
            .target = std::string(kGetItem),
            .args = {Arg(call), Arg(index)},
            .results = {made.results.at(static_cast<std::size_t>(index))},
            .stack = made.stack,
            .module_path = made.module_path};
}

std::vector<NodeRef> add_results(Graph& graph, NodeRef call) {
    const Node made = graph.node(call);
    if (made.results.size() == 1) return {call};
    std::vector<NodeRef> items;
    for (int i = 0; i < static_cast<int>(made.results.size()); ++i) items.push_back(graph.add(getitem(call, i, made)));
    return items;
}

}  // namespace whittle
