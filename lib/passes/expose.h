// expose_all_values(): a graph that returns everything it computes, to find the first value that is wrong.
#pragma once

#include <vector>

#include "passes/subgraph.h"

namespace whittle {

struct ExposedGraph {
    Graph graph;
    std::vector<ValueRef> outputs;  ///< of each output: the node of the original graph, and which of its results
};

/// The same nodes; the outputs are all results of all calls (getitems aside), in order. Exposing a value keeps a
/// compiler from fusing over it: what is compared this way may differ from what the plain graph computes.
ExposedGraph expose_all_values(const Graph& graph);

}  // namespace whittle
