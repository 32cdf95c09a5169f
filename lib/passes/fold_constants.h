// fold_constants(): what can be computed before any input is known, is.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace whittle {

/// Replaces every call whose operands are all constants by its value, computed by the reference kernels, as an
/// attribute named like the call; then dce. Random ops, calls with nested graphs, results of more than `max_elements`
/// elements and calls that cannot be evaluated stay as they are.
Graph fold_constants(const Graph& graph, std::int64_t max_elements = 1 << 16);

}  // namespace whittle
