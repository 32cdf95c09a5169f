// Samples of lib/ops/aten/backward_layers.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Arg mask(bool first, bool second, bool third) { return Arg(ArgList{Arg(first), Arg(second), Arg(third)}); }

Arg all() { return Arg(ArgList{Arg(true), Arg(true), Arg(true)}); }

Samples layer_norm_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}, 2), grad = random(dtype, {3, 4}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor mean = random(dtype, {3, 1}, 4), rstd = uniform(dtype, {3, 1}, 0.5, 2);
    const Tensor images = random(dtype, {2, 3, 4}, 2), weights = uniform(dtype, {3, 4}, 0.5, 2);
    const Tensor means = random(dtype, {2, 1, 1}, 4), scales = uniform(dtype, {2, 1, 1}, 0.5, 2);
    Samples result = {
        call_of("affine", {grad, x, Arg::ints({4}), mean, rstd, w, t(4), all()}),
        call_of("input only", {grad, x, Arg::ints({4}), mean, rstd, Arg(), Arg(), mask(true, false, false)}),
        call_of("two dimensions",
                {random(dtype, {2, 3, 4}), images, Arg::ints({3, 4}), means, scales, weights, t(4), all()}),
        call_of("one number", {expanded(random(dtype, {}), {3, 4}), x, Arg::ints({4}), mean, rstd, w, t(4), all()})};
    for (const auto& [label, laid] : other_layouts(x))
        result.push_back(call_of(label, {grad, laid, Arg::ints({4}), mean, rstd, w, t(4), all()}));
    return result;
}
Samples group_norm_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 4, 3}, 2), grad = random(dtype, {2, 4, 3}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor mean = random(dtype, {2, 2}, 4), rstd = uniform(dtype, {2, 2}, 0.5, 2);
    return {call_of("affine", {grad, x, mean, rstd, w, 2, 4, 3, 2, all()}),
            call_of("no weight", {grad, x, mean, rstd, Arg(), 2, 4, 3, 2, mask(true, false, false)}),
            call_of("input only", {grad, x, mean, rstd, w, 2, 4, 3, 2, mask(true, false, false)}),
            call_of("a group per channel",
                    {random(dtype, {1, 2, 2, 2}), random(dtype, {1, 2, 2, 2}, 2), random(dtype, {1, 2}, 4),
                     uniform(dtype, {1, 2}, 0.5, 2), Arg(), 1, 2, 4, 2, mask(true, false, false)})};
}
Samples batch_norm_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 4}, 2), grad = random(dtype, {2, 3, 4}), w = uniform(dtype, {3}, 0.5, 2);
    const Tensor mean = random(dtype, {3}, 4), scale = uniform(dtype, {3}, 0.5, 2, 5);
    const Tensor rows = random(dtype, {4, 3}, 2), images = random(dtype, {2, 3, 2, 2}, 2);
    Samples result = {
        call_of("training", {grad, x, w, Arg(), Arg(), mean, scale, true, 1e-5, all()}),
        call_of("evaluation", {grad, x, w, mean, scale, Arg(), Arg(), false, 1e-5, all()}),
        call_of("rows", {random(dtype, {4, 3}), rows, w, Arg(), Arg(), mean, scale, true, 1e-5, all()}),
        call_of("images, no weight",
                {random(dtype, {2, 3, 2, 2}), images, Arg(), Arg(), Arg(), mean, scale, true, 1e-5, all()}),
        call_of("input only", {grad, x, w, Arg(), Arg(), mean, scale, true, 1e-5, mask(true, false, false)}),
        call_of("one number",
                {expanded(random(dtype, {}), {2, 3, 4}), x, w, Arg(), Arg(), mean, scale, true, 1e-5, all()})};
    for (const auto& [label, laid] : other_layouts(x))
        result.push_back(call_of(label, {grad, laid, w, Arg(), Arg(), mean, scale, true, 1e-5, all()}));
    return result;
}

