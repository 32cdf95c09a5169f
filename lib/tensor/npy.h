// NumPy's .npy files, read for `--input NAME=FILE`.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "tensor/tensor.h"

namespace whittle {

/// The array of a version 1, 2 or 3 file as a view of its mapping (copied when its data is not aligned to the element
/// size); Fortran order becomes column-major strides. Little-endian f8 f4 f2 i8 i4 i2 i1 u1 b1 are read. Throws Error
/// naming file and byte offset for anything else: other dtypes, structured arrays, objects, truncated or surplus data.
Tensor load_npy(const std::filesystem::path& path);
/// The same of a file's bytes, which `owner` keeps alive; `file` is what errors call it.
Tensor read_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, const std::string& file);

}  // namespace whittle
