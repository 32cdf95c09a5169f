#include "tensor/dtype.h"

#include "base/error.h"

namespace whittle {

std::optional<DType> dtype_from_onnx(std::int64_t code) {
    for (const DType dtype : kAllDTypes)
        if (info_of(dtype).onnx == code) return dtype;
    return std::nullopt;
}

std::optional<DType> dtype_from_aten(std::int64_t code) {
    for (const DType dtype : kAllDTypes)
        if (info_of(dtype).aten == code) return dtype;
    return std::nullopt;
}

std::string dtype_names(std::string_view DTypeInfo::*member) {
    std::string text, last;
    for (const DType dtype : kAllDTypes) {
        const std::string_view name = info_of(dtype).*member;
        if (name.empty()) continue;
        if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
        last = name;
    }
    return text + " or " + last;
}

DType complex_of(DType dtype) {
    if (dtype == DType::f64 || dtype == DType::c128) return DType::c128;
    if (dtype == DType::f32 || dtype == DType::c64) return DType::c64;
    throw Error("found dtype " + std::string(name(dtype)) + " for the parts of complex numbers, expected f32 or f64");
}

// The table of c10/core/ScalarType.cpp follows from six rules.
DType promote(DType a, DType b) {
    if (a == b) return a;
    if (is_complex(a) || is_complex(b))
        return real_of(a) == DType::f64 || real_of(b) == DType::f64 ? DType::c128 : DType::c64;
    const auto limited = [](DType dtype) { return info_of(dtype).use == DTypeInfo::Use::limited; };
    if ((limited(a) || limited(b)) && !is_floating(a) && !is_floating(b))
        throw Error("found operands of dtypes " + std::string(name(a)) + " and " + std::string(name(b)) +
                        ", expected equal dtypes",
                    "convert one operand: u16, u32 and u64 promote only to floating-point dtypes");
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
