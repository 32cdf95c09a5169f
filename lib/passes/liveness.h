// Which values of a graph are held when it runs node by node, each from its node to its last reader. A view holds what
// it is a view of, and has no memory of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Bytes of one node's results; 0 where they are views, or attributes.
std::int64_t own_bytes(const Graph& graph, NodeId node);

/// For each node the nodes whose memory is held while it runs, ascending: its own, and what it or a later one reads.
/// Outputs and inputs are held to the end, attributes are left out.
class Liveness {
  public:
    explicit Liveness(const Graph& graph);
    /// Bytes that are held while the node runs.
    std::int64_t bytes(NodeId node) const { return bytes_[static_cast<std::size_t>(node)]; }
    /// Nodes with memory of their own that are held then.
    std::vector<NodeId> held(NodeId node) const;

  private:
    std::vector<NodeId> last_;  ///< per node: the last one during which its memory is held; -1: it has none
    std::vector<std::int64_t> own_, bytes_;
};

}  // namespace whittle
