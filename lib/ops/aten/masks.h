// Boolean indexing, x[mask]: ATen's index takes masks where the registry's takes positions alone.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace whittle {

/// The masks in the call's list of index tensors; none of an op that takes no such list.
std::vector<NodeRef> index_masks(const Graph& graph, const Node& call);
/// The argument that is that list. Throws Error where the call has none.
Arg& index_list(Node& call);

}  // namespace whittle
