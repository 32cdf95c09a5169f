// Samples of lib/ops/aten/pseudo_inverse.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

using Kwargs = std::vector<std::pair<std::string, Arg>>;

Tensor regular_matrix(DType dtype) { return values(dtype, {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2}, {3, 3}); }

Samples with_limit(DType dtype, const ArgList& rest, const Kwargs& kwargs, const std::vector<Tensor>& limits = {},
                   const std::string& suffix = "") {
    Samples samples;
    const auto add = [&](const std::string& label, const Tensor& x, bool hermitian) {
        Sample sample = call_of(label + suffix, {x}, kwargs);
        sample.tensors.insert(sample.tensors.end(), limits.begin(), limits.end());
        sample.args.insert(sample.args.end(), rest.begin(), rest.end());
        if (hermitian) sample.kwargs.emplace_back("hermitian", true);
        samples.push_back(std::move(sample));
    };
    add("tall", random(dtype, {4, 3}, 1), false);
    add("wide", random(dtype, {3, 4}, 2), false);
    add("symmetric", regular_matrix(dtype), true);
    if (limits.empty()) add("batch", random(dtype, {2, 3, 3}, 3), false);
    return samples;
}

Samples vander_samples(DType dtype) {
    const Tensor x = is_floating(dtype) ? random(dtype, {4}) : values(dtype, {1, 2, 3, 1});
    return {call_of("square", {x}), call_of("wide", {x}, {{"N", Arg(6)}})};
}

Samples condition_samples(DType dtype) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {call_of("by default", {random(dtype, {3, 4})}), call_of("least by greatest", {regular_matrix(dtype), -2}),
            call_of("columns", {regular_matrix(dtype), 1}), call_of("rows", {regular_matrix(dtype), infinity})};
}
Samples named_conditions(DType dtype) {
    return {call_of("fro", {regular_matrix(dtype), "fro"}), call_of("nuc", {regular_matrix(dtype), "nuc"})};
}
Samples exponential_samples(DType dtype) {
    return {call_of("small", {random(dtype, {2, 3, 3})}), call_of("large", {random(dtype, {4, 4}, 2)}),
            call_of("one number", {random(dtype, {1, 1})})};
}

}  // namespace

Table pseudo_inverse_table() {
    return {
        {{"aten.linalg_pinv.default", "aten.linalg_matrix_rank.default"},
         [](DType dtype) { return with_limit(dtype, {0.05}, {}); }},
        {{"aten.linalg_pinv.rcond_tensor", "aten.linalg_matrix_rank.tol_tensor"},
         [](DType dtype) { return with_limit(dtype, {t(1)}, {}, {scalar(dtype, 0.05)}); }},
        {{"aten.linalg_pinv.atol_rtol_float", "aten.linalg_matrix_rank.atol_rtol_float"},
         [](DType dtype) {
             return with_limit(dtype, {}, {}) +
                    with_limit(dtype, {}, {{"atol", Arg(0.01)}, {"rtol", Arg(0.02)}}, {}, ", limits");
         }},
        {{"aten.linalg_pinv.atol_rtol_tensor", "aten.linalg_matrix_rank.atol_rtol_tensor"},
         [](DType dtype) {
             return with_limit(dtype, {}, {}) +
                    with_limit(dtype, {}, {{"atol", t(1)}}, {scalar(dtype, 0.05)}, ", limits");
         }},
        {{"aten.linalg_cond.default"}, condition_samples},
        {{"aten.linalg_cond.p_str"}, named_conditions},
        {{"aten.linalg_vander.default", "aten.vander.default"}, vander_samples},
        {{"aten.linalg_matrix_exp.default"}, exponential_samples},
    };
}

}  // namespace whittle::samples
