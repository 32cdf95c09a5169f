// Samples of lib/ops/aten/grid_sample_grad.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples grid_backward_samples(DType dtype, std::size_t rank) {
    Samples result;
    Sizes grads = {2, 2}, image = {2, 2}, grid = {2};
    for (std::size_t d = 0; d < rank; ++d) {
        grads.push_back(3 + static_cast<std::int64_t>(d) % 2);
        image.push_back(2 + static_cast<std::int64_t>(d));
        grid.push_back(grads.back());
    }
    grid.push_back(static_cast<std::int64_t>(rank));
    const Tensor grad = random(dtype, grads), input = random(dtype, image, 2);
    const Tensor places = uniform(dtype, grid, -1.9, 1.9, 7);
    const auto add = [&](const std::string& label, const std::vector<Tensor>& tensors, int mode, int padding,
                         bool align, bool of_image = true) {
        result.push_back(
            {label, tensors, {t(0), t(1), t(2), mode, padding, align, Arg(ArgList{Arg(of_image), Arg(true)})}});
    };
    for (const int mode : {0, 1, 2}) {
        if (mode == 2 && rank == 3) continue;
        for (const int padding : {0, 1, 2})
            for (const bool align : {false, true}) {
                if (mode == 2 && align != (padding == 1)) continue;  // 16 pixels each: Halide takes its time
                add(std::to_string(mode) + ", padding " + std::to_string(padding) + (align ? ", corners aligned" : ""),
                    {grad, input, places}, mode, padding, align);
            }
    }
    add("of the grid only", {grad, input, places}, 0, 0, false, false);
    add("transposed", {transposed(grad), transposed(input), transposed(places)}, 0, 0, false);
    add("one number", {expanded(random(dtype, {}), grads), input, places}, 0, 1, false);
    return result;
}

}  // namespace

Table grid_backward_table() {
    return {{{"aten.grid_sampler_2d_backward.default"}, [](DType dtype) { return grid_backward_samples(dtype, 2); }},
            {{"aten.grid_sampler_3d_backward.default"}, [](DType dtype) { return grid_backward_samples(dtype, 3); }}};
}

}  // namespace whittle::samples
