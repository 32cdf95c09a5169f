// Complex tensors seen as their parts, and back: views, as std::complex lies in memory as two numbers.
#pragma once

#include "tensor/tensor.h"

namespace whittle {

/// The real and the imaginary parts of a complex tensor: f32 or f64, its memory, with a last dimension of 2.
Tensor as_real(const Tensor& tensor);

/// The complex numbers of parts that lie as as_real() gives them. Throws Error for another dtype than f32 or f64, and
/// where the last dimension is not 2, side by side, or another stride or the place of the first element is odd.
Tensor as_complex(const Tensor& parts);

/// The real parts alone (part 0), or the imaginary ones (part 1): a view.
Tensor part_of(const Tensor& tensor, int part);

}  // namespace whittle
