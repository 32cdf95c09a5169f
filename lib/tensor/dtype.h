// Element types and all that Whittle knows about them, from the table dtypes.def; and what ATen knows: categories,
// promotion.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tensor/reduced_floats.h"

namespace whittle {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

enum class DType : std::uint8_t {
#define WHITTLE_DTYPE(dtype, ...) dtype,
#include "tensor/dtypes.def"
};

inline constexpr DType kAllDTypes[] = {
#define WHITTLE_DTYPE(dtype, ...) DType::dtype,
#include "tensor/dtypes.def"
};

struct DTypeInfo {
    enum class Category : std::uint8_t { floating, integer, boolean, complex };
    /// `stored`: kept, moved and converted, but no arithmetic is defined on it; `limited`: only by ops that name it, as
    /// PyTorch has it.
    enum class Use : std::uint8_t { computed, stored, limited };

    std::string_view name;
    std::size_t size;  ///< bytes of one element
    Category category;
    Use use;
    bool reduced;  ///< a float that converts through f32 and is computed in it
    bool no_sign;  ///< an integer from 0
    double rtol, atol;
    std::string_view safetensors;
    int onnx;
    std::string_view onnx_name;
    int aten;
    std::string_view aten_name, torch;
    int pt2;
    std::string_view npy, packed, js, halide, cpp;
};

template <class T>
inline constexpr bool is_complex_type = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
/// Half, BFloat16 …: stored in fewer bits than float, without arithmetic of its own.
template <class T>
inline constexpr bool is_reduced_type = !std::is_arithmetic_v<T> && !is_complex_type<T>;

inline constexpr DTypeInfo kDTypeTable[] = {
#define WHITTLE_DTYPE(dtype, aten, plugin, type, name, category, use, rtol, atol, safetensors, onnx, onnx_name, code, \
                      torch, pt2, npy, packed, js, halide, cpp)                                                       \
    {name,                                                                                                            \
     sizeof(type),                                                                                                    \
     DTypeInfo::Category::category,                                                                                   \
     DTypeInfo::Use::use,                                                                                             \
     is_reduced_type<type>,                                                                                           \
     std::is_unsigned_v<type> && !std::is_same_v<type, bool>,                                                         \
     rtol,                                                                                                            \
     atol,                                                                                                            \
     safetensors,                                                                                                     \
     onnx,                                                                                                            \
     onnx_name,                                                                                                       \
     code,                                                                                                            \
     #aten,                                                                                                           \
     torch,                                                                                                           \
     pt2,                                                                                                             \
     npy,                                                                                                             \
     packed,                                                                                                          \
     js,                                                                                                              \
     halide,                                                                                                          \
     cpp},
#include "tensor/dtypes.def"
};

constexpr const DTypeInfo& info_of(DType dtype) { return kDTypeTable[static_cast<std::size_t>(dtype)]; }

constexpr std::string_view name(DType dtype) { return info_of(dtype).name; }
/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) { return info_of(dtype).size; }
constexpr bool is_floating(DType dtype) { return info_of(dtype).category == DTypeInfo::Category::floating; }
constexpr bool is_complex(DType dtype) { return info_of(dtype).category == DTypeInfo::Category::complex; }
/// Numbers that are rounded: floats, and complex numbers of them.
constexpr bool is_inexact(DType dtype) { return is_floating(dtype) || is_complex(dtype); }
/// Of a complex number's parts; other dtypes are their own.
constexpr DType real_of(DType dtype) {
    return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}
/// The bytes that an element's address is a multiple of.
constexpr std::size_t alignment_of(DType dtype) { return size_of(real_of(dtype)); }
/// Integers, without bool.
constexpr bool is_integer(DType dtype) { return info_of(dtype).category == DTypeInfo::Category::integer; }
/// Integers that have no negative values: u8, u16 …
constexpr bool is_unsigned(DType dtype) { return info_of(dtype).no_sign; }
/// Floats that are stored in fewer bits than what they are computed in, f32.
constexpr bool is_reduced(DType dtype) { return info_of(dtype).reduced; }
/// Whether ops compute on it, all that do so on its category; else it is kept, moved and converted, and what is more is
/// an op's own affair.
constexpr bool is_computed(DType dtype) { return info_of(dtype).use == DTypeInfo::Use::computed; }

/// The dtype whose `member` (of DTypeInfo: name, safetensors, npy, onnx, aten …) is `value`.
template <class T, class V>
constexpr std::optional<DType> dtype_with(T DTypeInfo::*member, const V& value) {
    for (const DType dtype : kAllDTypes)
        if (info_of(dtype).*member == value && value != V{}) return dtype;
    return std::nullopt;
}
inline std::optional<DType> dtype_from_name(std::string_view name) { return dtype_with(&DTypeInfo::name, name); }
std::optional<DType> dtype_from_onnx(std::int64_t code);
std::optional<DType> dtype_from_aten(std::int64_t code);

/// "f64, f32 … or bool", for messages; `member` says whose names. Those without one are left out.
std::string dtype_names(std::string_view DTypeInfo::*member = &DTypeInfo::name);

/// The complex dtype of numbers of a floating one. Throws Error for dtypes of which there is none: f64 and f32 have
/// one.
DType complex_of(DType dtype);

/// ATen's promotion of two dtypes of equal standing (c10::promoteTypes). Throws Error for u16, u32 and u64 with another
/// integer or bool, as PyTorch does: what holds both is not agreed on.
DType promote(DType a, DType b);

template <class T>
constexpr DType dtype_of_type() {
#define WHITTLE_DTYPE(dtype, aten, plugin, type, ...) \
    if (std::is_same_v<T, type>) return DType::dtype;
#include "tensor/dtypes.def"
    throw "not an element type";
}
template <class T>
inline constexpr DType dtype_of = dtype_of_type<T>();

/// Calls f(T{}) with the C++ type of `dtype`. For loops over memory; arithmetic belongs in the compute types of
/// tensor/compute.h.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
    switch (dtype) {
#define WHITTLE_DTYPE(dtype, aten, plugin, type, ...) \
    case DType::dtype:                                \
        return f(type{});
#include "tensor/dtypes.def"
    }
    __builtin_unreachable();
}

}  // namespace whittle
