// Writing through a view, functionally: the base with the view's elements replaced.
#pragma once

#include "ops/core/builder.h"
#include "tensor/tensor.h"

namespace whittle {

/// `base` with the elements that a view shows replaced by `value`, which has the view's dtype and sizes. `shown` is
/// what the view makes of the row-major numbering of the base's elements: i64 0 … numel-1 in the base's sizes; its
/// geometry decides how the write is told: as a permutation, a slice, or element by element. Throws Error when an
/// element is shown twice, as in expanded tensors: ATen refuses to write to those.
V write_through(GraphBuilder& builder, const V& base, const Tensor& shown, const V& value);

}  // namespace whittle
