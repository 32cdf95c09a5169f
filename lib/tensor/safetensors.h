// safetensors files: a header of JSON, then the bytes of named tensors. Read by mapping, written atomically.
// Format: https://huggingface.co/docs/safetensors/index#format
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tensor/tensor.h"

namespace whittle {

/// All tensors of the file as views of its mapping: nothing is copied, except data that its writer did not align to the
/// element size. Metadata is skipped. Throws Error naming file and byte offset or
/// header key for truncated, oversized, overlapping or malformed contents.
std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& path);

/// Writes the tensors (made contiguous), data in order of falling element size, then name: equal maps give equal files.
/// Throws Error.
void save_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors);

}  // namespace whittle
