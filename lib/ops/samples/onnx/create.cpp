// Samples of lib/ops/onnx/create.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples constant_of_shape_samples(DType) {
    Samples result = {at_opset(9, "zeros", {integers({2, 3})}, {}, {0})};
    for (const DType dtype : kAllDTypes)
        if (is_computed(dtype) && !is_complex(dtype))
            result.push_back({.label = std::string(name(dtype)),
                              .tensors = {integers({2, 0, 3}), values(dtype, {3})},
                              .args = {t(0)},
                              .kwargs = {{"value", t(1)}},
                              .constants = {0, 1},
                              .opset_imports = {{"", 9}}});
    return result;
}

Samples range_samples(DType dtype) {
    const auto range = [&](const std::string& label, double start, double limit, double delta) {
        return at_opset(11, label, {scalar(dtype, start), scalar(dtype, limit), scalar(dtype, delta)}, {}, {0, 1, 2});
    };
    return {range("up", 1, 9, 2), range("down", 10, 4, -3), range("none", 3, 3, 1)};
}

Samples eye_like_samples(DType dtype) {
    const Tensor x(dtype, {3, 4});
    return {at_opset(9, "main", {x}), at_opset(9, "k", {x}, {{"dtype", 11}, {"k", -1}})};
}

Samples one_hot_samples(DType dtype) {
    const Tensor hot = values(dtype, {0, 2, 3, 7}, {2, 2});
    return {at_opset(11, "last", {hot, integers({4}), values(DType::f32, {0, 1})}, {}, {1}),
            at_opset(11, "axis 0", {hot, integers({4}), integers({2, 5})}, {{"axis", 0}}, {1})};
}

Samples trilu_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 4});
    return {at_opset(14, "upper", {x}), at_opset(14, "lower", {x, scalar(DType::i64, -1)}, {{"upper", 0}}, {1})};
}

}  // namespace

Table onnx_create_table() {
    return {
        {{"onnx.ConstantOfShape"}, constant_of_shape_samples},
        {{"onnx.EyeLike"}, eye_like_samples},
        {{"onnx.OneHot"}, one_hot_samples},
        {{"onnx.Range"}, range_samples},
        {{"onnx.Trilu"}, trilu_samples},
    };
}

}  // namespace whittle::samples
