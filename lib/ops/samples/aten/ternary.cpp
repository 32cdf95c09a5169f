// Samples of lib/ops/aten/ternary.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples clamp_samples(DType dtype) {
    Samples result = unary(dtype, {Arg(1), Arg(3)});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor x = special(dtype), ramp = samples::ramp(dtype, {3, 4});
    const auto add = [&](const std::string& label, const Tensor& tensor, const Arg& low, const Arg& high) {
        result.push_back(call_of(label, {tensor, low, high}));
    };
    add("min only", x, Arg(1), Arg());
    add("max only", x, Arg(), Arg(2));
    add("zeros", x, Arg(0), Arg(0));
    add("crossed", ramp, Arg(3), Arg(1));
    add("floating bounds", ramp, Arg(0.3), Arg(2.5));
    if (is_floating(dtype)) add("nan bound", x, Arg(nan), Arg(1.0));
    return result;
}
Samples bound_samples(DType dtype) {
    Samples result = unary(dtype, {Arg(2)});
    result.push_back(call_of("floating bound", {ramp(dtype, {3, 4}), Arg(0.3)}));
    return result;
}
Samples clamp_tensor_samples(DType dtype) {
    Samples result = binary(dtype, kNumbers);
    const Tensor x = random(dtype, {2, 3}), low = ramp(dtype, {3}), high = ramp(dtype, {2, 1});
    result.push_back(call_of("both", {x, low, high}));
    result.push_back(call_of("max only", {x, Arg(), high}));
    return result;
}

/// The pairs of a binary op with a third operand.
Samples three_samples(DType dtype) {
    Samples result;
    for (Sample& sample : binary(dtype, set_of(dtype))) {
        sample.tensors.push_back(uniform(dtype, sample.tensors[1].sizes(), 0.1, 3));
        sample.args = {t(0), t(1), t(2)};
        result.push_back(std::move(sample));
    }
    return result;
}
Samples with_value_samples(DType dtype) {
    Samples result = three_samples(dtype);
    const Tensor a = ramp(dtype, {2, 3}), b = random(dtype, {3}), c = uniform(dtype, {2, 1}, 1, 4);
    result.push_back(call_of("value", {a, b, c}, {{"value", is_inexact(dtype) ? Arg(0.3) : Arg(3)}}));
    return result;
}
Samples lerp_scalar_samples(DType dtype) {
    Samples result;
    for (const double weight : {0.3, 0.7, 1.0, 0.0, -2.0})
        for (const Sample& sample : binary(dtype, set_of(dtype))) {
            if (weight != 0.3 && sample.label != "ramp" && sample.label != "special") continue;
            result.push_back(
                {sample.label + " weight " + std::to_string(weight), sample.tensors, {t(0), t(1), Arg(weight)}});
        }
    return result;
}

}  // namespace

Table ternary_table() {
    return {{{"aten.clamp.default"}, clamp_samples},
            {{"aten.clamp.Tensor"}, clamp_tensor_samples},
            {{"aten.clamp_min.default", "aten.clamp_max.default"}, bound_samples},
            {{"aten.lerp.Tensor"}, three_samples},
            {{"aten.lerp.Scalar"}, lerp_scalar_samples},
            {{"aten.addcmul.default", "aten.addcdiv.default"}, with_value_samples}};
}

}  // namespace whittle::samples
