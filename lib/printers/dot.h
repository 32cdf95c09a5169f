// Graphs as pictures for Graphviz's dot.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::printers {

struct DotCluster {
    std::string title = {};
    std::vector<NodeId> red = {};  ///< calls that stand out, ascending
    std::size_t number = 0;        ///< of the cluster in its file
};

/// The graph as a cluster; constants are shown inside their readers.
std::string dot_cluster(const Graph& graph, const DotCluster& options);
/// The clusters as a file.
std::string dot_file(const std::vector<std::string>& clusters);

}  // namespace whittle::printers
