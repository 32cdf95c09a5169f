// Samples of lib/ops/aten/norm.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Inputs and how many trailing dimensions are normalized.
Samples layer_samples(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& x, std::size_t trailing) {
        const Sizes shape(x.sizes().end() - static_cast<std::ptrdiff_t>(trailing), x.sizes().end());
        const Tensor weight = uniform(dtype, shape, 0.5, 2), bias = random(dtype, shape, 9);
        result.push_back(call_of(label, {x, Arg::ints(shape), weight, bias, Arg(1e-5)}));
    };
    for (const auto& [label, x] : reduced(dtype)) add(label, x, 1);
    const Tensor x = random(dtype, {2, 3, 4}, 7);
    add("two dimensions", x, 2);
    add("all dimensions", x, 3);
    add("empty", ramp(dtype, {0, 3}), 1);
    add("large offset", uniform(dtype, {2, 8}, 10, 11), 1);
    result.push_back(call_of("no parameters", {x, Arg::ints({4}), Arg(), Arg(), Arg(0.1)}));
    result.push_back(call_of("weight only", {x, Arg::ints({4}), uniform(dtype, {4}, 0.5, 2), Arg(), Arg(0.1)}));
    return result;
}
Samples rms_samples(DType dtype) {
    Samples result;
    for (Sample& sample : layer_samples(dtype)) {
        const bool has_bias = sample.args[3].node() != nullptr;
        sample.args = {sample.args[0], sample.args[1], sample.args[2], sample.args[4]};
        if (has_bias) sample.tensors.pop_back();
        result.push_back(std::move(sample));
    }
    result.push_back(call_of("default eps", {random(dtype, {2, 3}), Arg::ints({3})}));
    return result;
}

struct GroupSample {
    std::string label;
    Tensor input;
    std::int64_t groups;
};

std::vector<GroupSample> group_inputs(DType dtype) {
    const Tensor x = random(dtype, {2, 4, 3, 2}, 7);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<GroupSample> result = {{"two groups", x, 2},
                                       {"one group", x, 1},
                                       {"a group per channel", x, 4},
                                       {"no area", random(dtype, {3, 6}), 3},
                                       {"transposed", transposed(random(dtype, {2, 4, 5})), 2},
                                       {"negative stride", negative(random(dtype, {2, 4, 5})), 2},
                                       {"empty", ramp(dtype, {0, 4, 3}), 2}};
    result.push_back({"nan", values(dtype, {1, 2, 3, 4, nan, 6, 7, 9}, {1, 4, 2}), 2});
    return result;
}
Samples native_group_samples(DType dtype) {
    Samples result;
    for (const auto& [label, x, groups] : group_inputs(dtype)) {
        const Sizes channels = {x.sizes()[1]};
        const std::int64_t area = element_count(std::span(x.sizes()).subspan(2));
        const ArgList rest = {Arg(x.sizes()[0]), Arg(x.sizes()[1]), Arg(area), Arg(groups), Arg(1e-5)};
        const Tensor weight = uniform(dtype, channels, 0.5, 2), bias = random(dtype, channels, 9);
        result.push_back({label, {x, weight, bias}, joined({t(0), t(1), t(2)}, rest)});
        result.push_back({label + " no parameters", {x}, joined({t(0), Arg(), Arg()}, rest)});
    }
    return result;
}
Samples group_samples(DType dtype) {
    Samples result;
    for (const auto& [label, x, groups] : group_inputs(dtype)) {
        const Tensor weight = uniform(dtype, {x.sizes()[1]}, 0.5, 2);
        result.push_back(call_of(label, {x, Arg(groups), weight, weight}));
    }
    return result;
}

Samples weight_norm_samples(DType dtype) {
    const Tensor v = random(dtype, {4, 3, 2});
    const Tensor first = random(dtype, {4, 1, 1}, 2), last = random(dtype, {1, 1, 2}, 2);
    return {call_of("first", {v, first, 0}), call_of("last", {v, last, 2}),
            call_of("transposed", {transposed(v), first, 0})};
}
Samples weight_norm_backward_samples(DType dtype) {
    const Tensor grad = random(dtype, {4, 3, 2}, 3), v = random(dtype, {4, 3, 2});
    const auto each = [&](const Sizes& sizes) {
        return std::vector<Tensor>{grad, v, random(dtype, sizes, 2), uniform(dtype, sizes, 0.5, 2)};
    };
    return {{"first", each({4, 1, 1}), {t(0), t(1), t(2), t(3), 0}},
            {"last", each({1, 1, 2}), {t(0), t(1), t(2), t(3), 2}}};
}

}  // namespace

Table norm_table() {
    return {{{"aten.native_layer_norm.default", "aten.layer_norm.default"}, layer_samples},
            {{"aten.native_group_norm.default"}, native_group_samples},
            {{"aten.group_norm.default"}, group_samples},
            {{"aten.rms_norm.default"}, rms_samples},
            {{"aten._fused_rms_norm.default"},
             [](DType dtype) {
                 const Tensor x = random(dtype, {2, 3}), weight = random(dtype, {3}, 2);
                 return Samples{call_of("plain", {x, Arg::ints({3}), Arg(), Arg()}),
                                call_of("weighted", {x, Arg::ints({3}), weight, 0.5})};
             }},
            {{"aten._weight_norm_interface.default"}, weight_norm_samples},
            {{"aten._weight_norm_interface_backward.default"}, weight_norm_backward_samples}};
}

}  // namespace whittle::samples
