// Samples of lib/ops/onnx/unary.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples is_inf_samples(DType dtype) {
    Samples result;
    for (const int positive : {0, 1})
        for (const int negative : {0, 1})
            result.push_back(at_opset(17, '+' + std::to_string(positive) + " -" + std::to_string(negative),
                                      {special(dtype)},
                                      {{"detect_negative", negative}, {"detect_positive", positive}}));
    return result;
}

Samples from_one(DType dtype) { return {at_opset(17, "from 1", {uniform(dtype, {2, 5}, 1, 9)})}; }

Samples sign_samples(DType dtype) {
    return unary_samples(dtype) + Samples{at_opset(13, "special values", {special(dtype)})};
}

}  // namespace

Table onnx_unary_table() {
    return {
        {{"onnx.Abs", "onnx.Atan", "onnx.BitwiseNot", "onnx.Ceil", "onnx.Erf", "onnx.Exp", "onnx.Floor", "onnx.IsNaN",
          "onnx.Log", "onnx.Neg", "onnx.Not", "onnx.Reciprocal", "onnx.Round", "onnx.Sqrt", "onnx.Tanh"},
         unary_samples},
        {{"onnx.Acos", "onnx.Asin", "onnx.Asinh", "onnx.Atanh", "onnx.Cos", "onnx.Cosh", "onnx.Sin", "onnx.Sinh",
          "onnx.Tan"},
         unit_samples},
        {{"onnx.Acosh"}, from_one},
        {{"onnx.IsInf"}, is_inf_samples},
        {{"onnx.Sign"}, sign_samples},
    };
}

}  // namespace whittle::samples
