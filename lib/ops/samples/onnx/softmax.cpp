// Samples of lib/ops/onnx/softmax.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples softmax_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 4});
    return {at_opset(11, "opset 11", {x}), at_opset(11, "opset 11, axis 0", {x}, {{"axis", 0}}),
            at_opset(13, "opset 13", {x}), at_opset(13, "opset 13, axis 1", {x}, {{"axis", 1}})};
}

Samples cumsum_samples(DType dtype) {
    Samples result;
    for (const int exclusive : {0, 1})
        for (const int reverse : {0, 1})
            result.push_back(at_opset(
                14, "exclusive " + std::to_string(exclusive) + " reverse " + std::to_string(reverse),
                {ramp(dtype, {2, 3}), scalar(DType::i64, -1)}, {{"exclusive", exclusive}, {"reverse", reverse}}, {1}));
    return result;
}

Samples topk_samples(DType dtype) {
    const Tensor x = values(dtype, {3, 1, 3, 2, 2, 5, 2, 0}, {2, 4}), k = integers({2});
    return {at_opset(11, "largest", {x, k}, {}, {1}),
            at_opset(11, "smallest", {x, k}, {{"axis", 0}, {"largest", 0}}, {1}),
            at_opset(9, "attribute", {x}, {{"k", 3}})};
}

}  // namespace

Table onnx_softmax_table() {
    return {
        {{"onnx.CumSum"}, cumsum_samples},
        {{"onnx.Hardmax", "onnx.LogSoftmax", "onnx.Softmax"}, softmax_samples},
        {{"onnx.TopK"}, topk_samples},
    };
}

}  // namespace whittle::samples
