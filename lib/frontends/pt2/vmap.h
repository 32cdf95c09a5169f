// vmap in exported programs: calls of torch._functorch.predispatch add dimensions that the calls between them do not
// see and take them away again. Here those are the first dimensions of a tensor, and calls are made on all of them.
// https://github.com/pytorch/pytorch/blob/main/torch/_functorch/predispatch.py
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/graph.h"

namespace whittle::pt2 {

class Batches {
  public:
    /// Of values of `graph`, which outlives this.
    explicit Batches(Graph& graph) : graph_(graph) {}

    /// Hides a dimension, counted among those that are seen. Levels count nested vmaps from 1.
    NodeRef add(NodeRef value, std::int64_t dim, std::int64_t level);
    /// Shows it again, at `dim`; a value that does not vary along it is repeated `size` times.
    NodeRef remove(NodeRef value, std::int64_t level, std::int64_t size, std::int64_t dim);
    /// Whether an operand has hidden dimensions.
    bool any(const Node& call) const;
    /// Adds the call, which has hidden dimensions, on all dimensions, or where Whittle does not know how, for each
    /// slice along them. Throws Error for an op that the registry lacks, and for several results.
    NodeRef call(Node call);
    /// The value's meta without the hidden dimensions.
    ValueMeta seen(NodeRef value) const;

  private:
    using Levels = std::vector<std::int64_t>;  ///< of a value's first dimensions, rising

    Levels levels(NodeRef value) const;
    std::int64_t rank(NodeRef value) const;  ///< of what is seen
    Levels levels_of(const Node& call) const;
    std::int64_t rank_of(const Node& call) const;
    /// With a dimension for each level and `rank` others: those that it lacks have size 1.
    NodeRef aligned(NodeRef value, const Levels& all, std::int64_t rank);
    void align(Node& call, const Levels& all);
    void index(Node& call, const Levels& all);
    NodeRef mapped(const Node& call, const Levels& all);

    Graph& graph_;
    std::map<NodeId, Levels> levels_;
};

}  // namespace whittle::pt2
