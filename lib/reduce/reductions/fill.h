// Tensors that are simple to write down.
#pragma once

#include "tensor/tensor.h"

namespace whittle::reduce {

/// Every element is `value`.
Tensor filled(DType dtype, const Sizes& sizes, const Scalar& value);

}  // namespace whittle::reduce
