#include "reduce/reductions/fill.h"

namespace whittle::reduce {

Tensor filled(DType dtype, const Sizes& sizes, const Scalar& value) {
    return Tensor::of(value, dtype).as_strided(sizes, Strides(sizes.size(), 0), 0).clone();
}

}  // namespace whittle::reduce
