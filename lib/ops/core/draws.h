// Whether a graph draws random numbers: two runs of it need not agree.
#pragma once

#include "graph/graph.h"

namespace whittle {

/// In a call of it or of its nested graphs.
bool draws_random_numbers(const Graph& graph);

}  // namespace whittle
