#include "reduce/reductions/fill.h"

#include <cstring>

namespace whittle::reduce {

Tensor filled(DType dtype, const Sizes& sizes, const Scalar& value) {
    return Tensor::of(value, dtype).as_strided(sizes, Strides(sizes.size(), 0), 0).clone();
}

bool is_filled(const Tensor& tensor) {
    const Tensor contiguous = tensor.contiguous();
    const auto bytes = contiguous.contiguous_bytes();
    const std::size_t width = size_of(tensor.dtype());
    return bytes.size() <= width || std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

}  // namespace whittle::reduce
