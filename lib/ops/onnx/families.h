// The families of the ONNX dialect, see ops/aten/families.h.
#pragma once

#include <span>

#include "ops/core/op.h"

namespace whittle {

#define WHITTLE_FAMILY(dialect, name) std::span<const OpDef> name##_ops();
#include "ops/onnx/families.def"
#undef WHITTLE_FAMILY

}  // namespace whittle
