#include "ops/samples/samples.h"

#include <utility>

#include "ops/core/elements.h"
#include "tensor/random.h"

namespace whittle::samples {

Tensor mixed(DType dtype, const Sizes& sizes) {
    Tensor result = ramp(dtype, sizes);
    const std::vector<Tensor> corners =
        is_complex(dtype) ? std::vector{special(dtype), not_finite(dtype)} : std::vector{special(dtype)};
    std::int64_t position = 0;
    for (std::int64_t at = 1; at < result.numel(); at += 3, ++position) {
        const Tensor& corner = corners[static_cast<std::size_t>(position) % corners.size()];
        copy_into(result, {}, at, corner.as_strided({}, {}, corner.offset() + position % corner.numel()));
    }
    return result;
}

Samples moved(DType dtype, const std::string& label, const Sizes& sizes, const ArgList& rest) {
    Samples result;
    for (const auto& [layout, tensor] : layouts(mixed(dtype, sizes)))
        result.push_back({.label = label + ", " + layout, .tensors = {tensor}, .args = joined({t(0)}, rest)});
    return result;
}

Sample once(DType dtype, const std::string& label, const Sizes& sizes, const ArgList& rest) {
    return {.label = label, .tensors = {mixed(dtype, sizes)}, .args = joined({t(0)}, rest)};
}

Sample scattered(const std::string& label, std::vector<Tensor> tensors, std::int64_t dim, const ArgList& rest) {
    return {.label = label, .tensors = std::move(tensors), .args = joined({t(0), dim, t(1)}, rest)};
}

Tensor indices(const Sizes& sizes, std::int64_t bound, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(sizes)));
    for (std::int64_t& value : values) value = random.below(bound);
    return Tensor::of(values, sizes);
}

}  // namespace whittle::samples
