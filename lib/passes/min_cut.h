// FlowNetwork: the cheapest set of edges whose removal separates a source from a sink.
#pragma once

#include <cstdint>
#include <vector>

namespace whittle {

class FlowNetwork {
  public:
    /// More than all that can be paid: such an edge is in no cut that has another choice.
    static constexpr std::int64_t kNever = std::int64_t{1} << 60;

    explicit FlowNetwork(int nodes) : nodes_(nodes) {}
    /// At most one edge for each pair of nodes.
    void add_edge(int from, int to, std::int64_t capacity) { edges_.push_back({from, to, capacity}); }

    /// Of each node, whether it is on the sink's side. Of all cheapest cuts, the one nearest to the sink.
    std::vector<bool> sink_side(int source, int sink) const;

  private:
    struct Edge {
        int from, to;
        std::int64_t capacity;
    };
    int nodes_;
    std::vector<Edge> edges_;
};

}  // namespace whittle
