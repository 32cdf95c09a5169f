// Products and quotients of complex numbers as c10::complex has them: by the parts, without the rescue of infinities
// that std::complex does and a compiler's flags may take away.
#pragma once

#include <cmath>

#include "tensor/dtype.h"

namespace whittle {

template <class T>
std::complex<T> product(const std::complex<T>& a, const std::complex<T>& b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// By Smith's method: the larger part of b divides first, so that nothing overflows on the way. Division by zero
/// divides the parts by it.
template <class T>
std::complex<T> quotient(const std::complex<T>& a, const std::complex<T>& b) {
    const T c = b.real(), d = b.imag();
    if (std::fabs(c) >= std::fabs(d)) {
        if (c == 0 && d == 0) return {a.real() / std::fabs(c), a.imag() / std::fabs(d)};
        const T ratio = d / c, scale = T(1) / (c + d * ratio);
        return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
    }
    const T ratio = c / d, scale = T(1) / (d + c * ratio);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

}  // namespace whittle
