#include "tensor/dtype.h"

namespace whittle {

std::string_view name(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return "f64";
        case DType::f32:
            return "f32";
        case DType::f16:
            return "f16";
        case DType::bf16:
            return "bf16";
        case DType::i64:
            return "i64";
        case DType::i32:
            return "i32";
        case DType::i16:
            return "i16";
        case DType::i8:
            return "i8";
        case DType::u8:
            return "u8";
        case DType::boolean:
            return "bool";
    }
    __builtin_unreachable();
}

std::optional<DType> dtype_from_name(std::string_view text) {
    for (const DType dtype : kAllDTypes)
        if (name(dtype) == text) return dtype;
    return std::nullopt;
}

std::size_t size_of(DType dtype) {
    return visit_dtype(dtype, [](auto element) { return sizeof(element); });
}

bool is_floating(DType dtype) {
    return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

bool is_integer(DType dtype) { return !is_floating(dtype) && dtype != DType::boolean; }

// The table of c10/core/ScalarType.cpp follows from four rules.
DType promote(DType a, DType b) {
    if (a == b) return a;
    if (a == DType::boolean) return b;
    if (b == DType::boolean) return a;
    if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
    if (is_floating(a)) {
        if (size_of(a) == size_of(b)) return DType::f32;  // f16 with bf16: neither holds the other
        return size_of(a) > size_of(b) ? a : b;
    }
    if (size_of(a) == size_of(b)) return DType::i16;  // u8 with i8
    return size_of(a) > size_of(b) ? a : b;
}

}  // namespace whittle
