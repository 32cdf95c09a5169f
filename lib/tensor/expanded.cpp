#include "tensor/expanded.h"

#include <algorithm>

namespace whittle {

Tensor unexpanded(const Tensor& tensor) {
    Sizes sizes = tensor.sizes();
    Strides strides = tensor.strides();
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (strides[d] == 0) sizes[d] = std::min<std::int64_t>(sizes[d], 1);
    if (sizes == tensor.sizes()) return tensor;
    const Strides dense = contiguous_strides(sizes);
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (sizes[d] == 1) strides[d] = dense[d];
    return tensor.as_strided(sizes, strides, tensor.offset());
}

}  // namespace whittle
