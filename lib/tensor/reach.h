// How far sizes and strides reach in memory, and tensors laid out under strides of one's choice.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/tensor.h"

namespace whittle {

/// The lowest and the highest element that are reached, counted from the one at index 0.
struct Reach {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first + 1; }
};

/// Of at least one element; {0, 0} where there is none. Nothing when the elements do not fit 64 bits.
std::optional<Reach> reach(const Sizes& sizes, const Strides& strides);

/// The same elements under these strides, in memory of their own that holds them from its first element on. Throws
/// Error when that memory is too large.
Tensor laid_out(const Tensor& tensor, const Strides& strides);

/// Each dimension of stride 0 cut to size 1: expand() to the tensor's sizes gives the tensor again. The tensor itself
/// where it has none.
Tensor unexpanded(const Tensor& tensor);

}  // namespace whittle
