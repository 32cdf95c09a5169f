// Integer arithmetic of the reference kernels: 64-bit, wrapping instead of overflowing, C's and Python's divisions.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/number_text.h"
#include "tensor/scalar.h"

namespace whittle {

inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapping_negate(std::int64_t a) {
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
}

/// The number with all digits of an integer.
inline std::string number_text(const Scalar& value) {
    return value.is_integer() ? value.integer_text() : shortest(value.to_double());
}

/// The integer that a whole number is. Throws Error "found WHAT of VALUE" for NaN and for what 64 bits do not hold, of
/// which a cast is undefined.
inline std::int64_t whole_number(double value, const std::string& what) {
    if (!(value >= -0x1p63 && value < 0x1p63))
        throw Error("found " + what + " of " + shortest(value) + ", expected a value that fits in a 64-bit integer");
    return static_cast<std::int64_t>(value);
}

/// Towards zero. Throws Error for b = 0, as ATen does; the smallest integer / -1 wraps.
inline std::int64_t truncated_div(std::int64_t a, std::int64_t b) {
    if (b == 0) throw Error("found an integer division by zero, expected a nonzero divisor");
    return b == -1 ? wrapping_negate(a) : a / b;
}
/// a - b * truncated_div(a, b): the sign of a.
inline std::int64_t truncated_mod(std::int64_t a, std::int64_t b) {
    if (b == 0) throw Error("found the remainder of an integer division by zero, expected a nonzero divisor");
    return b == -1 ? 0 : a % b;
}
/// Towards -inf.
inline std::int64_t floored_div(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = truncated_div(a, b), remainder = truncated_mod(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? quotient - 1 : quotient;
}
/// a - b * floored_div(a, b): the sign of b.
inline std::int64_t floored_mod(std::int64_t a, std::int64_t b) {
    const std::int64_t remainder = truncated_mod(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/// As of all integers, of those that have no sign. Throw Error for b = 0.
inline std::uint64_t unsigned_div(std::uint64_t a, std::uint64_t b) {
    if (b == 0) throw Error("found an integer division by zero, expected a nonzero divisor");
    return a / b;
}
inline std::uint64_t unsigned_mod(std::uint64_t a, std::uint64_t b) {
    if (b == 0) throw Error("found the remainder of an integer division by zero, expected a nonzero divisor");
    return a % b;
}

/// a to the b, wrapping; for negative b what remains of the fraction: 1 and -1 keep their magnitude, others give 0.
inline std::int64_t integer_power(std::int64_t a, std::int64_t b) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    std::int64_t result = 1;
    for (; b != 0; b >>= 1) {
        if (b & 1) result = wrapping_mul(result, a);
        a = wrapping_mul(a, a);
    }
    return result;
}

}  // namespace whittle
