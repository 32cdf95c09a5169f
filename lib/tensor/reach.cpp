#include "tensor/reach.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace whittle {

std::optional<Reach> reach(const Sizes& sizes, const Strides& strides) {
    Reach reached;
    if (element_count(sizes) == 0) return reached;
    std::int64_t count = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        std::int64_t span = 0;
        if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &span)) return std::nullopt;
        std::int64_t& end = span < 0 ? reached.first : reached.last;
        if (__builtin_add_overflow(end, span, &end)) return std::nullopt;
    }
    if (__builtin_sub_overflow(reached.last, reached.first, &count) || __builtin_add_overflow(count, 1, &count))
        return std::nullopt;
    return reached;
}

Tensor laid_out(const Tensor& tensor, const Strides& strides) {
    const std::optional<Reach> reached = reach(tensor.sizes(), strides);
    if (!reached)
        throw Error("found strides " + to_string(strides) + ", expected strides whose offsets fit in 64 bits");
    const std::size_t width = size_of(tensor.dtype());
    Tensor result(Storage::allocate(static_cast<std::size_t>(reached->count()) * width), tensor.dtype(), tensor.sizes(),
                  strides, -reached->first);
    const Tensor source = tensor.contiguous();
    const auto* from = static_cast<const std::byte*>(source.raw());
    auto* to = static_cast<std::byte*>(result.mutable_raw());
    Sizes index(tensor.sizes().size(), 0);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
        std::memcpy(to + at * static_cast<std::int64_t>(width), from + static_cast<std::size_t>(i) * width, width);
        for (std::size_t d = index.size(); d-- > 0 && ++index[d] == tensor.sizes()[d];) index[d] = 0;
    }
    return result.with_requires_grad(tensor.requires_grad());
}

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
