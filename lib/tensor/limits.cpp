#include "tensor/limits.h"

#include <cmath>
#include <limits>

#include "tensor/convert.h"

namespace whittle {
namespace {

template <class T>
Scalar end_of(bool greatest) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>)
        return Scalar(greatest);
    else if constexpr (std::is_same_v<T, std::uint64_t>)
        return Scalar(greatest ? Limits::max() : Limits::min());
    else if constexpr (std::is_integral_v<T>)
        return Scalar(static_cast<std::int64_t>(greatest ? Limits::max() : Limits::min()));
    else if constexpr (Limits::has_infinity)
        return Scalar((greatest ? 1 : -1) * std::numeric_limits<double>::infinity());
    else
        return Scalar(cast_element<double>(greatest ? Limits::max() : Limits::lowest()));
}

}  // namespace

Scalar lowest(DType dtype) {
    return visit_dtype(dtype, []<class T>(T) { return end_of<T>(false); });
}

Scalar greatest(DType dtype) {
    return visit_dtype(dtype, []<class T>(T) { return end_of<T>(true); });
}

FloatLimits float_limits(DType dtype) {
    if (!is_floating(dtype)) return {};
    return visit_dtype(dtype, []<class T>(T) {
        using Limits = std::numeric_limits<T>;
        return FloatLimits{.largest = cast_element<double>(Limits::max()),
                           .normal = cast_element<double>(Limits::min()),
                           .denormal = cast_element<double>(Limits::denorm_min()),
                           .epsilon = std::ldexp(1.0, 1 - Limits::digits)};
    });
}

}  // namespace whittle
