// Element types and all that Whittle knows about them, in one table; and what ATen knows: categories, promotion.
//
// A new dtype is a row of WHITTLE_DTYPES, its C++ type when that is new (conversions from and to float, and
// std::numeric_limits), and what strangers spell by hand: backends/plugin/whittle_backend.h, api/types.h, share/schema.
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

#include "tensor/float8.h"
#include "tensor/half.h"

namespace whittle {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

/// One row per dtype, in the order of the enumeration, which is also that of the plug-in interface and of the API:
///   dtype, name, C++ type, category, what ops do with it, safetensors, onnx code, onnx name, ATen code, ATen name,
///   npy descr, Halide type, C++ type in generated code, default rtol, default atol
/// Sources: https://huggingface.co/docs/safetensors, onnx.proto TensorProto.DataType, c10/core/ScalarType.h,
/// https://numpy.org/doc/stable/reference/arrays.dtypes.html. An empty text: there is none.
#define WHITTLE_DTYPES(X)                                                                                              \
    X(f64, "f64", double, floating, computed, "F64", 11, "DOUBLE", 7, "Double", "<f8", "Float(64)", "double", 1e-7,    \
      1e-9)                                                                                                            \
    X(f32, "f32", float, floating, computed, "F32", 1, "FLOAT", 6, "Float", "<f4", "Float(32)", "float", 1e-4, 1e-5)   \
    X(f16, "f16", Half, floating, computed, "F16", 10, "FLOAT16", 5, "Half", "<f2", "Float(16)", "half", 1e-2, 1e-3)   \
    X(bf16, "bf16", BFloat16, floating, computed, "BF16", 16, "BFLOAT16", 15, "BFloat16", "", "BFloat(16)", "bfloat",  \
      2e-2, 1e-2)                                                                                                      \
    X(i64, "i64", std::int64_t, integer, computed, "I64", 7, "INT64", 4, "Long", "<i8", "Int(64)", "int64_t", 0, 0)    \
    X(i32, "i32", std::int32_t, integer, computed, "I32", 6, "INT32", 3, "Int", "<i4", "Int(32)", "int", 0, 0)         \
    X(i16, "i16", std::int16_t, integer, computed, "I16", 5, "INT16", 2, "Short", "<i2", "Int(16)", "int16_t", 0, 0)   \
    X(i8, "i8", std::int8_t, integer, computed, "I8", 3, "INT8", 1, "Char", "|i1", "Int(8)", "int8_t", 0, 0)           \
    X(u8, "u8", std::uint8_t, integer, computed, "U8", 2, "UINT8", 0, "Byte", "|u1", "UInt(8)", "uint8_t", 0, 0)       \
    X(boolean, "bool", bool, boolean, computed, "BOOL", 9, "BOOL", 11, "Bool", "|b1", "Bool()", "bool", 0, 0)          \
    X(f8_e4m3fn, "f8_e4m3fn", Float8E4M3FN, floating, stored, "F8_E4M3", 17, "FLOAT8E4M3FN", 24, "Float8_e4m3fn", "",  \
      "", "float8_e4m3fn", 0.125, 0.002)                                                                               \
    X(u16, "u16", std::uint16_t, integer, limited, "U16", 4, "UINT16", 27, "UInt16", "<u2", "UInt(16)", "uint16_t", 0, \
      0)                                                                                                               \
    X(u32, "u32", std::uint32_t, integer, limited, "U32", 12, "UINT32", 28, "UInt32", "<u4", "UInt(32)", "uint32_t",   \
      0, 0)                                                                                                            \
    X(u64, "u64", std::uint64_t, integer, limited, "U64", 13, "UINT64", 29, "UInt64", "<u8", "UInt(64)", "uint64_t",   \
      0, 0)                                                                                                            \
    X(c64, "c64", Complex64, complex, computed, "C64", 14, "COMPLEX64", 9, "ComplexFloat", "<c8", "",                  \
      "std::complex<float>", 1e-4, 1e-5)                                                                               \
    X(c128, "c128", Complex128, complex, computed, "", 15, "COMPLEX128", 10, "ComplexDouble", "<c16", "",              \
      "std::complex<double>", 1e-7, 1e-9)

enum class DType : std::uint8_t {
#define WHITTLE_ROW(dtype, ...) dtype,
    WHITTLE_DTYPES(WHITTLE_ROW)
#undef WHITTLE_ROW
};

inline constexpr DType kAllDTypes[] = {
#define WHITTLE_ROW(dtype, ...) DType::dtype,
    WHITTLE_DTYPES(WHITTLE_ROW)
#undef WHITTLE_ROW
};

struct DTypeInfo {
    enum class Category : std::uint8_t { floating, integer, boolean, complex };
    /// `stored`: kept, moved and converted, but no arithmetic is defined on it; `limited`: only by ops that name it, as
    /// PyTorch has it.
    enum class Use : std::uint8_t { computed, stored, limited };

    std::string_view name;  ///< in printed graphs, JSON and messages
    std::size_t size;       ///< bytes of one element
    Category category;
    Use use;
    bool reduced;  ///< a float that converts through f32 and is computed in it
    bool no_sign;  ///< an integer from 0
    std::string_view safetensors;
    int onnx;
    std::string_view onnx_name;
    int aten;
    std::string_view aten_name;
    std::string_view npy;
    std::string_view halide;  ///< as text, without the namespace
    std::string_view cpp;     ///< the type in generated code; a struct of expr/loops_support.h for reduced floats
    double rtol, atol;
};

template <class T>
inline constexpr bool is_complex_type = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
/// Half, BFloat16 …: stored in fewer bits than float, without arithmetic of its own.
template <class T>
inline constexpr bool is_reduced_type = !std::is_arithmetic_v<T> && !is_complex_type<T>;

inline constexpr DTypeInfo kDTypeTable[] = {
#define WHITTLE_ROW(dtype, name, type, category, use, safetensors, onnx, onnx_name, aten, aten_name, npy, halide, cpp, \
                    rtol, atol)                                                                                        \
    {name,                                                                                                             \
     sizeof(type),                                                                                                     \
     DTypeInfo::Category::category,                                                                                    \
     DTypeInfo::Use::use,                                                                                              \
     is_reduced_type<type>,                                                                                            \
     std::is_unsigned_v<type> && !std::is_same_v<type, bool>,                                                          \
     safetensors,                                                                                                      \
     onnx,                                                                                                             \
     onnx_name,                                                                                                        \
     aten,                                                                                                             \
     aten_name,                                                                                                        \
     npy,                                                                                                              \
     halide,                                                                                                           \
     cpp,                                                                                                              \
     rtol,                                                                                                             \
     atol},
    WHITTLE_DTYPES(WHITTLE_ROW)
#undef WHITTLE_ROW
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
#define WHITTLE_ROW(dtype, name, type, ...) \
    if (std::is_same_v<T, type>) return DType::dtype;
    WHITTLE_DTYPES(WHITTLE_ROW)
#undef WHITTLE_ROW
    throw "not an element type";
}
template <class T>
inline constexpr DType dtype_of = dtype_of_type<T>();

/// Calls f(T{}) with the C++ type of `dtype`. For loops over memory; arithmetic belongs in the compute types of
/// tensor/compute.h.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
    switch (dtype) {
#define WHITTLE_ROW(dtype, name, type, ...) \
    case DType::dtype:                      \
        return f(type{});
        WHITTLE_DTYPES(WHITTLE_ROW)
#undef WHITTLE_ROW
    }
    __builtin_unreachable();
}

}  // namespace whittle
