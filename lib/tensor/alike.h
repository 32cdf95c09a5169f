// Tensors whose elements are all the same: what is written about them is one number.
#pragma once

#include "tensor/tensor.h"

namespace whittle {

/// Whether all elements have the same bits; also where there is none.
bool all_alike(const Tensor& tensor);

}  // namespace whittle
