// Samples of lib/ops/onnx/signal.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples window_function_samples(DType dtype) {
    const Tensor size = scalar(dtype, 9);
    return {at_opset(17, "symmetric", {size}, {{"periodic", 0}}, {0}),
            at_opset(17, "periodic", {size}, {{"periodic", 1}}, {0})};
}

Samples mel_samples(DType dtype) {
    return {at_opset(
        17, "8 of 9",
        {scalar(dtype, 8), scalar(dtype, 16), scalar(dtype, 8192), scalar(DType::f32, 0), scalar(DType::f32, 4096)}, {},
        {0, 1, 2, 3, 4})};
}

Samples dft_samples(DType dtype) {
    const Tensor real = random(dtype, {2, 5, 1}), columns = random(dtype, {5, 3, 2});
    return {at_opset(17, "real", {real}),
            at_opset(17, "inverse", {random(dtype, {2, 5, 2})}, {{"inverse", 1}}),
            at_opset(17, "first axis, cut", {columns, scalar(DType::i64, 4)}, {{"axis", 0}}, {1}),
            at_opset(20, "axis as an operand", {columns, {}, scalar(DType::i64, 0)}, {}, {2}),
            at_opset(20, "the last axis by default", {random(dtype, {2, 5, 3, 2})}),
            at_opset(17, "filled, one-sided", {real, scalar(DType::i64, 8)}, {{"onesided", 1}}, {1})};
}

Samples stft_samples(DType dtype) {
    return {at_opset(17, "window", {random(dtype, {2, 20, 1}), scalar(DType::i64, 4), uniform(dtype, {8}, 0.5, 1)}, {},
                     {1}),
            at_opset(17, "complex, two-sided",
                     {random(dtype, {1, 12, 2}), scalar(DType::i64, 5), {}, scalar(DType::i64, 6)}, {{"onesided", 0}},
                     {1, 3})};
}

}  // namespace

Table onnx_signal_table() {
    return {
        {{"onnx.BlackmanWindow", "onnx.HammingWindow", "onnx.HannWindow"}, window_function_samples},
        {{"onnx.DFT"}, dft_samples},
        {{"onnx.MelWeightMatrix"}, mel_samples},
        {{"onnx.STFT"}, stft_samples},
    };
}

}  // namespace whittle::samples
