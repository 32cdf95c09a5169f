// Where capture stops, one graph becomes several: the calls before, between and after the breaks, each a graph of its
// own whose inputs are the values it needs and whose outputs are the values that others need.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::report {

/// The pieces of `graph` around the calls `breaks` (ascending), in order, named graph.name + "_0" … (graph.name when
/// there is one piece). A call stands before a break unless it needs a break's results: so the pieces are as large, and
/// as few, as can be. A piece without calls is left out.
std::vector<Graph> split_at(const Graph& graph, std::span<const NodeId> breaks);

}  // namespace whittle::report
