// Samples of lib/ops/aten/fake_quantize.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

Samples per_tensor_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4});
    const Tensor halves = values(dtype, {-1.25, -0.75, -0.25, 0, 0.25, 0.75, 1.25, 100, -100});
    return {call_of("plain", {x, 0.1, 0, -128, 127}),
            call_of("limited", {x, 0.25, 3, 0, 7}),
            call_of("halves", {halves, 0.5, 0, -128, 127}),
            call_of("not finite", {values(dtype, {kNaN, kInf, -kInf}), 0.1, 0, -128, 127}),
            call_of("transposed", {transposed(x), 0.3, 10, 0, 255}),
            call_of("0-d", {scalar(dtype, 0.7), 0.3, 0, 0, 255}),
            call_of("empty", {random(dtype, {0, 3}), 0.3, 0, 0, 255})};
}
Samples per_channel_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), scale = values(DType::f32, {0.1, 0.25, 0.3}),
                 zero = values(DType::i32, {0, 2, 5});
    const Tensor wide = values(DType::f32, {0.1, 0.25, 0.3, 1}), none = values(DType::i32, {0, 0, 0, 0});
    return {call_of("rows", {x, scale, zero, 0, 0, 7}),
            call_of("rows, zero points between levels", {x, scale, values(DType::f32, {0.5, 2.25, 5.75}), 0, 0, 7}),
            call_of("columns", {x, wide, none, 1, -128, 127}),
            call_of("transposed", {transposed(x), scale, zero, 0, 0, 255})};
}
Samples mask_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), mask = ramp(DType::boolean, {2, 3});
    return {call_of("plain", {x, mask}), call_of("transposed", {transposed(x), mask})};
}

}  // namespace

Table fake_quantize_table() {
    return {
        {{"aten.fake_quantize_per_tensor_affine_cachemask.default", "aten.fake_quantize_per_tensor_affine.default"},
         per_tensor_samples},
        {{"aten.fake_quantize_per_tensor_affine_cachemask_backward.default",
          "aten.fake_quantize_per_channel_affine_cachemask_backward.default"},
         mask_samples},
        {{"aten.fake_quantize_per_channel_affine_cachemask.default", "aten.fake_quantize_per_channel_affine.default"},
         per_channel_samples}};
}

}  // namespace whittle::samples
