// Loops over the elements of strided memory: one odometer for every copy and conversion. Internal to lib/tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tensor/dtype.h"

namespace whittle::detail {

/// Converts `count` elements of `from`, `stride` elements apart, to consecutive elements of `to`.
using ConvertRow = void (*)(const void* from, std::int64_t stride, void* to, std::int64_t count);

/// The loop for two dtypes. Bools are read as bytes, so that a hostile 2 is true and not undefined.
ConvertRow convert_row(DType from, DType to);

/// Converts the elements at `base` (sizes and strides in elements) to consecutive elements at `to`, row-major. Merges
/// dimensions that are contiguous in each other first, so that rows are as long as can be.
void convert_strided(const void* base, DType from, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> strides, void* to, DType to_dtype);

}  // namespace whittle::detail
