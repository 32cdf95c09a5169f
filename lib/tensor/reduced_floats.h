// Floats of 16 and 8 bits. They convert from float to nearest, ties to even, and to float exactly; what is computed
// with them is computed with floats.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace whittle {

/// A binary format of IEEE 754: a sign, an exponent and a fraction of these lengths. `kQuietNaN`: what NaN becomes.
template <class Bits, int kExponentBits, int kFractionBits, Bits kQuietNaN>
class IeeeFloat {
  public:
    static constexpr Bits kSign = 1 << (kExponentBits + kFractionBits), kInfinity = kSign - (1 << kFractionBits);

    IeeeFloat() = default;

    explicit IeeeFloat(float value) {
        // As floats: the smallest normal value, and the middle between the largest and what would be the next.
        constexpr std::uint32_t kNormal = (128u - kBias) << 23;
        constexpr std::uint32_t kEnd = ((128u + kBias) << 23) - (1u << (kDropped - 1));
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = (bits >> kAbove) & kSign, magnitude = bits & 0x7fffffff;
        std::uint32_t result = kInfinity;
        if (magnitude > 0x7f800000) {
            result = kQuietNaN;
        } else if (kFewerExponents && magnitude < kNormal) {  // a multiple of the smallest value
            result = static_cast<std::uint32_t>(std::nearbyint(std::fabs(value) * power_of_2(kSmallest)));
        } else if (magnitude < kEnd) {
            const std::uint32_t rounded = magnitude + (1u << (kDropped - 1)) - 1 + ((magnitude >> kDropped) & 1);
            result = (rounded >> kDropped) - ((127u - kBias) << kFractionBits);
        }
        bits_ = static_cast<Bits>(sign | result);
    }

    explicit operator float() const {
        const std::uint32_t magnitude = bits_ & (kSign - 1u), sign = (bits_ - magnitude) << kAbove;
        if (kFewerExponents && magnitude < (1u << kFractionBits)) {  // zero or denormal
            const float value = static_cast<float>(magnitude) * power_of_2(-kSmallest);
            return sign ? -value : value;
        }
        const std::uint32_t bias = magnitude >= kInfinity ? 254u - 2 * kBias : 127u - kBias;  // those keep all ones
        return std::bit_cast<float>(sign | ((magnitude << kDropped) + (bias << 23)));
    }

    static constexpr IeeeFloat from_bits(Bits bits) {
        IeeeFloat result;
        result.bits_ = bits;
        return result;
    }
    Bits bits() const { return bits_; }

  private:
    static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
    static constexpr int kSmallest = kBias - 1 + kFractionBits;  ///< the smallest value is 2 to its negative
    static constexpr int kDropped = 23 - kFractionBits;          ///< bits of a float's fraction
    static constexpr int kAbove = 32 - 8 * static_cast<int>(sizeof(Bits));
    /// Else denormal values are denormal floats, too, and convert by their bits as all others.
    static constexpr bool kFewerExponents = kBias < 127;

    static constexpr float power_of_2(int n) { return std::bit_cast<float>(static_cast<std::uint32_t>(127 + n) << 23); }

    Bits bits_ = 0;
};

using Half = IeeeFloat<std::uint16_t, 5, 10, 0x7e00>;
using BFloat16 = IeeeFloat<std::uint16_t, 8, 7, 0x7fc0>;  ///< the upper half of a float
/// OCP 8-bit Floating Point Specification; NaN as c10::Float8_e5m2 converts it.
using Float8E5M2 = IeeeFloat<std::uint8_t, 5, 2, 0x7f>;

/// One byte of sign, 4 bits of exponent (bias 7) and 3 of fraction. Like IEEE formats, but without infinities: all ones
/// in exponent and fraction, 0x7f and 0xff, is NaN, and the largest value is 448. OCP 8-bit Floating Point
/// Specification, https://onnx.ai/onnx/technical/float8.html, c10::Float8_e4m3fn.
class Float8E4M3FN {
  public:
    Float8E4M3FN() = default;

    /// Beyond the largest value NaN, as c10 converts (ONNX's Cast saturates before).
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

template <class Bits, int kExponentBits, int kFractionBits, Bits kQuietNaN>
class std::numeric_limits<whittle::IeeeFloat<Bits, kExponentBits, kFractionBits, kQuietNaN>> {
    using T = whittle::IeeeFloat<Bits, kExponentBits, kFractionBits, kQuietNaN>;

  public:
    static constexpr bool is_specialized = true, has_infinity = true, has_quiet_NaN = true;
    static constexpr int digits = kFractionBits + 1;
    static constexpr T max() { return T::from_bits(T::kInfinity - 1); }
    static constexpr T lowest() { return T::from_bits(T::kSign + T::kInfinity - 1); }
    static constexpr T min() { return T::from_bits(1 << kFractionBits); }
    static constexpr T denorm_min() { return T::from_bits(1); }
    static constexpr T infinity() { return T::from_bits(T::kInfinity); }
    static constexpr T quiet_NaN() { return T::from_bits(kQuietNaN); }
};

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
