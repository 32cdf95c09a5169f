// dce(): dead code goes.
#pragma once

#include <vector>

#include "passes/origins.h"

namespace whittle {

/// For each node whether dce() keeps it.
std::vector<bool> live_nodes(const Graph& graph);

/// Drops calls, getitems and get_attr nodes that no output depends on, and the attributes and nested graphs that only
/// they named. Placeholders stay, because inputs are given by position; so do calls that mutate an operand, and
/// assertions.
Graph dce(const Graph& graph, Origins* origins = nullptr);

}  // namespace whittle
