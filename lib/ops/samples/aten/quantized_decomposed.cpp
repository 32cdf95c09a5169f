// Samples of lib/ops/aten/quantized_decomposed.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples quantize_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4});
    const Tensor halves = values(dtype, {-1.25, -0.75, -0.25, 0, 0.25, 0.75, 1.25, 100, -100});
    return {{"plain", {x}, {t(0), 0.125, 0, -128, 127, DType::i8}},
            {"limited", {x}, {t(0), 0.25, 3, 0, 7, DType::u8}},
            {"halves", {halves}, {t(0), 0.5, 0, -128, 127, DType::i8}},
            {"transposed", {transposed(x)}, {t(0), 0.3, 10, 0, 255, DType::u8}},
            {"wide", {x}, {t(0), 0.001, 0, -32768, 32767, DType::i16}},
            {"0-d", {scalar(dtype, 0.7)}, {t(0), 0.3, 0, 0, 255, DType::u8}},
            {"empty", {random(dtype, {0, 3})}, {t(0), 0.3, 0, 0, 255, DType::u8}}};
}
Samples quantize_by_tensor_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4});
    const Tensor scale = values(DType::f32, {0.25}), zero = values(DType::i64, {3});
    return {{"plain", {x, scale, zero}, {t(0), t(1), t(2), -128, 127, DType::i8}},
            {"0-d", {scalar(dtype, 0.7), scale, zero}, {t(0), t(1), t(2), 0, 255, DType::u8}}};
}
Samples dequantize_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4});
    return {{"plain", {x}, {t(0), 0.25, 3, 0, 127, dtype}},
            {"transposed", {transposed(x)}, {t(0), 0.5, 0, 0, 127, dtype}},
            {"to a type", {x}, {t(0), 0.5, 0, 0, 127, dtype}, {{"out_dtype", DType::f64}}},
            {"empty", {ramp(dtype, {0, 3})}, {t(0), 0.3, 0, 0, 127, dtype}}};
}
Samples dequantize_by_tensor_samples(DType dtype) {
    const Tensor scale = values(DType::f32, {0.25}), zero = values(DType::i64, {3});
    return {{"plain", {ramp(dtype, {3, 4}), scale, zero}, {t(0), t(1), t(2), 0, 127, dtype}}};
}
Samples quantize_channels_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), scales = values(DType::f32, {0.125, 0.25, 0.5}),
                 zeros = values(DType::i64, {0, 2, 5});
    const Tensor wide = values(DType::f32, {0.125, 0.25, 0.5, 1}), none = values(DType::i64, {0, 0, 0, 0});
    return {{"rows", {x, scales, zeros}, {t(0), t(1), t(2), 0, 0, 7, DType::u8}},
            {"columns", {x, wide, none}, {t(0), t(1), t(2), -1, -128, 127, DType::i8}}};
}
Samples dequantize_channels_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4}), scales = values(DType::f32, {0.125, 0.25, 0.5}),
                 zeros = values(DType::i64, {0, 2, 5});
    return {{"rows", {x, scales, zeros}, {t(0), t(1), t(2), 0, 0, 127, dtype}},
            {"without zero points", {x, scales}, {t(0), t(1), Arg(), 0, 0, 127, dtype}}};
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
