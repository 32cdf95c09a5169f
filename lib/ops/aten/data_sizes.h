// Which results of a call have sizes that are data of its operands.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// The results whose first dimension is as long as the values of the operands say: of nonzero, masked_select,
/// unique, bincount, repeat_interleave, _pack_padded_sequence and nms. None for other calls.
std::vector<std::size_t> data_sized_results(const Node& call);
/// Whether a call of the graph has some.
bool has_data_sizes(const Graph& graph);

}  // namespace whittle
