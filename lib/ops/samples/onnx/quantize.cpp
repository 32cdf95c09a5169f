// Samples of lib/ops/onnx/quantize.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Tensor scale_of(double value) { return scalar(DType::f32, value); }

Samples quantize_samples(DType dtype) {
    const Tensor x = values(dtype, {-300, -3, -1, 0, 1, 3, 5, 300}, {2, 4});
    return {at_opset(13, "u8", {x, scale_of(2)}),
            at_opset(13, "i8", {x, scale_of(2), scalar(DType::i8, -5)}),
            at_opset(13, "rows", {x, values(DType::f32, {2, 3}), values(DType::u8, {7, 120})}, {{"axis", 0}}),
            at_opset(21, "blocks",
                     {x, values(DType::f32, {2, 3, 4, 5}, {2, 2}), values(DType::i16, {7, 120, 0, -9}, {2, 2})},
                     {{"block_size", 3}}),
            at_opset(21, "to f8", {x, scale_of(2)}, {{"output_dtype", info_of(DType::f8_e4m3fn).onnx}}),
            at_opset(23, "divided in bf16", {x, scale_of(0.3)}, {{"precision", info_of(DType::bf16).onnx}}),
            at_opset(23, "a scale of f16", {x, scalar(DType::f16, 0.3), scalar(DType::u16, 40000)})};
}

Samples dequantize_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3});
    return {at_opset(13, "one", {x, scale_of(0.5)}),
            at_opset(13, "columns", {x, values(DType::f32, {2, 3, 4}), values(dtype, {1, 0, 2})}),
            at_opset(21, "blocks", {x, values(DType::f32, {2, 3, 4}, {1, 3})}, {{"axis", 0}, {"block_size", 2}}),
            at_opset(23, "to f16", {x, scale_of(0.3)}, {{"output_dtype", info_of(DType::f16).onnx}})};
}

Samples dynamic_samples(DType dtype) {
    return {at_opset(11, "both signs", {ramp(dtype, {3, 4})}), at_opset(11, "positive", {values(dtype, {1, 2.1, 4})}),
            at_opset(11, "zeros", {Tensor(dtype, {2})})};
}

Samples matmul_integer_samples(DType dtype) {
    const Tensor a = ramp(dtype, {2, 3}), b = ramp(DType::u8, {3, 4});
    return {at_opset(10, "plain", {a, b}),
            at_opset(10, "rows and columns", {a, b, values(dtype, {1, 2}), values(DType::u8, {1, 2, 3, 4})})};
}

Samples qlinear_matmul_samples(DType dtype) {
    return {at_opset(10, "2-d",
                     {ramp(dtype, {2, 3}), scale_of(0.5), scalar(dtype, 3), ramp(dtype, {3, 4}), scale_of(0.25),
                      scalar(dtype, 1), scale_of(0.75), scalar(dtype, 9)})};
}

Samples conv_integer_samples(DType dtype) {
    const Tensor x = ramp(dtype, {1, 2, 4, 4}), w = ramp(DType::u8, {3, 2, 2, 2});
    return {at_opset(10, "plain", {x, w}),
            at_opset(10, "padded, per map", {x, w, scalar(dtype, 2), values(DType::u8, {1, 2, 3})},
                     {{"pads", Arg::ints({1, 1, 1, 1})}})};
}

Samples qlinear_conv_samples(DType dtype) {
    return {at_opset(10, "per map, bias",
                     {ramp(dtype, {1, 2, 4, 4}), scale_of(0.5), scalar(dtype, 3), ramp(dtype, {3, 2, 2, 2}),
                      values(DType::f32, {0.25, 0.5, 1}), values(dtype, {1, 0, 2}), scale_of(0.75), scalar(dtype, 9),
                      values(DType::i32, {5, -5, 0})})};
}

}  // namespace

Table onnx_quantize_table() {
    return {
        {{"onnx.ConvInteger"}, conv_integer_samples},      {{"onnx.DequantizeLinear"}, dequantize_samples},
        {{"onnx.DynamicQuantizeLinear"}, dynamic_samples}, {{"onnx.MatMulInteger"}, matmul_integer_samples},
        {{"onnx.QLinearConv"}, qlinear_conv_samples},      {{"onnx.QLinearMatMul"}, qlinear_matmul_samples},
        {{"onnx.QuantizeLinear"}, quantize_samples},
    };
}

}  // namespace whittle::samples
