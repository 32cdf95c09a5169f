// Element types that files have and DType does not: their data are kept as a file has them, and nobody here computes
// with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace whittle {

struct OpaqueType {
    std::string_view name;  ///< in printed graphs and JSON
    int onnx;               ///< TensorProto.DataType
    std::string_view onnx_name;
    int bits;     ///< of one element; 0: they differ in length
    int pt2 = 0;  ///< ScalarType of .pt2 files; 0: they have none
};

/// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
/// https://github.com/pytorch/pytorch/blob/main/torch/_export/serde/schema.py
inline constexpr OpaqueType kOpaqueTypes[] = {
    {"string", 8, "STRING", 0},
    {"f8_e4m3fnuz", 18, "FLOAT8E4M3FNUZ", 8, 31},
    {"f8_e5m2fnuz", 20, "FLOAT8E5M2FNUZ", 8, 32},
    {"u4", 21, "UINT4", 4},
    {"i4", 22, "INT4", 4},
    {"f4_e2m1", 23, "FLOAT4E2M1", 4},
    {"f8_e8m0", 24, "FLOAT8E8M0", 8, 33},
    {"u2", 25, "UINT2", 2},
    {"i2", 26, "INT2", 2},
};

constexpr std::optional<OpaqueType> opaque_type_from_onnx(int code) {
    for (const OpaqueType& type : kOpaqueTypes)
        if (type.onnx == code) return type;
    return std::nullopt;
}
constexpr std::optional<OpaqueType> opaque_type_from_pt2(std::int64_t code) {
    for (const OpaqueType& type : kOpaqueTypes)
        if (type.pt2 == code && code != 0) return type;
    return std::nullopt;
}
constexpr std::optional<OpaqueType> opaque_type_from_name(std::string_view name) {
    for (const OpaqueType& type : kOpaqueTypes)
        if (type.name == name) return type;
    return std::nullopt;
}

}  // namespace whittle
