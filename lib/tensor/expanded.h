// What expand() makes: tensors that show an element in many places by strides of 0, and that nobody can write to.
#pragma once

#include "tensor/tensor.h"

namespace whittle {

/// Each dimension of stride 0 cut to size 1: expand() to the tensor's sizes gives the tensor again. The tensor itself
/// where it has none.
Tensor unexpanded(const Tensor& tensor);

}  // namespace whittle
