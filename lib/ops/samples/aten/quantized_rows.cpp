// Samples of lib/ops/aten/quantized_rows.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples choices(DType dtype) {
    return {call_of("both signs", {random(dtype, {3, 4}), -128, 127, 1e-5, DType::i8}),
            call_of("positive", {uniform(dtype, {3, 4}, 1, 2), 0, 255, 1e-5, DType::u8}),
            call_of("zeros", {values(dtype, {0, 0}), -128, 127, 1e-5, DType::i8})};
}
Samples row_choices(DType dtype) { return {call_of("rows", {random(dtype, {2, 3, 4}), DType::i8})}; }

Tensor scales() { return values(DType::f32, {0.125, 0.25, 0.5}, {3, 1}); }
Tensor zeros() { return values(DType::i32, {0, 2, 5}, {3, 1}); }

Samples quantize_rows(DType dtype) {
    return {call_of("rows", {random(dtype, {3, 4}), scales(), zeros(), -128, 127, DType::i8})};
}
Samples dequantize_rows(DType dtype) {
    return {call_of("rows",
                    {ramp(dtype, {3, 4}), scales().to(DType::f64), zeros().to(DType::i64), 0, 127, dtype, DType::f32})};
}
Samples quantize_groups(DType dtype) {
    const Tensor halves = values(DType::f32, {0.125, 0.25, 0.5, 1}, {2, 2}),
                 none = values(DType::i32, {0, 1, 2, 3}, {2, 2});
    return {call_of("groups", {random(dtype, {2, 4}), halves, none, -8, 7, DType::i8, 2}),
            call_of("whole rows", {random(dtype, {3, 4}), scales(), zeros(), -128, 127, DType::i8})};
}
Samples dequantize_groups(DType dtype) {
    const Tensor halves = values(DType::f32, {0.125, 0.25, 0.5, 1}, {2, 2}),
                 none = values(DType::i32, {0, 1, 2, 3}, {2, 2});
    return {call_of("groups", {ramp(dtype, {2, 4}), halves, none, 0, 7, dtype, 2, DType::f32}),
            call_of("without zero points", {ramp(dtype, {3, 4}), scales(), Arg(), 0, 127, dtype})};
}

}  // namespace

Table quantized_row_table() {
    return {{{"quantized_decomposed.choose_qparams.tensor", "quantized_decomposed.choose_qparams_symmetric.tensor"},
             choices},
            {{"quantized_decomposed.choose_qparams_per_token.default",
              "quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default",
              "quantized_decomposed.choose_qparams_per_token_asymmetric.default"},
             row_choices},
            {{"quantized_decomposed.quantize_per_token.default"}, quantize_rows},
            {{"quantized_decomposed.dequantize_per_token.default"}, dequantize_rows},
            {{"quantized_decomposed.quantize_per_channel_group.default"}, quantize_groups},
            {{"quantized_decomposed.dequantize_per_channel_group.default"}, dequantize_groups}};
}

}  // namespace whittle::samples
