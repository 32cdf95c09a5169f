// An ONNX file in another folder, with everything that belongs to it. Entry point: copy_onnx().
#pragma once

#include <filesystem>

namespace whittle {

/// Copies the model `from` byte by byte to `to`, and the files that its tensors lie in (external data) beside it, by
/// the relative paths that the model has for them. Throws Error when one cannot be read or written, lies outside the
/// model's folder, or `from` is no ONNX model.
void copy_onnx(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace whittle
