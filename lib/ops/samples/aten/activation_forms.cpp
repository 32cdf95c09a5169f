// Samples of lib/ops/aten/activation_forms.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample two(const std::string& label, const Tensor& a, const Tensor& b, const ArgList& rest = {}) {
    return {.label = label, .tensors = {a, b}, .args = joined({t(0), t(1)}, rest)};
}

Samples prelu_samples(DType dtype) {
    return {two("one weight", random(dtype, {3, 4}), random(dtype, {1}, 2)),
            two("per channel", random(dtype, {2, 3, 4}), random(dtype, {3}, 2)),
            two("strided", transposed(random(dtype, {4, 3})), strided(random(dtype, {3}, 2))),
            two("vector", random(dtype, {5}), random(dtype, {1}, 2)),
            two("special", special(dtype), random(dtype, {1}, 2)),
            two("empty", random(dtype, {0, 3}), random(dtype, {3}, 2))};
}
/// Whose weights broadcast.
Samples prelu_kernel_samples(DType dtype) {
    return {two("one weight", random(dtype, {3, 4}), random(dtype, {1, 1}, 2)),
            two("per channel", random(dtype, {2, 3, 4}), random(dtype, {1, 3, 1}, 2)),
            two("transposed", transposed(random(dtype, {3, 4})), random(dtype, {3, 4}, 2)),
            two("special", special(dtype), random(dtype, {1}, 2))};
}
template <SamplesFn kForward>
Samples prelu_backward_samples(DType dtype) {
    Samples result;
    for (Sample& sample : kForward(dtype)) {
        if (sample.label == "special") continue;  // a NaN's share of the weight's gradient is nobody's
        sample.tensors.insert(sample.tensors.begin(), random(dtype, sample.tensors[0].sizes(), 5));
        sample.args.push_back(t(2));
        result.push_back(std::move(sample));
    }
    return result;
}
Samples glu_samples(DType dtype) {
    return {call_of("last", {random(dtype, {3, 4}), -1}), call_of("first", {transposed(random(dtype, {4, 3})), 0}),
            call_of("middle", {random(dtype, {2, 6, 3}), 1}), call_of("empty", {random(dtype, {0, 4}), 1})};
}
Samples glu_backward_samples(DType dtype) {
    Samples result;
    for (Sample& sample : glu_samples(dtype)) {
        Sizes sizes = sample.tensors[0].sizes();
        const std::int64_t dim = sample.label == "last" ? 1 : sample.label == "first" ? 0 : 1;
        sizes[static_cast<std::size_t>(dim)] /= 2;
        sample.tensors.insert(sample.tensors.begin(), random(dtype, sizes, 5));
        sample.args = {t(0), t(1), dim};
        result.push_back(std::move(sample));
    }
    return result;
}
Samples shrink_samples(DType dtype) { return unary(dtype, {Arg(0.5)}) + unary(dtype, {Arg(0.25)}, ", 0.25"); }
Samples logit_samples(DType dtype) {
    const Tensor x = values(dtype, {0, 0.1, 0.5, 0.75, 1, -0.5, 2});
    return {call_of("as it is", {x}), call_of("clamped", {x, 0.2}),
            call_of("transposed", {transposed(uniform(dtype, {2, 3}, 0.1, 0.9)), 0.2})};
}
Samples logit_backward_samples(DType dtype) {
    const Tensor x = values(dtype, {0, 0.1, 0.5, 0.75, 1, -0.5, 2}), grad = random(dtype, {7});
    return {call_of("as it is", {grad, x}), call_of("clamped", {grad, x, 0.2})};
}
Samples shrink_backward_samples(DType dtype) { return of_gradient(dtype, {Arg(0.5)}); }
Samples threshold_samples(DType dtype) { return unary(dtype, {1, 3}) + unary(dtype, {0, 0}, ", relu"); }

/// The buffer is what the forward op writes into it.
Samples log_sigmoid_backward_samples(DType dtype) {
    const Tensor x = values(dtype, {-20, -2, -0.5, 0, 0.5, 2, 20});
    const Tensor buffer =
        values(dtype, {2.0611536e-9, 0.13533528, 0.60653066, 1, 0.60653066, 0.13533528, 2.0611536e-9});
    return {call_of("values", {random(dtype, {7}), x, buffer}),
            call_of("empty", {random(dtype, {0}), random(dtype, {0}), random(dtype, {0})})};
}

}  // namespace

Table activation_form_table() {
    return {{{"aten.prelu.default"}, prelu_samples},
            {{"aten.prelu_backward.default"}, prelu_backward_samples<prelu_samples>},
            {{"aten._prelu_kernel.default"}, prelu_kernel_samples},
            {{"aten._prelu_kernel_backward.default"}, prelu_backward_samples<prelu_kernel_samples>},
            {{"aten.glu.default"}, glu_samples},
            {{"aten.glu_backward.default"}, glu_backward_samples},
            {{"aten.hardshrink.default", "aten.softshrink.default"}, shrink_samples},
            {{"aten.hardshrink_backward.default", "aten.softshrink_backward.default"}, shrink_backward_samples},
            {{"aten.threshold.default"}, threshold_samples},
            {{"aten.log_sigmoid_forward.default"}, unary},
            {{"aten.log_sigmoid_backward.default"}, log_sigmoid_backward_samples},
            {{"aten.logit.default"}, logit_samples},
            {{"aten.logit_backward.default"}, logit_backward_samples}};
}

}  // namespace whittle::samples
