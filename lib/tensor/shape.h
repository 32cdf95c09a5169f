// Sizes and strides: element counts, contiguity, broadcasting. Strides count elements, not bytes, and may be 0 or
// negative.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace whittle {

using Sizes = std::vector<std::int64_t>;
using Strides = std::vector<std::int64_t>;

/// Product of the sizes; 1 for a 0-d tensor. Throws Error when it does not fit 63 bits or a size is negative.
std::int64_t element_count(std::span<const std::int64_t> sizes);

/// Row-major strides. A dimension of size 0 counts as 1, as in ATen.
Strides contiguous_strides(std::span<const std::int64_t> sizes);

bool is_contiguous(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);

/// ATen's broadcasting of two shapes. Throws Error naming both shapes and the dimension that does not match.
Sizes broadcast_sizes(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

/// Strides of a tensor seen under the broadcast sizes `to`: 0 in expanded dimensions. `to` must be reachable from
/// `sizes`.
Strides broadcast_strides(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides,
                          std::span<const std::int64_t> to);

/// Maps -rank..rank-1 to 0..rank-1 (a 0-d tensor is wrapped as rank 1). Throws Error naming the range.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);
inline std::int64_t wrap_dim(std::int64_t dim, const Sizes& sizes) {
    return wrap_dim(dim, static_cast<std::int64_t>(sizes.size()));
}

/// "[2, 3]".
std::string to_string(std::span<const std::int64_t> values);

}  // namespace whittle
