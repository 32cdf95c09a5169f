#include "tensor/complex.h"

#include <algorithm>

#include "base/error.h"

namespace whittle {

Tensor part_of(const Tensor& tensor, int part) {
    WHITTLE_CHECK(is_complex(tensor.dtype()) && (part == 0 || part == 1), "a part of a real tensor");
    Strides strides = tensor.strides();
    for (std::int64_t& stride : strides) stride *= 2;
    return Tensor(tensor.storage(), real_of(tensor.dtype()), tensor.sizes(), std::move(strides),
                  2 * tensor.offset() + (tensor.numel() ? part : 0))
        .with_requires_grad(tensor.requires_grad());
}

Tensor as_real(const Tensor& tensor) {
    const Tensor real = part_of(tensor, 0);
    Sizes sizes = tensor.sizes();
    Strides strides = real.strides();
    sizes.push_back(2);
    strides.push_back(1);
    return real.as_strided(std::move(sizes), std::move(strides), real.offset());
}

Tensor as_complex(const Tensor& parts) {
    const DType dtype = complex_of(parts.dtype());
    if (parts.rank() == 0 || parts.sizes().back() != 2)
        throw Error("found real and imaginary parts of sizes " + to_string(parts.sizes()) +
                    ", expected a last dimension of size 2");
    const bool odd = std::any_of(parts.strides().begin(), parts.strides().end() - 1,
                                 [](std::int64_t stride) { return stride % 2 != 0; });
    if (parts.strides().back() != 1 || odd || parts.offset() % 2 != 0)
        throw Error("found real and imaginary parts with strides " + to_string(parts.strides()) + " from element " +
                        std::to_string(parts.offset()) + ", expected adjacent real and imaginary parts at even offsets",
                    "call contiguous() first");
    const Sizes sizes(parts.sizes().begin(), parts.sizes().end() - 1);
    Strides strides(parts.strides().begin(), parts.strides().end() - 1);
    for (std::int64_t& stride : strides) stride /= 2;
    return Tensor(parts.storage(), dtype, sizes, std::move(strides), parts.offset() / 2)
        .with_requires_grad(parts.requires_grad());
}

}  // namespace whittle
