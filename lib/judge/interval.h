// Intervals: what every value of a graph may be in a correct implementation that rounds in the value's own dtype. A
// running error analysis (Higham 2002, Accuracy and Stability of Numerical Algorithms, 3.3): each value is computed in
// f64 as a center and a radius, which grows by the bound of each op's row (Bound in ops/core/op.h).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/core/registry.h"
#include "tensor/compare.h"

namespace whittle {

/// One per element, row-major; null: zeros.
using Radius = std::shared_ptr<const std::vector<double>>;

/// How far an interval reaches on both sides of its center.
struct Sides {
    Radius below = {}, above = {};
    bool operator==(const Sides&) const = default;
    explicit operator bool() const { return below || above; }
    double below_at(std::size_t i) const { return below ? (*below)[i] : 0; }
    double above_at(std::size_t i) const { return above ? (*above)[i] : 0; }
    double most_at(std::size_t i) const { return std::max(below_at(i), above_at(i)); }
    /// Of all elements.
    double most() const;
};

struct Interval {
    Tensor center = {};          ///< f64; integers and bool in their own dtype
    DType dtype = DType::f32;    ///< that the value has in the graph
    Sides smooth = {};           ///< what rounding may move it by while every op with a jump goes the center's way
    Sides full = {};             ///< with the jumps that are reached inside the intervals; never below `smooth`
    std::string source = {};     ///< the op whose rounding contributes most to `smooth`
    DType precision = dtype;     ///< in which that op rounds: an f64 that was an f16 is no more exact than that
    std::string jump = {};       ///< "rounding decides the result of OP", of the first op whose jump is reached
    std::string unbounded = {};  ///< an op without a rule, on which the value depends: there is no interval
    bool other_type = false;     ///< it has one, but not for complex numbers and types that are only stored
    /// Where it rounds: what was computed together and then only moved, repeated or selected has one origin, and
    /// elements of one origin that are alike are one value, which rounds once. 0: it is exact.
    std::size_t origin = 0;
    /// exact_intervals_of(): why the value is not exact, as a sentence about `unbounded`; and the largest share of a
    /// significand that the sums behind the value take.
    std::string inexact = {};
    double used = 0;
    bool tolerance_decided = false;  ///< an op with a jump met an interval that is too wide: the tolerance stood for it
};

/// An interval of more than so many tolerances, those of its precision, does not decide (judge/explained.h).
inline constexpr double kWidestInterval = 4;

/// One per output. Where an op with a jump meets an interval wider than kWidestInterval tolerances, the
/// tolerance stands for it. Nothing for a graph that writes to memory, that takes more than kMostIntervalSteps, that
/// has no f64 form or cannot be computed: `why` says so.
std::optional<std::vector<Interval>> intervals_of(const Graph& graph, std::span<const Tensor> inputs,
                                                  const Accuracy& accuracy, std::string* why = nullptr);
/// Elements that ops compute, times the terms that each is a sum of.
inline constexpr double kMostIntervalSteps = 3e7;

/// One per output, of graphs of any size: the center alone where every correct implementation computes just that, in
/// whatever order, because no sum on the way to it rounds (Bound::exact in ops/core/op.h); else `unbounded`, the first
/// call that may round, with `inexact`. Nothing as intervals_of().
std::optional<std::vector<Interval>> exact_intervals_of(const Graph& graph, std::span<const Tensor> inputs,
                                                        std::string* why = nullptr);

/// Targets of calls that have neither a rule nor parts that have one, in order, each once.
std::vector<std::string> ops_without_bound(const Graph& graph);

}  // namespace whittle
