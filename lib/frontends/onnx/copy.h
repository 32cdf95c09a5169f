// An ONNX file in another folder, with everything that belongs to it. Entry point: copy_onnx().
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace whittle {

class SharedWeights;

/// The files of external data that a model names, by the relative paths that it has for them. Throws Error when it is
/// no ONNX model.
std::set<std::string> external_files(const std::filesystem::path& model);

/// Copies the model `from` byte by byte to `to`, and the files that its tensors lie in (external data) beside it, by
/// the relative paths that the model has for them. Throws Error when one cannot be read or written, lies outside the
/// model's folder, or `from` is no ONNX model. `shared`: the external data are copied into its folder, once.
void copy_onnx(const std::filesystem::path& from, const std::filesystem::path& to, SharedWeights* shared = nullptr);

}  // namespace whittle
