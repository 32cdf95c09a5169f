// Ops that write operands though their schemas do not say so: batch norm and instance norm in
// training, their running statistics.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Whether the call, of a graph that was captured, writes so.
bool hides_writes(const Node& call);

/// The graph with such calls as calls that say what they write: by the batch's or the sample's statistics, which then
/// move the running ones. `stands_for`: of each node of the result, the one of `graph` that it is or is made of. Throws
/// Error naming a node whose operands do not fit.
Graph with_visible_writes(const Graph& graph, std::vector<NodeId>* stands_for = nullptr);

}  // namespace whittle
