// Samples of lib/ops/aten/power.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples tensor_samples(DType dtype) { return binary(dtype, kNumbers | kComplex); }

Samples exponent_samples(DType dtype) {
    Samples result = unary(dtype, {Arg(2)});
    const Tensor x = is_inexact(dtype) ? special(dtype) : ramp(dtype, {7});
    for (const int exponent : {0, 1, 3, 5, 64})
        result.push_back(call_of('^' + std::to_string(exponent), {x, Arg(exponent)}));
    for (const double exponent : {0.5, -0.5, -1.0, -2.0, 1.5, 0.0})
        result.push_back(call_of('^' + std::to_string(exponent), {x, Arg(exponent)}));
    return result;
}

Samples base_samples(DType dtype) {
    Samples result;
    for (const Arg& base : {Arg(2), Arg(1), Arg(-1), Arg(0), Arg(0.5), Arg(-1.5)})
        for (auto& [label, tensor] : inputs(dtype)) {
            const bool whole = std::holds_alternative<std::int64_t>(base.value);
            if (dtype == DType::boolean && whole && label == "special") continue;  // the same as ramp
            const std::string text = whole ? std::to_string(std::get<std::int64_t>(base.value))
                                           : std::to_string(std::get<double>(base.value));
            result.push_back(call_of(label + " base " + text, {base, tensor}));
        }
    return result;
}

}  // namespace

Table power_table() {
    return {{{"aten.pow.Tensor_Tensor"}, tensor_samples},
            {{"aten.pow.Tensor_Scalar"}, exponent_samples},
            {{"aten.pow.Scalar"}, base_samples}};
}

}  // namespace whittle::samples
