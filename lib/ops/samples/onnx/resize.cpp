// Samples of lib/ops/onnx/resize.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples resize_samples(DType dtype) {
    const Tensor x = random(dtype, {1, 2, 3, 4}), scales = values(DType::f32, {1, 1, 2, 1.5});
    const Operands scaled = {x, {}, scales}, sized = {x, {}, {}, integers({1, 2, 5, 2})};
    Samples result = {at_opset(13, "nearest", scaled, {}, {2}),
                      at_opset(13, "nearest, asymmetric", sized,
                               {{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}, {3}),
                      at_opset(10, "opset 10", scaled, {}, {2})};
    if (!is_floating(dtype)) return result;
    result.push_back(at_opset(13, "linear", scaled, {{"mode", "linear"}}, {2}));
    result.push_back(at_opset(13, "linear, align_corners", sized,
                              {{"coordinate_transformation_mode", "align_corners"}, {"mode", "linear"}}, {3}));
    result.push_back(at_opset(13, "cubic", sized, {{"exclude_outside", 1}, {"mode", "cubic"}}, {3}));
    const auto of_axes = [&](const std::string& label, Kwargs kwargs) {
        kwargs.emplace_back("axes", Arg::ints({3, 2}));
        result.push_back(
            at_opset(19, label, {random(dtype, {1, 1, 7, 9}), {}, {}, integers({4, 3})}, std::move(kwargs), {3}));
    };
    for (const char* mode : {"linear", "cubic"})
        of_axes(std::string(mode) + ", antialias", {{"antialias", 1}, {"mode", mode}});
    for (const char* policy : {"not_larger", "not_smaller"})
        of_axes(policy, {{"coordinate_transformation_mode", "half_pixel_symmetric"},
                         {"keep_aspect_ratio_policy", policy},
                         {"mode", "linear"}});
    return result;
}

Samples upsample_samples(DType dtype) {
    const Tensor x = random(dtype, {1, 1, 2, 3});
    return {at_opset(9, "operand", {x, values(DType::f32, {1, 1, 2, 3})}, {}, {1}),
            at_opset(7, "attribute", {x}, {{"scales", ArgList{1.0, 1.0, 2.0, 2.0}}})};
}

}  // namespace

Table onnx_resize_table() {
    return {
        {{"onnx.Resize"}, resize_samples},
        {{"onnx.Upsample"}, upsample_samples},
    };
}

}  // namespace whittle::samples
