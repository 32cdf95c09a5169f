// What the standard says of ops since opset 18, which Debian's libonnx does not know yet: those whose operands or
// attributes are new. Internal.
#pragma once

#include <cstdint>
#include <string>

#include <onnx/defs/schema.h>

namespace whittle::onnx_proto {

/// The newest one of ai.onnx up to this opset; nullptr where libonnx's own is as new.
const onnx::OpSchema* later_schema(const std::string& op_type, std::int64_t opset);

}  // namespace whittle::onnx_proto
