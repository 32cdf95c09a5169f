// The C++ text of the helpers that generated loops may use, by name.
#pragma once

#include <string_view>
#include <utility>

namespace whittle::expr {

inline constexpr std::pair<std::string_view, std::string_view> kLoopHelpers[] = {
    {"half", R"text(// IEEE binary16, stored as its bits; conversions round to nearest even.
struct half {
    uint16_t bits = 0;
    half() = default;
    explicit half(float value) {
        uint32_t u;
        std::memcpy(&u, &value, sizeof u);
        const uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
        if (magnitude > 0x7f800000u) {  // NaN
            bits = uint16_t(sign | 0x7e00u);
        } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
            bits = uint16_t(sign | 0x7c00u);
        } else if (magnitude < 0x38800000u) {  // below 2^-14: a multiple of 2^-24
            bits = uint16_t(sign | uint32_t(std::nearbyint(std::fabs(value) * 16777216.0f)));
        } else {
            bits = uint16_t(sign | ((magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13));
        }
    }
    explicit operator float() const {
        const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
        const float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                                : exponent == 0 ? std::ldexp(float(fraction), -24)
                                                : std::ldexp(float(1024 + fraction), exponent - 25);
        return bits & 0x8000 ? -magnitude : magnitude;
    }
};
)text"},
    {"bfloat", R"text(// bfloat16: the upper half of a float; conversions round to nearest even.
struct bfloat {
    uint16_t bits = 0;
    bfloat() = default;
    explicit bfloat(float value) {
        uint32_t u;
        std::memcpy(&u, &value, sizeof u);
        if (std::isnan(value))
            bits = uint16_t((u >> 16) | 0x40u);
        else
            bits = uint16_t((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
    explicit operator float() const {
        const uint32_t u = uint32_t(bits) << 16;
        float value;
        std::memcpy(&value, &u, sizeof value);
        return value;
    }
};
)text"},
    {"float8_e4m3fn", R"text(// OCP's 8-bit float E4M3: no infinities, NaN is 0x7f; to nearest even, NaN beyond 448.
struct float8_e4m3fn {
    uint8_t bits = 0;
    float8_e4m3fn() = default;
    explicit float8_e4m3fn(float value) {
        const float magnitude = std::fabs(value);
        int exponent = 0;
        std::frexp(magnitude, &exponent);
        exponent = exponent < -5 ? -5 : exponent;  // below 2^-6: a multiple of 2^-9
        const float rounded = std::ldexp(std::nearbyint(std::ldexp(magnitude, 4 - exponent)), exponent - 4);
        int code = 0x7f;  // values are in the order of their codes
        if (rounded <= 448)
            for (code = 0; float(from_bits(uint8_t(code))) < rounded;) ++code;
        bits = uint8_t(code | (std::signbit(value) ? 0x80 : 0));
    }
    static float8_e4m3fn from_bits(uint8_t code) {
        float8_e4m3fn result;
        result.bits = code;
        return result;
    }
    explicit operator float() const {
        const int exponent = (bits >> 3) & 15, fraction = bits & 7;
        const float magnitude = (bits & 127) == 127 ? NAN
                                : exponent == 0     ? std::ldexp(float(fraction), -9)
                                                    : std::ldexp(float(8 + fraction), exponent - 10);
        return bits & 128 ? -magnitude : magnitude;
    }
};
)text"},
    {"float8_e5m2", R"text(// OCP's 8-bit float E5M2: the upper half of a binary16; conversions round to nearest even.
struct float8_e5m2 {
    uint8_t bits = 0;
    float8_e5m2() = default;
    explicit float8_e5m2(float value) {
        uint32_t u;
        std::memcpy(&u, &value, sizeof u);
        const uint32_t sign = (u >> 24) & 0x80u, magnitude = u & 0x7fffffffu;
        if (magnitude > 0x7f800000u) {  // NaN
            bits = uint8_t(sign | 0x7fu);
        } else if (magnitude >= 0x47700000u) {  // 61440 and above round to infinity
            bits = uint8_t(sign | 0x7cu);
        } else if (magnitude < 0x38800000u) {  // below 2^-14: a multiple of 2^-16
            bits = uint8_t(sign | uint32_t(std::nearbyint(std::fabs(value) * 65536.0f)));
        } else {
            bits = uint8_t(sign | ((magnitude + 0xfffffu + ((magnitude >> 21) & 1u) - 0x38000000u) >> 21));
        }
    }
    explicit operator float() const {
        const int exponent = (bits >> 2) & 31, fraction = bits & 3;
        const float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                                : exponent == 0 ? std::ldexp(float(fraction), -16)
                                                : std::ldexp(float(4 + fraction), exponent - 17);
        return bits & 0x80 ? -magnitude : magnitude;
    }
};
)text"},
    {"wrap_add", R"text(// Integers wrap: addition modulo 2^n.
template <class T>
T wrap_add(T a, T b) {
    return T(uint64_t(a) + uint64_t(b));
}
)text"},
    {"wrap_sub", R"text(// Subtraction modulo 2^n.
template <class T>
T wrap_sub(T a, T b) {
    return T(uint64_t(a) - uint64_t(b));
}
)text"},
    {"wrap_mul", R"text(// Multiplication modulo 2^n.
template <class T>
T wrap_mul(T a, T b) {
    return T(uint64_t(a) * uint64_t(b));
}
)text"},
    {"wrap_abs", R"text(// The most negative value is its own absolute value.
template <class T>
T wrap_abs(T a) {
    return a < 0 ? T(0 - uint64_t(a)) : a;
}
)text"},
    {"wrap_shl", R"text(// Bits shifted out are lost.
template <class T>
T wrap_shl(T a, T b) {
    return T(uint64_t(a) << (b & 63));
}
)text"},
    {"euclidean_div", R"text(// Euclidean division: rounds so that the remainder is not negative; a / 0 is 0.
inline int64_t euclidean_div(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return int64_t(0 - uint64_t(a));  // the most negative value wraps
    return a / b - (a % b < 0 ? (b > 0 ? 1 : -1) : 0);
}
)text"},
    {"euclidean_mod", R"text(// Euclidean remainder: 0 <= result < |b|; a mod 0 is 0.
inline int64_t euclidean_mod(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    const int64_t r = a % b;
    return r < 0 ? (b < 0 ? r - b : r + b) : r;
}
)text"},
    {"unsigned_div", R"text(// Division of unsigned integers; a / 0 is 0.
inline uint64_t unsigned_div(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : a / b;
}
)text"},
    {"unsigned_mod", R"text(// Remainder of unsigned integers; a mod 0 is 0.
inline uint64_t unsigned_mod(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : a % b;
}
)text"},
};

}  // namespace whittle::expr
