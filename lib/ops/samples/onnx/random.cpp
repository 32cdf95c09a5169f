// Samples of lib/ops/onnx/random.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples like_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3});
    return {at_opset(15, "of the operand's dtype", {x}),
            at_opset(15, "f64", {x}, {{"dtype", info_of(DType::f64).onnx}})};
}

Samples sized_samples(DType dtype) {
    return {at_opset(15, "matrix", {}, {{"dtype", info_of(dtype).onnx}, {"shape", Arg::ints({2, 3})}})};
}

Samples bernoulli_samples(DType dtype) {
    const Tensor x = values(dtype, {0, 0.25, 0.5, 1}, {2, 2});
    return {at_opset(15, "floats", {x}), at_opset(15, "bool", {x}, {{"dtype", info_of(DType::boolean).onnx}})};
}

}  // namespace

Table onnx_random_table() {
    return {
        {{"onnx.Bernoulli"}, bernoulli_samples},
        {{"onnx.RandomNormal", "onnx.RandomUniform"}, sized_samples},
        {{"onnx.RandomNormalLike", "onnx.RandomUniformLike"}, like_samples},
    };
}

}  // namespace whittle::samples
