// Cubic convolution, which interpolating images share. Keys 1981, https://doi.org/10.1109/TASSP.1981.1163711
#pragma once

#include <array>

namespace whittle {

/// Of the four pixels around a place, of which the second is `t` behind it: with a = -0.75.
/// V is a number or an expression; `c` makes one of a constant.
template <class V, class Constant>
std::array<V, 4> cubic_weights(const V& t, const Constant& c) {
    const auto near = [&](const V& d) { return (c(1.25) * d - c(2.25)) * d * d + c(1); };
    const auto far = [&](const V& d) { return ((c(-0.75) * d + c(3.75)) * d - c(6)) * d + c(3); };
    return {far(t + c(1)), near(t), near(c(1) - t), far(c(2) - t)};
}

}  // namespace whittle
