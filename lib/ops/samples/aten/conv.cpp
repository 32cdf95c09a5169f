// Samples of lib/ops/aten/conv.cpp.
#include <cmath>
#include <optional>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Arguments after input, weight and bias.
struct Options {
    Sizes stride = {1}, padding = {0}, dilation = {1};
    bool transposed = false;
    Sizes output_padding = {0};
    std::int64_t groups = 1;
};

Sample sample_convolution_call(const std::string& label, const Tensor& input, const Tensor& weight,
                               const std::optional<Tensor>& bias, const Options& o = {}) {
    Sample sample = call_of(label, {input, weight, Arg()});
    if (bias) {
        sample.tensors.push_back(*bias);
        sample.args[2] = t(2);
    }
    for (const Arg& arg : {Arg::ints(o.stride), Arg::ints(o.padding), Arg::ints(o.dilation), Arg(o.transposed),
                           Arg::ints(o.output_padding), Arg(o.groups)})
        sample.args.push_back(arg);
    return sample;
}

Samples sample_convolution(DType dtype) {
    Samples result;
    const auto random = [&](const Sizes& sizes, std::uint64_t seed = 1) { return samples::random(dtype, sizes, seed); };
    const auto add = [&](const std::string& label, const Sizes& input, const Sizes& weight, const Sizes& bias,
                         const Options& options = {}) {
        result.push_back(sample_convolution_call(label, random(input), random(weight, 2),
                                                 bias.empty() ? std::optional<Tensor>() : random(bias, 3), options));
    };
    add("1d", {2, 3, 7}, {4, 3, 3}, {4});
    add("1d stride padding", {1, 2, 8}, {3, 2, 4}, {}, {.stride = {3}, .padding = {2}});
    add("2d", {2, 3, 5, 6}, {4, 3, 3, 2}, {4});
    add("2d padded", {1, 2, 4, 5}, {3, 2, 3, 3}, {3}, {.padding = {1}});
    add("2d pointwise", {2, 3, 4, 5}, {6, 3, 1, 1}, {6});
    add("2d pointwise stride", {1, 3, 5, 5}, {2, 3, 1, 1}, {}, {.stride = {2}});
    add("2d all different", {1, 4, 9, 8}, {6, 2, 2, 3}, {6}, {{2, 1}, {1, 3}, {3, 2}, false, {0}, 2});
    add("2d depthwise", {1, 4, 5, 5}, {4, 1, 3, 3}, {4}, {.stride = {2}, .padding = {1}, .groups = 4});
    add("2d depthwise multiplier", {1, 3, 4, 4}, {6, 1, 2, 2}, {}, {.groups = 3});
    add("2d padding beyond kernel", {1, 1, 2, 2}, {1, 1, 2, 2}, {1}, {.padding = {3}});
    add("2d kernel of the whole image", {2, 2, 3, 3}, {2, 2, 3, 3}, {});
    add("3d", {1, 2, 4, 3, 5}, {2, 2, 2, 2, 3}, {2}, {.stride = {2, 1, 1}, .padding = {1, 0, 1}});
    add("empty batch", {0, 3, 5, 5}, {4, 3, 3, 3}, {4});
    add("no channels", {1, 0, 3, 3}, {2, 0, 2, 2}, {2});
    add("padding only", {1, 2, 0, 2}, {1, 2, 2, 2}, {1}, {.padding = {1}});
    add("transposed 1d", {2, 3, 4}, {3, 2, 3}, {2}, {.stride = {2}, .transposed = true});
    add("transposed 2d", {1, 2, 3, 4}, {2, 3, 3, 2}, {3}, {.transposed = true});
    add("transposed 2d all different", {1, 4, 3, 4}, {4, 3, 3, 2}, {6}, {{2, 3}, {1, 2}, {2, 1}, true, {1, 2}, 2});
    add("transposed 2d depthwise", {1, 3, 4, 4}, {3, 1, 2, 2}, {}, {.stride = {2}, .transposed = true, .groups = 3});
    add("transposed 2d, side by side", {1, 3, 3, 4}, {3, 2, 2, 2}, {2}, {.stride = {2}, .transposed = true});
    add("transposed 2d, twice as large", {2, 3, 3, 4}, {3, 2, 4, 4}, {2}, {{2}, {1}, {1}, true});
    add("transposed 2d, output padding", {1, 2, 3, 4}, {2, 3, 3, 3}, {3}, {{2}, {1}, {1}, true, {1}});
    add("transposed 2d in groups", {2, 4, 3, 3}, {4, 3, 3, 3}, {6}, {{2}, {1}, {1}, true, {0}, 2});
    add("transposed 2d, kernel below stride", {1, 2, 2, 3}, {2, 2, 1, 2}, {2}, {.stride = {3}, .transposed = true});
    add("transposed 1d, stride 3, dilation 2", {1, 2, 5}, {2, 2, 4}, {}, {{3}, {2}, {2}, true, {1}});
    add("transposed 1d, stride 4, dilation 6", {1, 2, 4}, {2, 1, 3}, {1}, {{4}, {0}, {6}, true});
    add("transposed 3d", {1, 1, 2, 3, 2}, {1, 2, 2, 1, 2}, {2}, {.stride = {2}, .transposed = true});
    add("transposed empty batch", {0, 2, 3, 3}, {2, 3, 2, 2}, {3}, {.transposed = true});

    const auto weights = layouts(random({3, 2, 2, 2}, 5));
    for (const auto& [label, input] : layouts(random({2, 2, 3, 4}, 4)))
        result.push_back(
            sample_convolution_call("input " + label, input, weights[0].second, random({3}), {.padding = {1}}));
    for (const auto& [label, weight] : weights)
        result.push_back(sample_convolution_call("weight " + label, random({2, 2, 3, 4}, 4), weight, random({3})));
    result.push_back(sample_convolution_call("expanded", expanded(random({1, 1, 1, 4}), {2, 2, 3, 4}),
                                             weights[0].second, expanded(random({1}), {3})));
    if (!is_floating(dtype)) return result;
    // An infinite weight times the padding's zeros is NaN; where a transposed convolution adds nothing it stays a zero.
    const Tensor odd = values(dtype, {1, INFINITY, NAN, 2}, {1, 1, 2, 2});
    const Tensor image = values(dtype, {1, 2, 3, -INFINITY, 5, 0, 7, 8, NAN}, {1, 1, 3, 3});
    result.push_back(sample_convolution_call("special weight", random({1, 1, 3, 3}), odd, {}, {.padding = {1}}));
    result.push_back(sample_convolution_call("special input", image, random({1, 1, 2, 2}), {}, {.padding = {1}}));
    result.push_back(
        sample_convolution_call("transposed special", image, odd, {}, {.stride = {2}, .transposed = true}));
    return result;
}

}  // namespace

Table conv_table() { return {{{"aten.convolution.default"}, sample_convolution}}; }

}  // namespace whittle::samples
