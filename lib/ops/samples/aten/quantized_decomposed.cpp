// Samples of lib/ops/aten/quantized_decomposed.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples quantize_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4});
    const Tensor halves = values(dtype, {-1.25, -0.75, -0.25, 0, 0.25, 0.75, 1.25, 100, -100});
    return {call_of("plain", {x, 0.125, 0, -128, 127, DType::i8}),
            call_of("limited", {x, 0.25, 3, 0, 7, DType::u8}),
            call_of("halves", {halves, 0.5, 0, -128, 127, DType::i8}),
            call_of("transposed", {transposed(x), 0.3, 10, 0, 255, DType::u8}),
            call_of("wide", {x, 0.001, 0, -32768, 32767, DType::i16}),
            call_of("0-d", {scalar(dtype, 0.7), 0.3, 0, 0, 255, DType::u8}),
            call_of("empty", {random(dtype, {0, 3}), 0.3, 0, 0, 255, DType::u8})};
}
Samples quantize_by_tensor_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4});
    const Tensor scale = values(DType::f32, {0.25}), zero = values(DType::i64, {3});
    return {call_of("plain", {x, scale, zero, -128, 127, DType::i8}),
            call_of("0-d", {scalar(dtype, 0.7), scale, zero, 0, 255, DType::u8})};
}
Samples dequantize_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4});
    return {call_of("plain", {x, 0.25, 3, 0, 127, dtype}),
            call_of("transposed", {transposed(x), 0.5, 0, 0, 127, dtype}),
            call_of("to a type", {x, 0.5, 0, 0, 127, dtype}, {{"out_dtype", DType::f64}}),
            call_of("empty", {ramp(dtype, {0, 3}), 0.3, 0, 0, 127, dtype})};
}
Samples dequantize_by_tensor_samples(DType dtype) {
    const Tensor scale = values(DType::f32, {0.25}), zero = values(DType::i64, {3});
    return {call_of("plain", {ramp(dtype, {3, 4}), scale, zero, 0, 127, dtype})};
}
Samples quantize_channels_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), scales = values(DType::f32, {0.125, 0.25, 0.5}),
                 zeros = values(DType::i64, {0, 2, 5});
    const Tensor wide = values(DType::f32, {0.125, 0.25, 0.5, 1}), none = values(DType::i64, {0, 0, 0, 0});
    return {call_of("rows", {x, scales, zeros, 0, 0, 7, DType::u8}),
            call_of("columns", {x, wide, none, -1, -128, 127, DType::i8})};
}
Samples dequantize_channels_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4}), scales = values(DType::f32, {0.125, 0.25, 0.5}),
                 zeros = values(DType::i64, {0, 2, 5});
    return {call_of("rows", {x, scales, zeros, 0, 0, 127, dtype}),
            call_of("without zero points", {x, scales, Arg(), 0, 0, 127, dtype})};
}

}  // namespace

Table quantized_decomposed_table() {
    return {{{"quantized_decomposed.quantize_per_tensor.default"}, quantize_samples},
            {{"quantized_decomposed.quantize_per_tensor.tensor"}, quantize_by_tensor_samples},
            {{"quantized_decomposed.dequantize_per_tensor.default"}, dequantize_samples},
            {{"quantized_decomposed.dequantize_per_tensor.tensor"}, dequantize_by_tensor_samples},
            {{"quantized_decomposed.quantize_per_channel.default"}, quantize_channels_samples},
            {{"quantized_decomposed.dequantize_per_channel.default"}, dequantize_channels_samples}};
}

}  // namespace whittle::samples
