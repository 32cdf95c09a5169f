// Samples of lib/ops/onnx/detection.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples affine_samples(DType dtype) {
    Samples result;
    for (const int ends : {0, 1})
        for (const Sizes& size : {Sizes{2, 1, 3, 4}, Sizes{1, 1, 2, 3, 1}}) {
            const auto dims = static_cast<std::int64_t>(size.size()) - 2;
            result.push_back(at_opset(20, std::to_string(dims) + "-d" + (ends ? ", ends" : ""),
                                      {random(dtype, {size[0], dims, dims + 1}), integers(size)},
                                      {{"align_corners", ends}}, {1}));
        }
    return result;
}

Samples grid_samples(DType dtype) {
    const auto places = [&](const Sizes& sizes) { return uniform(dtype, sizes, -1.3, 1.3); };
    Samples result;
    for (const char* mode : {"linear", "cubic"})
        result.push_back(at_opset(20, mode, {random(dtype, {1, 2, 4, 5}), places({1, 3, 2, 2})}, {{"mode", mode}}));
    for (const char* mode : {"linear", "nearest"})
        result.push_back(at_opset(20, std::string("volume, ") + mode,
                                  {random(dtype, {2, 2, 3, 4, 2}), places({2, 3, 2, 2, 3})}, {{"mode", mode}}));
    for (const char* padding : {"zeros", "border", "reflection"})
        for (const char* mode : {"bilinear", "nearest", "bicubic"})
            result.push_back(at_opset(16, std::string(mode) + ", " + padding,
                                      {random(dtype, {2, 3, 4, 5}), places({2, 3, 2, 2})},
                                      {{"mode", mode}, {"padding_mode", padding}}));
    return result;
}

Samples roi_samples(DType dtype) {
    const Operands operands = {random(dtype, {2, 3, 6, 7}), values(dtype, {0, 0, 4, 3, 1, 2, 6, 8}, {2, 4}),
                               integers({1, 0})};
    const Kwargs kwargs = {{"output_height", 2}, {"output_width", 3}, {"sampling_ratio", 2}};
    return {at_opset(16, "half pixel", operands, kwargs), at_opset(10, "whole pixel", operands, kwargs)};
}

Samples suppression_samples(DType dtype) {
    return {at_opset(11, "two of three",
                     {values(dtype, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11}, {1, 3, 4}),
                      values(dtype, {0.9, 0.8, 0.5}, {1, 1, 3}), integers({3}), values(dtype, {0.5})},
                     {}, {0, 1, 2, 3})};
}

Samples unpool_samples(DType dtype) {
    const Tensor x = values(dtype, {1, 2, 3, 4}, {1, 1, 2, 2}), from = positions({5, 7, 13, 15}, {1, 1, 2, 2});
    const Kwargs windows = {{"kernel_shape", Arg::ints({2, 2})}, {"strides", Arg::ints({2, 2})}};
    return {at_opset(11, "plain", {x, from}, windows),
            at_opset(11, "larger", {x, from, integers({1, 1, 5, 6})}, windows, {2})};
}

}  // namespace

Table onnx_detection_table() {
    return {
        {{"onnx.AffineGrid"}, affine_samples}, {{"onnx.GridSample"}, grid_samples},
        {{"onnx.MaxUnpool"}, unpool_samples},  {{"onnx.NonMaxSuppression"}, suppression_samples},
        {{"onnx.RoiAlign"}, roi_samples},
    };
}

}  // namespace whittle::samples
