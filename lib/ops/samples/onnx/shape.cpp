// Samples of lib/ops/onnx/shape.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

/// Calls op(x, values) with constant values.
Sample with_ints(const std::string& label, const Tensor& x, const std::vector<std::int64_t>& values) {
    return at_opset(13, label, {x, integers(values)}, {}, {1});
}

Samples shape_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 0, 4});
    return {at_opset(13, "all", {x}), at_opset(15, "part", {x}, {{"start", -2}, {"end", 7}}),
            at_opset(15, "none", {x}, {{"start", 2}, {"end", 1}}), at_opset(13, "0-d", {scalar(dtype, 1)})};
}

Samples size_samples(DType dtype) {
    return {at_opset(13, "all", {ramp(dtype, {2, 3})}), at_opset(13, "empty", {ramp(dtype, {2, 0})})};
}

Samples reshape_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3, 4});
    return {with_ints("sizes", x, {4, 6}),
            with_ints("rest", x, {-1, 2}),
            with_ints("copy", x, {0, 0, 2, -1}),
            with_ints("transposed", transposed(x), {6, 4}),
            with_ints("0-d", ramp(dtype, {1, 1}), {}),
            at_opset(14, "zero", {Tensor(dtype, {0, 3}), integers({3, 0})}, {{"allowzero", 1}}, {1})};
}

Samples flatten_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3, 4});
    return {at_opset(13, "default", {x}), at_opset(13, "0", {x}, {{"axis", 0}}), at_opset(13, "3", {x}, {{"axis", 3}}),
            at_opset(13, "-1", {transposed(x)}, {{"axis", -1}})};
}

Samples transpose_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3, 4});
    return {at_opset(13, "reversed", {x}), at_opset(13, "perm", {x}, {{"perm", Arg::ints({1, 0, 2})}})};
}

Samples squeeze_samples(DType dtype) {
    const Tensor x = ramp(dtype, {1, 3, 1, 2});
    return {at_opset(13, "all", {x}), with_ints("operand", x, {-2}),
            at_opset(11, "attribute", {x}, {{"axes", Arg::ints({0, 2})}})};
}

Samples unsqueeze_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 2});
    return {with_ints("operand", x, {-1, 0}), at_opset(11, "attribute", {x}, {{"axes", Arg::ints({1, 3})}})};
}

Samples expand_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 1});
    return {with_ints("dims", x, {2, 3, 4}), with_ints("ones", x, {1, 1})};
}

Samples tile_samples(DType dtype) {
    return {with_ints("twice", ramp(dtype, {2, 3}), {2, 1}), with_ints("none", ramp(dtype, {2, 3}), {0, 2})};
}

Samples depth_samples(DType dtype) {
    const Tensor x = ramp(dtype, {1, 8, 2, 3});
    return {at_opset(13, "DCR", {x}, {{"blocksize", 2}}),
            at_opset(13, "CRD", {x}, {{"blocksize", 2}, {"mode", "CRD"}})};
}

Samples space_samples(DType dtype) { return {at_opset(13, "2", {ramp(dtype, {1, 2, 4, 6})}, {{"blocksize", 2}})}; }

}  // namespace

Table onnx_shape_table() {
    return {
        {{"onnx.DepthToSpace"}, depth_samples},  {{"onnx.Expand"}, expand_samples},
        {{"onnx.Flatten"}, flatten_samples},     {{"onnx.Reshape"}, reshape_samples},
        {{"onnx.Shape"}, shape_samples},         {{"onnx.Size"}, size_samples},
        {{"onnx.SpaceToDepth"}, space_samples},  {{"onnx.Squeeze"}, squeeze_samples},
        {{"onnx.Tile"}, tile_samples},           {{"onnx.Transpose"}, transpose_samples},
        {{"onnx.Unsqueeze"}, unsqueeze_samples},
    };
}

}  // namespace whittle::samples
