// Samples of lib/ops/onnx/conv.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples conv_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 4, 5, 6}), w = random(dtype, {2, 4, 3, 3}, 2), b = random(dtype, {2}, 3);
    return {at_opset(11, "plain", {x, w, b}),
            at_opset(11, "strided", {x, w}, {{"pads", Arg::ints({1, 1, 1, 1})}, {"strides", Arg::ints({2, 2})}}),
            at_opset(11, "uneven pads", {x, w}, {{"pads", Arg::ints({0, 1, 2, 1})}, {"dilations", Arg::ints({2, 1})}}),
            at_opset(11, "SAME_LOWER", {x, w}, {{"auto_pad", "SAME_LOWER"}, {"strides", Arg::ints({2, 2})}}),
            at_opset(11, "groups", {x, random(dtype, {4, 1, 2, 2}, 2)}, {{"group", 4}}),
            at_opset(11, "1-d", {random(dtype, {1, 2, 7}), random(dtype, {3, 2, 3}, 2)})};
}

Samples conv_transpose_samples(DType dtype) {
    const Tensor x = random(dtype, {1, 2, 3, 3}), w = random(dtype, {2, 2, 3, 3}, 2), b = random(dtype, {2}, 3);
    return {
        at_opset(11, "plain", {x, w, b}),
        at_opset(
            11, "strided", {x, w},
            {{"output_padding", Arg::ints({1, 1})}, {"pads", Arg::ints({1, 1, 1, 1})}, {"strides", Arg::ints({2, 2})}}),
        at_opset(11, "uneven pads", {x, w}, {{"pads", Arg::ints({0, 1, 1, 2})}}),
        at_opset(11, "output_shape", {x, w}, {{"output_shape", Arg::ints({6, 6})}, {"strides", Arg::ints({2, 2})}})};
}

Samples col2im_samples(DType dtype) {
    return {
        at_opset(18, "2-d", {ramp(dtype, {2, 4, 12}), integers({4, 5}), integers({2, 2})}, {}, {1, 2}),
        at_opset(18, "padded, dilated", {ramp(dtype, {1, 8, 4}), integers({5, 4}), integers({2, 2})},
                 {{"dilations", Arg::ints({2, 1})}, {"pads", Arg::ints({0, 1, 1, 0})}, {"strides", Arg::ints({2, 2})}},
                 {1, 2}),
        at_opset(18, "1-d", {ramp(dtype, {1, 3, 4}), integers({6}), integers({3})}, {}, {1, 2})};
}

Samples deform_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 4, 5, 6}), w = random(dtype, {2, 4, 3, 2}, 2);
    const auto offsets = [&](const Sizes& sizes) { return uniform(dtype, sizes, -2, 2, 3); };
    return {at_opset(19, "plain", {x, w, offsets({2, 12, 3, 5})}),
            at_opset(19, "mask and bias",
                     {x, w, offsets({2, 12, 3, 5}), random(dtype, {2}, 4), uniform(dtype, {2, 6, 3, 5}, 0, 1, 5)}),
            at_opset(19, "groups", {x, random(dtype, {4, 2, 3, 2}, 2), offsets({2, 24, 3, 5})},
                     {{"group", 2}, {"offset_group", 2}}),
            at_opset(
                19, "strided", {x, w, offsets({2, 12, 1, 4})},
                {{"dilations", Arg::ints({2, 1})}, {"pads", Arg::ints({1, 1, 0, 1})}, {"strides", Arg::ints({2, 2})}})};
}

}  // namespace

Table onnx_conv_table() {
    return {
        {{"onnx.Col2Im"}, col2im_samples},
        {{"onnx.Conv"}, conv_samples},
        {{"onnx.ConvTranspose"}, conv_transpose_samples},
        {{"onnx.DeformConv"}, deform_samples},
    };
}

}  // namespace whittle::samples
