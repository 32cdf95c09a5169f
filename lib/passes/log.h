// One line in the log for every pass.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace whittle {

/// Says what the pass made of the graph, and gives that back.
Graph logged(std::string_view pass, const Graph& before, Graph after);

}  // namespace whittle
