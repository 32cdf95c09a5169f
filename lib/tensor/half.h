// Half and BFloat16: the two 16-bit floats. IEEE 754 binary16 has 5 bits of exponent (bias 15) and 10 of fraction;
// bfloat16 is the upper half of a float. Both convert from float to nearest, ties to even, and to float exactly.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace whittle {

class Half {
  public:
    Half() = default;

    explicit Half(float value) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
        if (magnitude > 0x7f800000) {  // NaN
            bits_ = static_cast<std::uint16_t>(sign | 0x7e00);
        } else if (magnitude >= 0x477ff000) {  // 65520, the middle between the largest value and 2^16, and above
            bits_ = static_cast<std::uint16_t>(sign | 0x7c00);
        } else if (magnitude < 0x38800000) {  // below 2^-14: a multiple of 2^-24
            bits_ = static_cast<std::uint16_t>(sign |
                                               static_cast<std::uint32_t>(std::nearbyint(std::fabs(value) * 0x1p24f)));
        } else {  // drop 13 of a float's 23 bits of fraction, and 127 - 15 from its exponent
            const std::uint32_t rounded = (magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13;
            bits_ = static_cast<std::uint16_t>(sign | (rounded - (112u << 10)));
        }
    }

    explicit operator float() const {
        const std::uint32_t sign = (bits_ & 0x8000u) << 16, magnitude = bits_ & 0x7fffu;
        if (magnitude < 0x400) {  // zero or denormal
            const float value = static_cast<float>(magnitude) * 0x1p-24f;
            return sign ? -value : value;
        }
        const std::uint32_t bias = magnitude >= 0x7c00 ? 255 - 31 : 127 - 15;  // infinity and NaN keep their exponent
        return std::bit_cast<float>(sign | ((magnitude << 13) + (bias << 23)));
    }

    static constexpr Half from_bits(std::uint16_t bits) {
        Half result;
        result.bits_ = bits;
        return result;
    }
    std::uint16_t bits() const { return bits_; }

  private:
    std::uint16_t bits_ = 0;
};

class BFloat16 {
  public:
    BFloat16() = default;

    explicit BFloat16(float value) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        if (value != value)
            bits_ = static_cast<std::uint16_t>(((bits >> 16) & 0x8000) | 0x7fc0);
        else
            bits_ = static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }

    explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits_} << 16); }

    static constexpr BFloat16 from_bits(std::uint16_t bits) {
        BFloat16 result;
        result.bits_ = bits;
        return result;
    }
    std::uint16_t bits() const { return bits_; }

  private:
    std::uint16_t bits_ = 0;
};

}  // namespace whittle

template <>
class std::numeric_limits<whittle::Half> {
    using T = whittle::Half;

  public:
    static constexpr bool is_specialized = true, has_infinity = true, has_quiet_NaN = true;
    static constexpr int digits = 11;
    static constexpr T max() { return T::from_bits(0x7bff); }
    static constexpr T lowest() { return T::from_bits(0xfbff); }
    static constexpr T min() { return T::from_bits(0x0400); }
    static constexpr T denorm_min() { return T::from_bits(0x0001); }
    static constexpr T infinity() { return T::from_bits(0x7c00); }
    static constexpr T quiet_NaN() { return T::from_bits(0x7e00); }
};

template <>
class std::numeric_limits<whittle::BFloat16> {
    using T = whittle::BFloat16;

  public:
    static constexpr bool is_specialized = true, has_infinity = true, has_quiet_NaN = true;
    static constexpr int digits = 8;
    static constexpr T max() { return T::from_bits(0x7f7f); }
    static constexpr T lowest() { return T::from_bits(0xff7f); }
    static constexpr T min() { return T::from_bits(0x0080); }
    static constexpr T denorm_min() { return T::from_bits(0x0001); }
    static constexpr T infinity() { return T::from_bits(0x7f80); }
    static constexpr T quiet_NaN() { return T::from_bits(0x7fc0); }
};
