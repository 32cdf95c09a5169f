// Element types and what ATen knows about them: names, sizes, categories, promotion.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace whittle {

enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

inline constexpr DType kAllDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                                       DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

using Half = Eigen::half;
using BFloat16 = Eigen::bfloat16;

/// "f64" "f32" "f16" "bf16" "i64" "i32" "i16" "i8" "u8" "bool": in printed graphs, JSON and messages.
std::string_view name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
/// Bytes of one element.
std::size_t size_of(DType dtype);

bool is_floating(DType dtype);
/// Integers, without bool.
bool is_integer(DType dtype);

/// ATen's promotion of two dtypes of equal standing (c10::promoteTypes).
DType promote(DType a, DType b);

template <class T>
inline constexpr DType dtype_of = [] {
    if constexpr (std::is_same_v<T, double>)
        return DType::f64;
    else if constexpr (std::is_same_v<T, float>)
        return DType::f32;
    else if constexpr (std::is_same_v<T, Half>)
        return DType::f16;
    else if constexpr (std::is_same_v<T, BFloat16>)
        return DType::bf16;
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return DType::i64;
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return DType::i32;
    else if constexpr (std::is_same_v<T, std::int16_t>)
        return DType::i16;
    else if constexpr (std::is_same_v<T, std::int8_t>)
        return DType::i8;
    else if constexpr (std::is_same_v<T, std::uint8_t>)
        return DType::u8;
    else {
        static_assert(std::is_same_v<T, bool>, "not an element type");
        return DType::boolean;
    }
}();

/// Calls f(T{}) with the C++ type of `dtype`. For loops over memory; arithmetic belongs in the four compute types of
/// tensor/compute.h.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
    switch (dtype) {
        case DType::f64:
            return f(double{});
        case DType::f32:
            return f(float{});
        case DType::f16:
            return f(Half{});
        case DType::bf16:
            return f(BFloat16{});
        case DType::i64:
            return f(std::int64_t{});
        case DType::i32:
            return f(std::int32_t{});
        case DType::i16:
            return f(std::int16_t{});
        case DType::i8:
            return f(std::int8_t{});
        case DType::u8:
            return f(std::uint8_t{});
        case DType::boolean:
            return f(bool{});
    }
    __builtin_unreachable();
}

}  // namespace whittle
