// Values inside intervals: tensors that stand for them, and how far results reach.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "judge/interval.h"

namespace whittle {

using Numbers = std::vector<double>;
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// The interval of one element.
struct ElementInterval {
    double low, center, high;
    /// An end, or a `share` of the way to it.
    double end(bool top, double share = 1) const;
    double nearest(double aim) const;
};

/// What stands for an element.
using Place = std::function<double(const ElementInterval& span, std::size_t i)>;

/// An f64 tensor has the center's strides: as_strided reads memory. Integers and bool take the nearest value that they
/// have.
Tensor placed(const Interval& interval, const Sides& sides, const Place& place);
/// By the interval's own `full`.
Tensor placed(const Interval& interval, const Place& place);
/// Center and sides at these sizes, as `full`.
Interval broadcast_to(const Interval& interval, const Sides& sides, const Sizes& sizes);

/// The dtype has this number.
bool holds(DType dtype, double x);

/// Beyond the largest number of its dtype a value is infinite, or what a wider dtype has of it, for a compiler may keep
/// what is between two ops wider. A `stored` one of f32, as the graph says that there is one, is infinite, unless
/// rounding decides: nothing is kept wider than f32.
void settle_overflow(Interval& interval, const std::string& op, bool stored);

/// Of floats; other tensors are handed on.
Tensor magnitude_of(const Tensor& tensor);
Tensor negated(const Tensor& tensor);
/// The magnitude and the wider side.
Tensor outer_magnitude_of(const Tensor& center, const Sides& sides);

/// Sides while they grow.
struct Widths {
    Numbers below, above;

    static Widths of(const Sides& sides, std::size_t count);
    /// To the values, too; unbounded where only one of both is NaN or that infinity.
    void reach(const Numbers& center, const Tensor& value);
    void add(std::size_t i, double width) { below[i] += width, above[i] += width; }
    /// Of a result that is rounded to the nearest number: an end that the dtype has stays, for no other rounds past it.
    void round_ends(std::size_t i, double center, double ulp, DType dtype);
    void set(std::size_t i, double width) { below[i] = above[i] = width; }
    void fill(double width);
    double most_at(std::size_t i) const { return std::max(below[i], above[i]); }
    Sides shared() &&;
    bool operator==(const Widths&) const = default;
};

}  // namespace whittle
