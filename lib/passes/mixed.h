// mixed(): the same computation in f16 or bf16, but for some calls, which stay in f32.
#pragma once

#include <set>
#include <vector>

#include "graph/graph.h"

namespace whittle {

struct MixedPrecision {
    Graph graph;
    std::vector<NodeId> halved;  ///< calls of the original that compute in the half type, ascending
};

/// Calls on f32, f16 or bf16 compute in `half`, with weights in `half`, but those in `kept` and those that have no form
/// in `half`: these compute in f32. Values are converted where the two meet; placeholders and outputs keep their
/// dtypes. Throws Error for a graph that writes to memory.
MixedPrecision mixed(const Graph& graph, DType half, const std::set<NodeId>& kept);

}  // namespace whittle
