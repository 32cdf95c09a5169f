// Which version of an op a model means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace whittle {

/// The number under which onnx Changelog.md has the op of ai.onnx at this opset: 11 for Softmax at opset 12. Nothing
/// where there is no such op. Since opset 18: of the last change of operands or attributes.
std::optional<int> schema_version(const std::string& op_type, std::int64_t opset);

}  // namespace whittle
