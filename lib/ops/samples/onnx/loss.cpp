// Samples of lib/ops/onnx/loss.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples loss_samples(DType dtype) {
    const Tensor scores = random(dtype, {3, 4, 2}), weight = uniform(dtype, {4}, 0.5, 2);
    const Tensor target = positions({0, 3, 2, 1, 1, 0}, {3, 2}), some = positions({0, -7, 2, 1, -7, 0}, {3, 2});
    Samples result;
    for (const std::string reduction : {"none", "sum", "mean"}) {
        result.push_back(at_opset(13, reduction, {scores, target}, {{"reduction", reduction}}));
        result.push_back(at_opset(13, reduction + ", weighted", {scores, target.to(DType::i32), weight},
                                  {{"reduction", reduction}}));
        result.push_back(at_opset(13, reduction + ", weighted, some ignored", {scores, some, weight},
                                  {{"reduction", reduction}, {"ignore_index", -7}}));
    }
    result.push_back(at_opset(13, "some ignored", {scores, some}, {{"ignore_index", -7}}));
    return result;
}

Samples cross_entropy_samples(DType dtype) {
    return loss_samples(dtype) +
           Samples{at_opset(13, "both results", {random(dtype, {3, 4}), integers({0, 3, 2})}, {{"num_outputs", 2}})};
}

}  // namespace

Table onnx_loss_table() {
    return {
        {{"onnx.NegativeLogLikelihoodLoss"}, loss_samples},
        {{"onnx.SoftmaxCrossEntropyLoss"}, cross_entropy_samples},
    };
}

}  // namespace whittle::samples
