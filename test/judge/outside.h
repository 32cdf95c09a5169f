// Whether a result lies in its interval.
#pragma once

#include <cmath>
#include <string>

#include "judge/interval.h"
#include "tensor/limits.h"

namespace whittle::test {

/// "" where every element does, or which does not. Nothing is asked of results without an interval.
inline std::string outside(const Tensor& got, const Interval& interval) {
    if (!interval.unbounded.empty() || is_complex(interval.dtype) || is_complex(got.dtype())) return {};
    if (got.sizes() != interval.center.sizes()) return "has other sizes";
    const std::vector<double> xs = got.values<double>(), at = interval.center.values<double>();
    const double largest = float_limits(got.dtype()).largest;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const double radius = xs[i] < at[i] ? interval.full.below_at(i) : interval.full.above_at(i);
        if (std::isinf(interval.full.most_at(i)) || xs[i] == at[i] || (std::isnan(xs[i]) && std::isnan(at[i])))
            continue;
        if (std::isinf(xs[i]) && std::fabs(at[i]) + radius > largest) continue;
        if (!(std::fabs(xs[i] - at[i]) <= radius))
            return "element " + std::to_string(i) + ": got " + std::to_string(xs[i]) + ", center " +
                   std::to_string(at[i]) + ", radius " + std::to_string(radius);
    }
    return {};
}

}  // namespace whittle::test
