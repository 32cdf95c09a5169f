// Samples of pooling (lib/ops/aten/pool.cpp, pool_average.cpp).
#include <cmath>

#include "ops/samples/aten/shared.h"

namespace whittle::samples {
namespace {

Sizes sample_image_sizes(std::int64_t rank, std::int64_t size) {
    Sizes sizes = {2, 2};
    for (std::int64_t d = 0; d < rank; d++) sizes.push_back(size + (d + 1) % 2);
    return sizes;
}

}  // namespace

Samples pooling_samples(DType dtype, std::int64_t rank) {
    Samples result;
    const Sizes sizes = sample_image_sizes(rank, 5);
    const auto add = [&](const std::string& label, const Tensor& image, std::int64_t kernel, ArgList stride,
                         std::int64_t padding, bool ceil) {
        result.push_back(call_of(label, {image, ArgList{kernel}, stride, ArgList{padding}, ceil}));
    };
    const Tensor image = random(dtype, sizes);
    add("default stride", image, 2, {}, 0, false);
    add("overlapping", image, 3, {1}, 0, false);
    add("gaps", image, 1, {2}, 0, false);
    add("padded", image, 3, {2}, 1, false);
    add("ceil", image, 2, {2}, 0, true);
    add("ceil padded", image, 3, {2}, 1, true);
    add("ceil, last window dropped", image, 2, {3}, 1, true);
    add("whole image", random(dtype, sample_image_sizes(rank, 2)), 2, {}, 0, false);
    add("unbatched", random(dtype, Sizes(sizes.begin() + 1, sizes.end())), 2, {1}, 1, false);
    for (const auto& [label, tensor] : layouts(image)) add(label, tensor, 2, {2}, 1, true);
    add("equal elements", expanded(scalar(dtype, 3), sizes), 3, {2}, 1, false);
    Sizes none = sizes;
    none[0] = 0;
    add("empty batch", random(dtype, none), 2, {}, 0, false);
    Sizes line = {1, 1};
    line.resize(static_cast<std::size_t>(rank) + 1, 1);
    const Tensor special = samples::special(dtype);
    line.push_back(special.numel());
    Sizes along(static_cast<std::size_t>(rank), 1);
    along.back() = 2;
    const Tensor row = special.as_strided(line, contiguous_strides(line), special.offset());
    result.push_back(call_of("special", {row, Arg::ints(along), ArgList{1}, ArgList{0}, false}));
    if (is_floating(dtype)) add("all -inf", expanded(scalar(dtype, -INFINITY), sizes), 3, {2}, 1, true);
    return result;
}

Samples adaptive_samples(DType dtype, std::int64_t rank) {
    Samples result;
    const Tensor image = random(dtype, sample_image_sizes(rank, 5));
    const auto add = [&](const std::string& label, const Tensor& tensor, std::int64_t size) {
        result.push_back(call_of(label, {tensor, Arg::ints(Sizes(static_cast<std::size_t>(rank), size))}));
    };
    add("one", image, 1);
    add("uneven", image, 3);
    add("larger than the image", image, 7);
    add("halves", random(dtype, Sizes(static_cast<std::size_t>(rank) + 1, 6)), 3);
    add("nothing wanted", image, 0);
    for (const auto& [label, tensor] : layouts(image)) add(label, tensor, 2);
    return result;
}

}  // namespace whittle::samples
