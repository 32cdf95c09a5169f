#include "judge/interval_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tensor/compute.h"
#include "tensor/convert.h"
#include "tensor/limits.h"
#include "tensor/reach.h"

namespace whittle {
namespace {

Tensor like(const Tensor& tensor, const Numbers& values) {
    return laid_out(store(values, tensor.dtype(), tensor.sizes()), tensor.strides());
}

Tensor with_each(const Tensor& tensor, double (*f)(double)) {
    if (!is_floating(tensor.dtype())) return tensor;
    Numbers values = tensor.values<double>();
    for (double& x : values) x = f(x);
    return like(tensor, values);
}

Radius side(Numbers values) {
    if (std::ranges::all_of(values, [](double x) { return x == 0; })) return nullptr;
    return std::make_shared<const Numbers>(std::move(values));
}

}  // namespace

double Sides::most() const {
    double most = 0;
    for (const Radius& radius : {below, above})
        if (radius && !radius->empty()) most = std::max(most, *std::ranges::max_element(*radius));
    return most;
}

double ElementInterval::end(bool top, double share) const {
    const double to = top ? high : low;
    return share == 1 || !std::isfinite(to) ? to : center + share * (to - center);
}

double ElementInterval::nearest(double aim) const {
    return std::isnan(aim) ? center : std::min(std::max(aim, low), high);
}

Tensor placed(const Interval& interval, const Sides& sides, const Place& place) {
    if (!sides) return interval.center;
    const DType dtype = interval.center.dtype();
    Numbers values = interval.center.values<double>();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = place({values[i] - sides.below_at(i), values[i], values[i] + sides.above_at(i)}, i);
    if (!is_floating(dtype)) {
        const double low = lowest(dtype).to_double(), high = greatest(dtype).to_double();
        for (double& x : values) x = std::clamp(std::round(x), low, high);
    }
    return like(interval.center, values);
}
Tensor placed(const Interval& interval, const Place& place) { return placed(interval, interval.full, place); }

Interval broadcast_to(const Interval& interval, const Sides& sides, const Sizes& sizes) {
    const auto wide = [&](const Radius& radius) -> Radius {
        if (!radius) return nullptr;
        return side(load_broadcast<double>(Tensor::of(*radius, interval.center.sizes()), sizes));
    };
    return {.center = Tensor::of(load_broadcast<double>(interval.center, sizes), sizes),
            .dtype = interval.dtype,
            .full = {wide(sides.below), wide(sides.above)}};
}

bool holds(DType dtype, double x) {
    return visit_dtype(dtype,
                       [&](auto element) { return cast_element<double>(cast_element<decltype(element)>(x)) == x; });
}

void settle_overflow(Interval& interval, const std::string& op, bool stored) {
    const FloatLimits limits = float_limits(interval.dtype);
    if (!interval.unbounded.empty() || !is_floating(interval.dtype) || limits.largest <= 0) return;
    Numbers center = interval.center.values<double>();
    Widths smooth = Widths::of(interval.smooth, center.size()), full = Widths::of(interval.full, center.size());
    bool any = false;
    for (std::size_t i = 0; i < center.size(); ++i) {
        const double reach = std::fabs(center[i]) + smooth.most_at(i);
        if (!std::isfinite(reach) || reach <= limits.largest) continue;
        any = true;
        const bool jumps = full.below[i] != smooth.below[i] || full.above[i] != smooth.above[i];
        const bool for_sure = std::fabs(center[i]) - smooth.most_at(i) > limits.largest * (1 + limits.epsilon);
        if (stored && interval.dtype == DType::f32 && for_sure && !jumps) {
            center[i] = std::copysign(kUnbounded, center[i]);
            smooth.set(i, 0);
            full.set(i, 0);
            continue;
        }
        full.set(i, kUnbounded);
        if (interval.jump.empty())
            interval.jump = "the precision of intermediate values decides whether " + op + " overflows " +
                            std::string(name(interval.dtype));
    }
    if (!any) return;
    interval.center = like(interval.center, center);
    interval.smooth = std::move(smooth).shared();
    interval.full = std::move(full).shared();
}

Tensor magnitude_of(const Tensor& tensor) { return with_each(tensor, std::fabs); }

Tensor negated(const Tensor& tensor) {
    return with_each(tensor, [](double x) { return -x; });
}

Tensor outer_magnitude_of(const Tensor& center, const Sides& sides) {
    if (!sides) return magnitude_of(center);
    Numbers values = center.values<double>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::fabs(values[i]) + sides.most_at(i);
    if (!is_floating(center.dtype()))
        for (double& x : values) x = std::min(std::round(x), greatest(center.dtype()).to_double());
    return like(center, values);
}

Widths Widths::of(const Sides& sides, std::size_t count) {
    return {sides.below ? *sides.below : Numbers(count), sides.above ? *sides.above : Numbers(count)};
}

void Widths::reach(const Numbers& center, const Tensor& value) {
    const Numbers at = value.values<double>();
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (at[i] == center[i] || (std::isnan(at[i]) && std::isnan(center[i]))) continue;
        const double off = at[i] - center[i];
        if (std::isnan(off))
            set(i, kUnbounded);
        else if (off < 0)
            below[i] = std::max(below[i], -off);
        else
            above[i] = std::max(above[i], off);
    }
}

void Widths::fill(double width) {
    std::ranges::fill(below, width);
    std::ranges::fill(above, width);
}

void Widths::round_ends(std::size_t i, double center, double ulp, DType dtype) {
    if (!holds(dtype, center - below[i])) below[i] += ulp;
    if (!holds(dtype, center + above[i])) above[i] += ulp;
}

Sides Widths::shared() && {
    Sides sides{side(std::move(below)), nullptr};
    if (sides.below && *sides.below == above) return {sides.below, sides.below};
    sides.above = side(std::move(above));
    return sides;
}

}  // namespace whittle
