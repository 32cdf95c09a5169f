// Functions that translated kernels call, see translate.h. What stands between the lines below is also what repro.cpp
// contains, as far as its kernels use it: texts.cmake makes strings of it.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <vector>

namespace whittle::halide {

// ---- text of repro.cpp ----
// ---- libm ----
// The C library's function: Halide's own exp, log, pow … are approximations, wrong for NaN and
// infinities.
static Halide::Expr libm(const char* name, const std::vector<Halide::Expr>& arguments) {
    return Halide::Internal::Call::make(arguments[0].type(), name, arguments, Halide::Internal::Call::PureExtern);
}

// ---- float_bits ----
// A constant that is -0 or NaN: Halide 14 compares constants by value, so -0 is 0 and NaN is
// any number.
static Halide::Expr float_bits(uint32_t bits) { return Halide::reinterpret<float>(Halide::Expr(bits)); }

// ---- double_bits ----
// A constant that is -0 or NaN: Halide 14 compares constants by value, so -0 is 0 and NaN is
// any number.
static Halide::Expr double_bits(uint64_t bits) { return Halide::reinterpret<double>(Halide::Expr(bits)); }

// ---- integer_bits ----
// An integer of 2^62 or more: of two that lie 2^63 apart Halide 14 concludes wrong multiples.
static Halide::Expr integer_bits(uint64_t bits) {
    return Halide::reinterpret<int64_t>(Halide::reinterpret<double>(Halide::Expr(bits)));
}

// ---- to_half ----
// Halide 14 converts a NaN to infinity: give it the bits of a NaN.
static Halide::Expr to_half(Halide::Type type, const Halide::Expr& x) {
    const Halide::Expr nan = Halide::Expr(uint16_t(type.is_bfloat() ? 0x7fc0 : 0x7e00));
    return Halide::select(Halide::is_nan(x), Halide::reinterpret(type, nan), Halide::cast(type, x));
}
// ---- end ----

}  // namespace whittle::halide
