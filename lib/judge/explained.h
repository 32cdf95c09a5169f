// Is a difference decided by rounding alone? The judge asks before a failure counts, and at each accepted candidate.
// 1. Where an element has an interval (judge/interval.h) that is no wider than kWidestInterval tolerances, the interval
//    decides: a difference inside it is rounding, one outside is a failure.
// 2. Wider intervals, complex numbers and graphs that intervals_of() refuses leave the question open. There results
//    differ by rounding if they are about as near to the same computation in f64 as those that are expected, and those
//    as near as the reference's (rounds_where_it_differs() in tensor/compare.h). Expected values may happen to be
//    exact, as the mean of equal numbers that the reference adds in f64: inside a wide interval results also differ by
//    rounding if they are no further from f64 than rounding moves it (judge/rounding.h). An op without a bound excuses
//    nothing.
// 3. Otherwise the tolerance decides.
#pragma once

#include <span>
#include <string>

#include "graph/graph.h"
#include "judge/outcome.h"
#include "tensor/compare.h"

namespace whittle {

struct RoundingDecision {
    bool explained = false;  ///< rounding, or a jump that rounding decides, explains every difference: both are right
    std::string why = {};   ///< "within rounding at output 0 [0, 1]: …" or why it is not; empty where nothing differs
    bool too_wide = false;  ///< an interval was wider than kWidestInterval tolerances
    bool inside = false;    ///< every element that differs lies inside its interval, however wide that is
    bool outside = false;   ///< an element that differs lies outside its interval, however wide that is
};

/// Of `got` and `expected`, the outputs of two implementations of the graph, at every element that differs beyond the
/// accuracy. `names`: what reports call the outputs, where that is not "output 0". Not explained: outputs of other
/// dtypes, sizes or number, and modes that want bits. False without `why` where nothing differs.
RoundingDecision explained_by_rounding(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                                       std::span<const Tensor> expected, const Accuracy& accuracy,
                                       std::span<const std::string> names = {});

/// The same of a run of the graph that failed as `outcome`, at its outputs, which were compared with `expected`, or at
/// its gradients: these are the outputs of the joint graph, on small random tangents, as judge() compares them. Where
/// rounding explains the outputs, the gradients are judged, too; if it does not explain them, the outcome becomes their
/// failure.
RoundingDecision explained_by_rounding(const Graph& graph, std::span<const Tensor> inputs, Outcome& outcome,
                                       std::span<const Tensor> expected, const Accuracy& accuracy);

}  // namespace whittle
