// Samples of lib/ops/onnx/binary.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples pow_samples(DType dtype) {
    const Tensor base = uniform(dtype, {2, 3}, 1, 4);
    return {at_opset(17, "same", {base, uniform(dtype, {3}, 0, 3)}), at_opset(17, "i64", {base, integers({0, 1, 2})}),
            at_opset(17, "f32", {base, values(DType::f32, {2, 0, 1})})};
}

Samples mod_samples(DType dtype) {
    const Tensor a = ramp(dtype, {2, 3}), b = values(dtype, {2, 3, 5});
    Samples result = {at_opset(17, "fmod", {a, b}, {{"fmod", 1}})};
    if (!is_floating(dtype)) result.push_back(at_opset(17, "mod", {a, b}));
    return result;
}

Samples variadic_samples(DType dtype) {
    const Tensor a = ramp(dtype, {2, 3}), b = random(dtype, {3}), c = random(dtype, {2, 1}, 2);
    return {list_at_opset(17, "one", {a}), list_at_opset(17, "three", {a, b, c})};
}

Samples clip_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3, 4}), low = scalar(dtype, 1), high = scalar(dtype, 3);
    Samples result = {at_opset(11, "constants", {x, low, high}, {}, {1, 2}), at_opset(11, "operands", {x, low, high}),
                      at_opset(11, "max only", {x, {}, high}, {}, {2}), at_opset(11, "none", {x})};
    if (is_floating(dtype)) result.push_back(at_opset(7, "attributes", {x}, {{"max", 6.0}, {"min", 0.0}}));
    return result;
}

Samples where_samples(DType dtype) {
    return {at_opset(16, "broadcast", {random(DType::boolean, {2, 3}), ramp(dtype, {2, 3}), random(dtype, {4, 1, 1})})};
}

Samples shift_samples(DType dtype) {
    const Tensor x = values(dtype, {1, 2, 128, 255}), y = values(dtype, {1, 2, 3, 4});
    Samples result;
    for (const char* direction : {"LEFT", "RIGHT"})
        result.push_back(at_opset(11, direction, {x, y}, {{"direction", direction}}));
    return result;
}

}  // namespace

Table onnx_binary_table() {
    return {
        {{"onnx.Add", "onnx.And", "onnx.BitwiseAnd", "onnx.BitwiseOr", "onnx.BitwiseXor", "onnx.Div", "onnx.Equal",
          "onnx.Greater", "onnx.GreaterOrEqual", "onnx.Less", "onnx.LessOrEqual", "onnx.Mul", "onnx.Or", "onnx.Sub",
          "onnx.Xor"},
         binary_samples},
        {{"onnx.Max", "onnx.Mean", "onnx.Min", "onnx.Sum"}, variadic_samples},
        {{"onnx.BitShift"}, shift_samples},
        {{"onnx.Clip"}, clip_samples},
        {{"onnx.Mod"}, mod_samples},
        {{"onnx.Pow"}, pow_samples},
        {{"onnx.Where"}, where_samples},
    };
}

}  // namespace whittle::samples
