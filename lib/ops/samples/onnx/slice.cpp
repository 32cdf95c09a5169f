// Samples of lib/ops/onnx/slice.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples concat_samples(DType dtype) {
    const Tensor a = ramp(dtype, {2, 3}), b = random(dtype, {2, 1}), e = Tensor(dtype, {2, 0});
    return {list_at_opset(13, "axis -1", {a, b, e}, {{"axis", -1}}), list_at_opset(13, "one", {a}, {{"axis", 0}})};
}

Samples split_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 6});
    return {at_opset(13, "equal", {x}, {{"axis", 1}, {"num_outputs", 3}}),
            at_opset(13, "operand", {x, integers({1, 5})}, {{"axis", -1}, {"num_outputs", 2}}, {1}),
            at_opset(11, "attribute", {x}, {{"axis", 1}, {"split", Arg::ints({4, 2})}, {"num_outputs", 2}}),
            at_opset(11, "one", {x}), at_opset(18, "a smaller one", {x}, {{"axis", 1}, {"num_outputs", 4}})};
}

Samples slice_samples(DType dtype) {
    using Ints = std::vector<std::int64_t>;
    const Tensor x = ramp(dtype, {5, 6});
    const auto slice = [&](const std::string& label, const Ints& starts, const Ints& ends, const Ints& axes,
                           const Ints& steps) {
        return at_opset(13, label, {x, integers(starts), integers(ends), integers(axes), integers(steps)}, {},
                        {1, 2, 3, 4});
    };
    return {slice("both", {1, -3}, {4, 100}, {0, 1}, {1, 2}), slice("backwards", {-1, 4}, {-100, 0}, {1, 0}, {-1, -2}),
            slice("empty", {3}, {1}, {0}, {1}), slice("all", {0}, {5}, {0}, {1}),
            at_opset(9, "attributes", {x},
                     {{"axes", Arg::ints({1})}, {"ends", Arg::ints({-1})}, {"starts", Arg::ints({2})}})};
}

Samples pad_samples(DType dtype) {
    const Tensor x = ramp(dtype, {3, 4});
    Samples result;
    for (const char* mode : {"constant", "reflect", "edge"})
        result.push_back(at_opset(13, mode, {x, integers({1, 0, 2, 3})}, {{"mode", mode}}, {1}));
    result.push_back(at_opset(13, "value", {x, integers({0, -1, 1, 1}), scalar(dtype, 1)}, {}, {1, 2}));
    for (const char* mode : {"constant", "wrap"})
        result.push_back(at_opset(19, std::string(mode) + ", axes", {x, integers({5, -1}), {}, integers({-1})},
                                  {{"mode", mode}}, {1, 3}));
    if (is_floating(dtype))
        result.push_back(at_opset(7, "attributes", {x}, {{"pads", Arg::ints({0, 1, 1, 0})}, {"value", 2.5}}));
    return result;
}

Samples crop_samples(DType dtype) {
    const Tensor x = ramp(dtype, {5, 4, 3});
    return {at_opset(18, "both", {x, integers({2, 7, 3})}, {}, {1}),
            at_opset(18, "axes", {x, integers({1, 8})}, {{"axes", Arg::ints({-2, 0})}}, {1})};
}

}  // namespace

Table onnx_slice_table() {
    return {
        {{"onnx.CenterCropPad"}, crop_samples}, {{"onnx.Concat"}, concat_samples}, {{"onnx.Pad"}, pad_samples},
        {{"onnx.Slice"}, slice_samples},        {{"onnx.Split"}, split_samples},
    };
}

}  // namespace whittle::samples
