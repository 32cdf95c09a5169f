// Operands whose elements are places in a dimension: eager refuses a place outside, a compiled kernel cannot. Who
// compiles a call asks here what must hold of its operands before it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace whittle {

struct Positions {
    NodeRef operand;         ///< a tensor of i64 or i32
    std::int64_t size = 0;   ///< elements are less than this
    bool negatives = false;  ///< and at least -size; else at least 0
};

/// Of the operands of a call whose lowering reads or writes at data_index(); none for other calls.
std::vector<Positions> positions_of(const Graph& graph, const Node& call);

}  // namespace whittle
