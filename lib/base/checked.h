// Integers for sizes that are computed from what a file or a caller asks for (kernel, stride, padding, repeats, …):
// arithmetic that throws Error where plain 64-bit arithmetic would overflow. Formulas stay readable:
//   (Checked(image) - 1) * stride + extra
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/error.h"

namespace whittle {

/// "a OP b leaves 64 bits", as an Error.
[[noreturn]] inline void refuse_overflow(std::int64_t a, char op, std::int64_t b) {
    throw Error("found " + std::to_string(a) + " " + op + " " + std::to_string(b) +
                    " in the computation of a size or index, expected a result that fits in 64 bits",
                "look for an unusually large number among the arguments");
}

class Checked {
  public:
    constexpr Checked(std::int64_t value) : value_(value) {}  // implicit: either operand may be a plain number
    constexpr std::int64_t value() const { return value_; }

    friend Checked operator+(Checked a, Checked b) {
        std::int64_t result = 0;
        if (__builtin_add_overflow(a.value_, b.value_, &result)) refuse_overflow(a.value_, '+', b.value_);
        return result;
    }
    friend Checked operator-(Checked a, Checked b) {
        std::int64_t result = 0;
        if (__builtin_sub_overflow(a.value_, b.value_, &result)) refuse_overflow(a.value_, '-', b.value_);
        return result;
    }
    friend Checked operator*(Checked a, Checked b) {
        std::int64_t result = 0;
        if (__builtin_mul_overflow(a.value_, b.value_, &result)) refuse_overflow(a.value_, '*', b.value_);
        return result;
    }
    /// Towards zero, as in C++; refuses to divide by 0.
    friend Checked operator/(Checked a, Checked b) {
        if (b.value_ == 0 || (b.value_ == -1 && a.value_ == INT64_MIN)) refuse_overflow(a.value_, '/', b.value_);
        return a.value_ / b.value_;
    }
    Checked operator-() const { return Checked(0) - *this; }
    Checked& operator+=(Checked b) { return *this = *this + b; }
    Checked& operator*=(Checked b) { return *this = *this * b; }

    friend constexpr auto operator<=>(Checked, Checked) = default;

  private:
    std::int64_t value_;
};

}  // namespace whittle
