// Origins: which nodes of a pass's argument each node of its result stands for. A pass fills them in where it is given
// somewhere to.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace whittle {

/// One entry per node of the new graph: ids in the old one, ascending. Empty for a node that stands for none.
using Origins = std::vector<std::vector<NodeId>>;

/// Every node stands for itself.
Origins own_origins(const Graph& graph);
/// Of the last graph's nodes in the first graph, by way of the one between.
Origins through(const Origins& last, const Origins& between);

}  // namespace whittle
