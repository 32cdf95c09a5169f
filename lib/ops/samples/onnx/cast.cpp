// Samples of lib/ops/onnx/cast.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples cast_samples(DType dtype) {
    Samples result;
    for (const DType to : kAllDTypes)
        if (!is_complex(to))  // the standard casts none
            result.push_back(
                at_opset(13, "to " + std::string(name(to)), {ramp(dtype, {2, 3})}, {{"to", info_of(to).onnx}}));
    return result;
}

Samples cast_like_samples(DType dtype) {
    return {at_opset(15, "to f64", {ramp(dtype, {2, 3}), Tensor(DType::f64, {1})})};
}

Samples dropout_samples(DType dtype) {
    const Tensor data = ramp(dtype, {2, 3});
    Samples result;
    for (const std::int64_t opset : {7, 10, 13}) {
        const std::string label = "opset " + std::to_string(opset);
        result.push_back(at_opset(opset, label, {data}));
        result.push_back(at_opset(opset, label + " with mask", {data}, {{"num_outputs", 2}}));
    }
    return result;
}

}  // namespace

Table onnx_cast_table() {
    return {
        {{"onnx.Cast"}, cast_samples},
        {{"onnx.CastLike"}, cast_like_samples},
        {{"onnx.Dropout"}, dropout_samples},
        {{"onnx.Identity"}, unary_samples},
    };
}

}  // namespace whittle::samples
