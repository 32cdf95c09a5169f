// Float8E4M3FN: one byte of sign, 4 bits of exponent (bias 7) and 3 of fraction. Like IEEE formats, but without
// infinities: all ones in exponent and fraction, 0x7f and 0xff, is NaN, and the largest value is 448. OCP 8-bit
// Floating Point Specification, https://onnx.ai/onnx/technical/float8.html, c10::Float8_e4m3fn.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace whittle {

class Float8E4M3FN {
  public:
    Float8E4M3FN() = default;

    /// To nearest, ties to even; beyond the largest value NaN, as c10 converts (ONNX's Cast saturates before).
    explicit Float8E4M3FN(float value) {
        const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
        const float magnitude = std::fabs(value);
        if (!(magnitude <= 464)) {  // NaN, or nearer to 480, which would be the next value, than to 448
            bits_ = sign | 0x7f;
        } else if (magnitude < 0x1p-6f) {  // denormal: a multiple of 2^-9; 8 of those are the smallest normal value
            bits_ = static_cast<std::uint8_t>(sign | static_cast<int>(std::nearbyint(magnitude * 512)));
        } else {  // drop 20 of a float's 23 bits of fraction, and 127 - 7 from its exponent
            const auto bits = std::bit_cast<std::uint32_t>(magnitude);
            const std::uint32_t rounded = (bits + 0x7ffff + ((bits >> 20) & 1)) >> 20;
            bits_ = static_cast<std::uint8_t>(sign | (rounded - (120u << 3)));
        }
    }

    explicit operator float() const {
        const int exponent = (bits_ >> 3) & 15, fraction = bits_ & 7;
        const float magnitude = (bits_ & 0x7f) == 0x7f ? std::numeric_limits<float>::quiet_NaN()
                                : exponent == 0        ? std::ldexp(static_cast<float>(fraction), -9)
                                                       : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
        return bits_ & 0x80 ? -magnitude : magnitude;
    }

    static constexpr Float8E4M3FN from_bits(std::uint8_t bits) {
        Float8E4M3FN result;
        result.bits_ = bits;
        return result;
    }
    std::uint8_t bits() const { return bits_; }

  private:
    std::uint8_t bits_ = 0;
};

}  // namespace whittle

template <>
class std::numeric_limits<whittle::Float8E4M3FN> {
    using T = whittle::Float8E4M3FN;

  public:
    static constexpr bool is_specialized = true, has_infinity = false, has_quiet_NaN = true;
    static constexpr int digits = 4;
    static constexpr T max() { return T::from_bits(0x7e); }
    static constexpr T lowest() { return T::from_bits(0xfe); }
    static constexpr T min() { return T::from_bits(0x08); }
    static constexpr T denorm_min() { return T::from_bits(0x01); }
    static constexpr T quiet_NaN() { return T::from_bits(0x7f); }
};
