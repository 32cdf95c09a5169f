// Samples of lib/ops/aten/backward_activations.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Those of any gradient, and one over all the pieces of the functions here, with the bounds of
/// hardtanh_backward_samples().
Samples with_pieces(DType dtype, const ArgList& rest = {}) {
    Samples result = of_gradient(dtype, rest);
    const Tensor at = values(dtype, {-30, -4, -2, -1, -0.75, 0.25, 0.75, 1, 2, 4, 30});
    result.push_back({"pieces", {random(dtype, at.sizes()), at}, joined({t(0), t(1)}, rest)});
    return result;
}

/// Those of other parameters: all kinds of values, in one layout.
Samples in_one_layout(DType dtype, const ArgList& rest = {}) {
    Samples result = with_pieces(dtype, rest);
    std::erase_if(result, [](const Sample& sample) {
        return sample.label != "2-d" && sample.label != "special" && sample.label != "pieces";
    });
    return result;
}
Samples piecewise_samples(DType dtype) { return with_pieces(dtype); }
Samples leaky_relu_samples(DType dtype) {
    Samples result = with_pieces(dtype, {Arg(0.25), false});
    for (Sample& sample : in_one_layout(dtype, {Arg(0.125), true})) {
        sample.label += ", of the result";
        result.push_back(std::move(sample));
    }
    return result;
}
Samples hardtanh_backward_samples(DType dtype) { return with_pieces(dtype, {-1, 2}); }
Samples softplus_samples(DType dtype) {
    Samples result = with_pieces(dtype, {1, 20});
    for (Sample& sample : in_one_layout(dtype, {2, 1})) {
        sample.label += ", beta 2, threshold 1";
        result.push_back(std::move(sample));
    }
    return result;
}

/// The operand comes last.
Samples elu_samples(DType dtype) {
    const std::tuple<const char*, ArgList> variants[] = {{"", {1, 1, 1, false}},
                                                         {", of the result", {1, 1, 1, true}},
                                                         {", scaled", {Arg(1.5), Arg(1.25), Arg(0.5), false}},
                                                         {", scaled, of the result", {Arg(1.5), 2, Arg(0.5), true}}};
    Samples result;
    for (const auto& [suffix, numbers] : variants)
        for (Sample& sample : *suffix ? in_one_layout(dtype) : with_pieces(dtype)) {
            sample.label += suffix;
            sample.args.insert(sample.args.begin() + 1, numbers.begin(), numbers.end());
            result.push_back(std::move(sample));
        }
    return result;
}

}  // namespace

Table unary_backward_table() {
    return {{{"aten.leaky_relu_backward.default"}, leaky_relu_samples},
            {{"aten.elu_backward.default"}, elu_samples},
            {{"aten.hardtanh_backward.default"}, hardtanh_backward_samples},
            {{"aten.hardsigmoid_backward.default", "aten.hardswish_backward.default", "aten.silu_backward.default",
              "aten.mish_backward.default"},
             piecewise_samples},
            {{"aten.softplus_backward.default"}, softplus_samples}};
}

}  // namespace whittle::samples
