// subgraph(): the candidate that some of a graph's calls make. Every subset of the calls of a functional graph is
// legal. And a graph that returns everything it computes, to find the first value that is wrong.
#pragma once

#include <span>
#include <vector>

#include "graph/value_ref.h"

namespace whittle {

struct Subgraph {
    Graph graph;
    std::vector<ValueRef> inputs;   ///< the original value of each placeholder, in order
    std::vector<ValueRef> outputs;  ///< the original value of each output, in order
};

/// Keeps the calls `kept` (ids in `graph`, without getitems, ascending). A value that is read but not kept becomes a
/// placeholder named as its node; attributes that are read stay attributes; what no kept call reads, and what the
/// original returned, becomes an output; getitems come and go with their producer. Stacks, module paths, nested graphs,
/// dialect and opsets are kept; `failure` is not.
Subgraph subgraph(const Graph& graph, std::span<const NodeId> kept);

/// The same where the graph is run piece by piece: every value that anything but these calls reads is an output, also
/// where one of them reads it too.
Subgraph piece(const Graph& graph, std::span<const NodeId> calls);

struct ExposedGraph {
    Graph graph;
    std::vector<ValueRef> outputs;  ///< of each output: the node of the original graph, and which of its results
};

/// The same nodes; the outputs are all results of all calls (getitems aside), in order. Exposing a value keeps a
/// compiler from fusing over it: what is compared this way may differ from what the plain graph computes.
ExposedGraph expose_all_values(const Graph& graph);

}  // namespace whittle
