// ValueRef: one result of a node, and the only functions that know how a getitem says which.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// A value of a graph: result `index` of a node.
struct ValueRef {
    NodeId node = -1;
    int index = 0;
    auto operator<=>(const ValueRef&) const = default;
};

bool is_getitem(const Node& node);
/// A call of an op: any but a getitem.
bool is_op_call(const Node& node);
/// How many of those the graph has, its nested graphs not counted.
std::int64_t op_count(const Graph& graph);

/// What a getitem reads; nothing for any other node. Throws Error for a getitem without a node and a position, which
/// verify() lets no graph have.
std::optional<ValueRef> item_read(const Node& node);
/// The value that a reference stands for, seen through a getitem.
ValueRef value_of(const Graph& graph, NodeRef ref);
/// What the placeholders and the attributes are: of the values of a run, those that are there before it.
std::map<ValueRef, Tensor> leaf_values(const Graph& graph, std::span<const Tensor> inputs);
/// The node that computes it: the one that a getitem reads, or the node itself.
const Node& producer_of(const Graph& graph, const Node& node);

/// The getitem that reads result `index` of `call`, with the meta, stack and module path of `made`, that call.
Node getitem(NodeRef call, int index, const Node& made);
/// The results of a call that is in the graph: the call itself when it has one, else a getitem for each, added here.
std::vector<NodeRef> add_results(Graph& graph, NodeRef call);

}  // namespace whittle
