// Samples of lib/ops/onnx/activation.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples gelu_samples(DType dtype) {
    Samples result;
    for (const char* approximate : {"none", "tanh"})
        result.push_back(at_opset(20, approximate, {random(dtype, {2, 5})}, {{"approximate", approximate}}));
    return result;
}

Samples swish_samples(DType dtype) {
    return unary_samples(dtype) + Samples{at_opset(24, "alpha", {random(dtype, {2, 5})}, {{"alpha", -1.5}})};
}

Samples prelu_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3, 4});
    return {at_opset(16, "per channel", {x, random(dtype, {3, 1})}), at_opset(16, "one", {x, random(dtype, {1})})};
}

}  // namespace

Table onnx_activation_table() {
    return {
        {{"onnx.Celu", "onnx.Elu", "onnx.HardSigmoid", "onnx.HardSwish", "onnx.LeakyRelu", "onnx.Mish", "onnx.Relu",
          "onnx.Selu", "onnx.Shrink", "onnx.Sigmoid", "onnx.Softplus", "onnx.Softsign", "onnx.ThresholdedRelu"},
         unary_samples},
        {{"onnx.Gelu"}, gelu_samples},
        {{"onnx.PRelu"}, prelu_samples},
        {{"onnx.Swish"}, swish_samples},
    };
}

}  // namespace whittle::samples
