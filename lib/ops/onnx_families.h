// The ONNX dialect's families, one file each; onnx.cpp concatenates them. Definitions of all ops:
// https://github.com/onnx/onnx/blob/main/docs/Operators.md and, for each opset, docs/Changelog.md.
#pragma once

#include <span>

#include "ops/op.h"

namespace whittle {

std::span<const OpDef> onnx_control_ops();  ///< If, Loop, Scan

}  // namespace whittle