Arg same_in_both_dims(std::int64_t v) { return Arg::ints({v, v}); }
Samples convolution_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 4, 6, 5}, 2), grad = random(dtype, {2, 3, 6, 5}),
                 w = random(dtype, {3, 4, 3, 3}, 3);
    const ArgList plain = {t(0),
                           t(1),
                           t(2),
                           Arg::ints({3}),
                           same_in_both_dims(1),
                           same_in_both_dims(1),
                           same_in_both_dims(1),
                           false,
                           same_in_both_dims(0),
                           1,
                           all()};
    Samples result = {
        {"plain", {grad, x, w}, plain},
        call_of("stride, groups",
                {random(dtype, {2, 2, 3, 2}), x, random(dtype, {2, 2, 2, 2}, 3), Arg::ints({2}), same_in_both_dims(2),
                 same_in_both_dims(0), same_in_both_dims(1), false, same_in_both_dims(0), 2, all()}),
        call_of("dilation, no bias",
                {random(dtype, {2, 1, 2, 1}), x, random(dtype, {1, 4, 3, 3}, 3), Arg(), same_in_both_dims(1),
                 same_in_both_dims(0), same_in_both_dims(2), false, same_in_both_dims(0), 1, mask(true, true, false)}),
        call_of("1d, weight only",
                {random(dtype, {2, 3, 3}), random(dtype, {2, 2, 7}, 2), random(dtype, {3, 2, 3}, 3), Arg::ints({3}),
                 Arg::ints({2}), Arg::ints({0}), Arg::ints({1}), false, Arg::ints({0}), 1, mask(false, true, false)}),
        call_of("depthwise", {random(dtype, {1, 4, 6, 5}), random(dtype, {1, 4, 6, 5}, 2),
                              random(dtype, {4, 1, 3, 3}, 3), Arg::ints({4}), same_in_both_dims(1),
                              same_in_both_dims(1), same_in_both_dims(1), false, same_in_both_dims(0), 4, all()}),
        call_of("3d", {random(dtype, {1, 2, 2, 3, 2}), random(dtype, {1, 3, 3, 4, 3}, 2),
                       random(dtype, {2, 3, 2, 2, 2}, 3), Arg::ints({2}), Arg::ints({1, 1, 1}), Arg::ints({0, 0, 0}),
                       Arg::ints({1, 1, 1}), false, Arg::ints({0, 0, 0}), 1, all()}),
        {"one number", {expanded(random(dtype, {}), {2, 3, 6, 5}), x, w}, plain},
        call_of("of a transposed one",
                {random(dtype, {2, 3, 6, 5}), x, random(dtype, {4, 3, 3, 3}, 3), Arg::ints({3}), same_in_both_dims(1),
                 same_in_both_dims(1), same_in_both_dims(1), true, same_in_both_dims(0), 1, all()}),
        call_of("of a transposed one, stride, groups",
                {random(dtype, {2, 6, 14, 11}), x, random(dtype, {4, 3, 3, 2}, 3), Arg::ints({6}), same_in_both_dims(2),
                 Arg::ints({0, 0}), same_in_both_dims(1), true, same_in_both_dims(1), 2, all()})};
    for (const auto& [label, laid] : other_layouts(x)) result.push_back({label, {grad, laid, w}, plain});
    return result;
}

/// Those that have a weight, without statistics to read but the batch's own.
Samples reserving_samples(DType dtype) {
    Samples result;
    for (Sample& sample : batch_norm_backward_samples(dtype)) {
        if (sample.args.at(2).is_none()) continue;
        sample.args.push_back(t(static_cast<int>(sample.tensors.size())));
        sample.tensors.push_back(values(DType::u8, {}));
        result.push_back(std::move(sample));
    }
    return result;
}
Samples rms_norm_backward_samples(DType dtype) {
    const DType wide = dtype == DType::f64 ? dtype : DType::f32;
    const Tensor grad = random(dtype, {2, 3, 4}, 1), x = random(dtype, {2, 3, 4}, 2);
    const auto call = [&](const char* label, const Sizes& shape, const Sizes& rstd, bool weight, bool of_weight) {
        Sample sample = call_of(label, {grad, x, Arg::ints(shape), uniform(wide, rstd, 0.5, 2)});
        if (weight) sample.tensors.push_back(uniform(dtype, shape, 0.5, 2));
        sample.args.push_back(weight ? t(3) : Arg());
        sample.args.push_back(Arg(ArgList{Arg(true), Arg(of_weight)}));
        return sample;
    };
    return {call("weight", {4}, {2, 3, 1}, true, true), call("no weight", {4}, {2, 3, 1}, false, false),
            call("two dimensions", {3, 4}, {2, 1, 1}, true, true)};
}

}  // namespace

Table layer_backward_table() {
    return {{{"aten.native_layer_norm_backward.default"}, layer_norm_backward_samples},
            {{"aten.native_group_norm_backward.default"}, group_norm_backward_samples},
            {{"aten.native_batch_norm_backward.default"}, batch_norm_backward_samples},
            {{"aten.batch_norm_backward.default"}, reserving_samples},
            {{"aten._fused_rms_norm_backward.default"}, rms_norm_backward_samples},
            {{"aten.convolution_backward.default"}, convolution_samples}};
}

}  // namespace whittle::samples
