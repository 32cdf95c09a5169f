// cse(): what is computed twice is computed once.
#pragma once

#include "graph/graph.h"

namespace whittle {

/// Merges calls of equal target, operands, arguments and results into the first of them, and get_attr nodes of one
/// attribute. Random ops, ops that mutate and calls with nested graphs are left alone; so are calls of unregistered
/// ops, of which nothing is known. Values that a mutating op may have changed are not told apart: run it on functional
/// graphs.
Graph cse(const Graph& graph);

}  // namespace whittle
