// Gradient rules of what moves elements: views, casts, joins, pads and their like.
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

/// The gradient of elements of a tensor of sizes `sizes`, added up where they came from: `positions` has an i64 for
/// each element of `grad`, which may be negative, among the tensor's elements in row-major order.
V add_at(const V& grad, const V& positions, const Sizes& sizes);

// Of one tensor, seen otherwise (view_grad.cpp). What is broadcast or converted is summed or converted by being set.
GradFormula restore_grad;  ///< other sizes: reshaped back
GradFormula permute_grad, transpose_grad, movedim_grad, t_grad, unsqueeze_grad, squeeze_grad;
GradFormula select_grad, slice_grad, narrow_grad, unfold_grad;
GradFormula unbind_grad, split_grad, diagonal_grad;
GradRule copy_grad;

// Rearranged, joined, overwritten (rearrange_grad.cpp).
GradFormula flip_grad, roll_grad, repeat_grad, constant_pad_grad, border_pad_grad;
GradFormula tril_grad, triu_grad;
GradRule cat_grad, stack_grad, select_scatter_grad, slice_scatter_grad;

}  // namespace whittle
