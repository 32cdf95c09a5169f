// Samples of lib/ops/onnx/reduce.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

/// The numbers are small and positive, so that products and logarithms stay in range. The axes are an attribute, and
/// since an opset an operand.
template <std::int64_t Since>
Samples axes_samples(DType dtype) {
    const Tensor x = dtype == DType::boolean ? random(dtype, {2, 3, 4}) : uniform(dtype, {2, 3, 4}, 1, 3);
    return {at_opset(11, "all", {x}), at_opset(11, "axes", {x}, {{"axes", Arg::ints({-1, 0})}, {"keepdims", 0}}),
            at_opset(11, "one axis", {x}, {{"axes", Arg::ints({1})}}),
            at_opset(Since, "operand", {x, integers({-2})}, {}, {1}),
            at_opset(Since, "no axes", {x, integers({})}, {{"noop_with_empty_axes", 1}}, {1})};
}

Samples arg_samples(DType dtype) {
    const Tensor x = values(dtype, {3, 1, 3, 2, 2, 1}, {2, 3});
    return {at_opset(13, "default", {x}), at_opset(13, "axis", {x}, {{"axis", -1}, {"keepdims", 0}}),
            at_opset(13, "last", {x}, {{"axis", 1}, {"select_last_index", 1}})};
}

}  // namespace

Table onnx_reduce_table() {
    return {
        {{"onnx.ArgMax", "onnx.ArgMin"}, arg_samples},
        {{"onnx.ReduceL1", "onnx.ReduceL2", "onnx.ReduceLogSum", "onnx.ReduceLogSumExp", "onnx.ReduceMax",
          "onnx.ReduceMean", "onnx.ReduceMin", "onnx.ReduceProd", "onnx.ReduceSumSquare"},
         axes_samples<18>},
        {{"onnx.ReduceSum"}, axes_samples<13>},
    };
}

}  // namespace whittle::samples
