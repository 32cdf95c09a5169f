// Is a difference more than rounding? Beside what compare.h says of whole results.
#pragma once

#include "tensor/compare.h"

namespace whittle {

/// The rule of Accuracy::Mode::fp64 for the elements alone that are not close, of `got` and `expected` that compare()
/// has accepted by it: large ones elsewhere do not pay for them. `exact`: the same computation in f64.
bool rounds_where_it_differs(const Tensor& got, const Tensor& expected, const Tensor& exact, const Accuracy& accuracy);

}  // namespace whittle
