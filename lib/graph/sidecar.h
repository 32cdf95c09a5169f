// A JSON file and the tensors beside it, written so that both appear together or neither does: a process that is killed
// in between leaves what was there before. Used by everything that writes tensors beside JSON.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "tensor/tensor.h"

namespace whittle {

/// The file beside `path` that its JSON names as its tensors; empty when there is none. Only the head is read, where
/// Whittle writes that member.
std::filesystem::path sidecar_named_in(const std::filesystem::path& path);

/// Writes `tensors`, keyed by content hash, to NAME.safetensors beside `path` (NAME.json), then the JSON: `text` is
/// given the tensors' file name. Tensors that the JSON of before refers to are never written over: others then go to
/// NAME.2.safetensors, and the old file is removed once the new JSON is there; the same go where they were. So they do
/// when NAME.safetensors is not Whittle's, or another JSON in the folder names it. Throws Error.
void save_with_tensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::function<std::string(const std::string& sidecar)>& text);

}  // namespace whittle
