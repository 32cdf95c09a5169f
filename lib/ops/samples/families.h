// The samples of each family of ops (ops/aten/families.def): X_table() lists those of X_ops(). Samples of an op of
// lib/ops/aten/FAMILY.cpp lie in aten/FAMILY.cpp, those of one of lib/ops/onnx/FAMILY.cpp in onnx/FAMILY.cpp; table.cpp
// concatenates the tables.
#pragma once

#include <string_view>
#include <vector>

#include "ops/samples/samples.h"

namespace whittle::samples {

/// For one dtype that the op takes, corner cases included.
using SamplesFn = Samples (*)(DType dtype);

/// The ops ("aten.relu.default", "onnx.Relu") that these are the samples of.
struct OpSamples {
    std::vector<std::string_view> ops;
    SamplesFn samples;
};
using Table = std::vector<OpSamples>;
using FamilyTable = Table();

#define WHITTLE_FAMILY(dialect, name) FamilyTable name##_table;
#include "ops/aten/families.def"
#include "ops/onnx/families.def"
#undef WHITTLE_FAMILY

}  // namespace whittle::samples
