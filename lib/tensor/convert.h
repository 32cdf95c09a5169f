// Element conversion as ATen's casts do it on x86: the one place that says what out-of-range values become.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/dtype.h"

namespace whittle {

/// double -> int64_t as cvttsd2si: truncates; NaN and values beyond the range give the smallest integer.
inline std::int64_t truncate_to_int64(double value) {
    constexpr double kBound = 9223372036854775808.0;  // 2^63
    if (!(value >= -kBound && value < kBound)) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(value);
}

/// double -> int32_t as cvttsd2si with a 32-bit result.
inline std::int32_t truncate_to_int32(double value) {
    if (!(value > -2147483649.0 && value < 2147483648.0)) return std::numeric_limits<std::int32_t>::min();
    return static_cast<std::int32_t>(value);
}

/// double -> uint64_t as compilers make it of cvttsd2si: from 2^63 what is left above it; the rest as int64_t, so that
/// negative numbers wrap.
inline std::uint64_t truncate_to_uint64(double value) {
    constexpr double kBound = 9223372036854775808.0;  // 2^63
    if (value >= kBound)
        return static_cast<std::uint64_t>(truncate_to_int64(value - kBound)) ^ (std::uint64_t{1} << 63);
    return static_cast<std::uint64_t>(truncate_to_int64(value));
}

/// One element of type From as type To, both storage types or compute types.
/// - to bool: is it != 0 (NaN is);
/// - floating to integer: i64, u32 and, as c10::static_cast_with_inter_type, u8 go through int64_t; i32, i16, u16 and
/// i8
///   through int32_t, whose low bits remain (300.0 -> i8 is 44, NaN is 0); u64 see above;
/// - integer to narrower integer: low bits (two's complement);
/// - to reduced floats (f16, bf16, f8): through float, each time to nearest even, so that doubles and wide integers are
///   rounded twice, as c10::Half(float) does it (65519.999 becomes infinity; see nearest()); what is beyond the range
///   becomes infinity, or NaN where there is none;
/// - complex to anything real, bool too: the real part alone, as c10 converts.
template <class To, class From>
To cast_element(From value) {
    if constexpr (std::is_same_v<To, From>)
        return value;
    else if constexpr (is_complex_type<From> && is_complex_type<To>)
        return To(value);
    else if constexpr (is_complex_type<From>)
        return cast_element<To>(value.real());
    else if constexpr (is_complex_type<To>)
        return To(cast_element<typename To::value_type>(value));
    else if constexpr (is_reduced_type<From>)
        return cast_element<To>(static_cast<float>(value));
    else if constexpr (is_reduced_type<To>)
        return static_cast<To>(static_cast<float>(value));
    else if constexpr (std::is_same_v<To, bool>)
        return value != From(0);
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        if constexpr (std::is_same_v<To, std::uint64_t>)
            return truncate_to_uint64(static_cast<double>(value));
        else if constexpr (std::is_same_v<To, std::int64_t> || std::is_same_v<To, std::uint32_t> ||
                           std::is_same_v<To, std::uint8_t>)
            return static_cast<To>(truncate_to_int64(static_cast<double>(value)));
        else
            return static_cast<To>(truncate_to_int32(static_cast<double>(value)));
    } else
        return static_cast<To>(value);
}

/// The number rounded to float "to odd": itself where it is a float, else that of its two neighbors whose last bit
/// is 1. To round it again, to 22 bits or fewer, is as good as rounding the number once: Boldo and Melquiond,
/// "Emulation of FMA and Correctly Rounded Sums", 2008.
inline float round_to_odd(double value) {
    const auto near = static_cast<float>(value);
    if (std::isnan(value) || static_cast<double>(near) == value) return near;
    const bool beyond = std::fabs(static_cast<double>(near)) > std::fabs(value);
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(near) - beyond) | 1);
}

/// The element of type To that is nearest to the number, rounded once, as IEEE 754 and NumPy convert.
template <class To>
To nearest(double value) {
    if constexpr (is_reduced_type<To>)
        return static_cast<To>(round_to_odd(value));
    else
        return cast_element<To>(value);
}

}  // namespace whittle
