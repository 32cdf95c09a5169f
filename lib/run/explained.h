// Is a difference decided by rounding alone? The judge asks before a failure counts, and at each accepted candidate.
#pragma once

#include <span>
#include <string>

#include "graph/graph.h"
#include "tensor/compare.h"

namespace whittle {

struct RoundingDecision {
    bool explained = false;  ///< rounding, or a jump that rounding decides, explains every difference: both are right
    std::string why = {};   ///< "within rounding at output 0 [0, 1]: …" or why it is not; empty where nothing differs
    bool too_wide = false;  ///< an interval was wider than kWidestInterval tolerances: the tolerance decided
};

/// Whether `got` and `expected`, the outputs of two implementations of the graph, lie inside the intervals
/// (run/interval.h) at every element that differs beyond the accuracy. Not explained: outputs of other dtypes, sizes or
/// number; mode strict, which wants bits; what depends on an op without a bound (see ops_without_bound()); graphs that
/// intervals_of() refuses. False without `why` where nothing differs.
RoundingDecision explained_by_rounding(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                                       std::span<const Tensor> expected, const Accuracy& accuracy);

}  // namespace whittle
