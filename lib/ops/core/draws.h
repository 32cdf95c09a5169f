// Whether a graph draws random numbers: two runs of it need not agree.
#pragma once

#include "graph/graph.h"

namespace whittle {

/// In a call of it, of what a call without a kernel of its own consists of, or of its nested graphs.
bool draws_random_numbers(const Graph& graph);
/// The same of one of its nodes, without the nested graphs that it reads.
bool draws_random_numbers(const Graph& graph, const Node& node);

}  // namespace whittle
