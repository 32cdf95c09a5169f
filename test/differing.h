// Where results differ beyond tolerance, or in the sign of a zero.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tensor/compare.h"
#include "tensor/complex.h"

namespace whittle::test {

/// Empty where zeros have the same signs.
inline std::string differing_zeros(const Tensor& got, const Tensor& expected) {
    const std::vector<double> a = got.values<double>(), b = expected.values<double>();
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] == 0 && b[i] == 0 && std::signbit(a[i]) != std::signbit(b[i]))
            return "element " + std::to_string(i) + ": got " + (std::signbit(a[i]) ? "-0" : "0") +
                   ", expected the other";
    return {};
}

/// Empty where they agree. NaN and infinities must be where they are expected, by compare().
inline std::string differing(const Tensor& got, const Tensor& expected) {
    if (const auto difference = compare(got, expected, default_tolerance(expected.dtype())))
        return difference->description;
    if (is_complex(expected.dtype())) return differing_zeros(as_real(got), as_real(expected));
    return is_floating(expected.dtype()) ? differing_zeros(got, expected) : std::string();
}

}  // namespace whittle::test
