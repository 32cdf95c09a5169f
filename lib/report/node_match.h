// Which nodes of two graphs are the same: in three rounds, each on what the ones before left. By all that a node is
// computed from; by all that is computed from it; by its neighbours that were found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace whittle::report {

class NodeMatch {
  public:
    NodeMatch(const Graph& before, const Graph& after);

    /// Its counterpart in the other graph, or -1.
    NodeId after(NodeId before) const { return after_[static_cast<std::size_t>(before)]; }
    NodeId before(NodeId after) const { return before_[static_cast<std::size_t>(after)]; }

  private:
    using Hashes = std::vector<std::uint64_t>;
    void pair(NodeId x, NodeId y);
    void pair_equal(const Hashes& before, const Hashes& after, bool all_or_none);
    void pair_neighbours(bool same_op);
    void pair_with_best(NodeId y, bool same_op);
    int likeness(NodeId x, NodeId y) const;

    const Graph &from_, &to_;
    std::vector<NodeId> after_, before_;
    std::vector<std::vector<NodeId>> users_from_, users_to_;
    std::unordered_map<std::string, std::vector<NodeId>> left_;  ///< nodes of from_ without counterpart, by their op
};

/// Per node: equal where everything that it is computed from is; names, sizes and elements do not count.
std::vector<std::uint64_t> computed_from(const Graph& graph);

}  // namespace whittle::report
