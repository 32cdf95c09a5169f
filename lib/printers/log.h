// What the log shows of graphs as programs and as pictures.
#pragma once

#include <string>

#include "graph/graph.h"

namespace whittle::printers {

/// The artifacts graph_cpp (of another dialect than ATen's: why there is none) and picture.
void log_graph(const Graph& graph, const std::string& title);

}  // namespace whittle::printers
