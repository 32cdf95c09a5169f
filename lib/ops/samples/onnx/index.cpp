// Samples of lib/ops/onnx/index.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples gather_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4}), some = positions({2, -1, 0, 1}, {2, 2});
    return {at_opset(13, "axis 0", {x, some}), at_opset(13, "axis 1", {x, some}, {{"axis", 1}}),
            at_opset(13, "constant", {x, some}, {}, {1}), at_opset(13, "0-d", {x, positions({-2}, {})}, {}, {1}),
            at_opset(13, "i32", {x, some.to(DType::i32)})};
}

Samples gather_elements_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4}), some = positions({2, -1, 0, 1}, {2, 2});
    return {at_opset(13, "axis 0", {x, some}), at_opset(13, "axis -1", {x, some}, {{"axis", -1}})};
}

Samples gather_nd_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3, 4});
    return {at_opset(13, "slices", {x, positions({1, -1, 0, 2}, {2, 2})}),
            at_opset(13, "elements", {x, positions({1, 2, 3, 0, 0, 0}, {2, 3})}, {}, {1}),
            at_opset(13, "batch", {x, positions({2, 0}, {2, 1})}, {{"batch_dims", 1}})};
}

Samples scatter_samples(DType dtype) {
    return {at_opset(13, "axis 1",
                     {ramp(dtype, {3, 4}), positions({2, -3, 1, 0}, {2, 2}), values(dtype, {1, 2, 3, 1}, {2, 2})},
                     {{"axis", 1}})};
}

Samples scatter_elements_samples(DType dtype) {
    Samples result = scatter_samples(dtype);
    if (dtype == DType::boolean) return result;
    const Operands twice = {ramp(dtype, {3, 4}), positions({1, 1, 1, 0}, {2, 2}), values(dtype, {1, 2, 3, 1}, {2, 2})};
    result.push_back(at_opset(16, "add", twice, {{"reduction", "add"}}));
    if (!is_complex(dtype)) result.push_back(at_opset(16, "mul", twice, {{"reduction", "mul"}}));
    return result;
}

Samples scatter_nd_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4});
    return {at_opset(13, "rows", {x, positions({-1, 0}, {2, 1}), random(dtype, {2, 4})}),
            at_opset(13, "elements", {x, positions({0, 1, 2, 3}, {2, 2}), random(dtype, {2})}, {}, {1})};
}

Samples compress_samples(DType dtype) {
    const Operands operands = {ramp(dtype, {3, 2}), values(DType::boolean, {0, 1, 1})};
    return {at_opset(11, "axis 0", operands, {{"axis", 0}}, {1}), at_opset(11, "flat", operands, {}, {1})};
}

Samples nonzero_samples(DType dtype) {
    return {at_opset(13, "constant", {values(dtype, {1, 0, 0, 3, 0, 2}, {2, 3})}, {}, {0})};
}

Samples reverse_samples(DType dtype) {
    const Tensor lengths = integers({1, 3, 2});
    return {at_opset(10, "time first", {ramp(dtype, {4, 3, 2}), lengths}),
            at_opset(10, "batch first", {ramp(dtype, {3, 4}), lengths}, {{"batch_axis", 0}, {"time_axis", 1}})};
}

}  // namespace

Table onnx_index_table() {
    return {
        {{"onnx.Compress"}, compress_samples},
        {{"onnx.Gather"}, gather_samples},
        {{"onnx.GatherElements"}, gather_elements_samples},
        {{"onnx.GatherND"}, gather_nd_samples},
        {{"onnx.NonZero"}, nonzero_samples},
        {{"onnx.ReverseSequence"}, reverse_samples},
        {{"onnx.Scatter"}, scatter_samples},
        {{"onnx.ScatterElements"}, scatter_elements_samples},
        {{"onnx.ScatterND"}, scatter_nd_samples},
    };
}

}  // namespace whittle::samples
