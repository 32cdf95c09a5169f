// Samples of lib/ops/aten/grid_sample.cpp.
#include <cmath>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample sampled(const std::string& label, const Tensor& input, const Tensor& grid, int mode, int padding, bool align) {
    return call_of(label, {input, grid, mode, padding, align});
}

Samples sampled_every_way(const Tensor& input, const Tensor& grid, const std::vector<int>& modes) {
    Samples result;
    for (const int mode : modes)
        for (const int padding : {0, 1, 2})
            for (const bool align : {false, true})
                result.push_back(sampled(
                    std::to_string(mode) + ", padding " + std::to_string(padding) + (align ? ", corners aligned" : ""),
                    input, grid, mode, padding, align));
    return result;
}

Samples sample_grid_sample(DType dtype) {
    const Tensor input = random(dtype, {2, 2, 3, 4}), grid = uniform(dtype, {2, 3, 5, 2}, -1.9, 1.9, 7);
    const Tensor corners = values(dtype, {-1, -1, 1, 1, 1, -1, 0, 0}, {1, 2, 2, 2});
    const Tensor odd = values(dtype, {NAN, 0, INFINITY, 0, 0, -INFINITY, 30, -30}, {1, 2, 2, 2});
    return sampled_every_way(input, grid, {0, 1, 2}) +
           Samples{sampled("corners", random(dtype, {1, 1, 3, 3}), corners, 0, 0, true),
                   sampled("one pixel, reflected", random(dtype, {1, 1, 1, 1}), corners, 0, 2, true),
                   sampled("special, zeros", random(dtype, {1, 1, 3, 3}), odd, 0, 0, false),
                   sampled("special, border", random(dtype, {1, 1, 3, 3}), odd, 0, 1, false),
                   sampled("transposed", transposed(input), transposed(grid), 0, 0, false),
                   sampled("empty batch", random(dtype, {0, 2, 3, 3}), random(dtype, {0, 2, 2, 2}), 0, 0, false)};
}

Samples sample_volume(DType dtype) {
    const Tensor input = random(dtype, {2, 2, 3, 2, 4}), grid = uniform(dtype, {2, 2, 3, 2, 3}, -1.9, 1.9, 7);
    const Tensor corners = values(dtype, {-1, -1, 1, 0.5, 0, 0}, {1, 1, 1, 2, 3});
    const Tensor odd = values(dtype, {INFINITY, 0, 0, 0, -INFINITY, 0, 30, -30, 30}, {1, 1, 3, 1, 3});
    return sampled_every_way(input, grid, {0, 1}) +
           Samples{sampled("one voxel, reflected", random(dtype, {1, 1, 1, 1, 1}), corners, 0, 2, true),
                   sampled("far outside, border", random(dtype, {1, 1, 2, 3, 3}), odd, 0, 1, false),
                   sampled("transposed", transposed(input), transposed(grid), 0, 0, false),
                   sampled("empty batch", random(dtype, {0, 2, 3, 3, 3}), random(dtype, {0, 2, 2, 2, 3}), 0, 0, false)};
}

Samples sample_affine_grid(DType dtype) {
    Samples result;
    for (const bool align : {false, true}) {
        const std::string suffix = align ? ", corners aligned" : "";
        result.push_back(call_of("image" + suffix, {random(dtype, {2, 2, 3}), Arg::ints({2, 1, 3, 4}), align}));
        result.push_back(call_of("volume" + suffix, {random(dtype, {1, 3, 4}), Arg::ints({1, 2, 2, 3, 4}), align}));
        result.push_back(
            call_of("one pixel" + suffix, {transposed(random(dtype, {2, 2, 3})), Arg::ints({2, 1, 1, 2}), align}));
    }
    return result;
}

}  // namespace

Table grid_table() {
    return {{{"aten.grid_sampler_2d.default", "aten.grid_sampler.default"}, sample_grid_sample},
            {{"aten.grid_sampler_3d.default"}, sample_volume},
            {{"aten.affine_grid_generator.default"}, sample_affine_grid}};
}

}  // namespace whittle::samples
