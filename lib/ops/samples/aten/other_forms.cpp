// Samples of lib/ops/aten/other_forms.cpp.
#include <cmath>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Tensor some(DType dtype) {
    return is_floating(dtype) ? values(dtype, {3, -0.5, std::nan(""), 8, 1, 0.25}, {2, 3})
                              : values(dtype, {3, 7, 5, 8, 1, 2}, {2, 3});
}
Samples combinations(DType dtype) {
    const Tensor x = values(dtype, {1, 0, 1, 1});
    return {{"pairs", {x}, {t(0)}},
            {"threes", {x}, {t(0), 3}},
            {"repeated", {x}, {t(0), 2, true}},
            {"more than there are", {x}, {t(0), 5}},
            {"none", {x}, {t(0), 0}}};
}
Samples products(DType dtype, const std::vector<Sizes>& sizes) {
    Sample sample{"in f32", {}, {}};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        sample.tensors.push_back(random(dtype, sizes[i], i + 1));
        sample.args.push_back(t(static_cast<int>(i)));
    }
    sample.args.push_back(dtype == DType::f64 ? DType::f64 : DType::f32);
    return {sample};
}

Samples cov_samples(DType dtype) {
    const DType real = real_of(dtype);
    const Tensor x = random(dtype, {3, 4}, 1), times = values(DType::i64, {1, 2, 0, 3}),
                 weights = values(real, {0.5, 1, 2, 0.25});
    Sample both{"both weights", {x, times, weights}, {t(0)}, {{"fweights", t(1)}, {"aweights", t(2)}}};
    return {{"variables", {x}, {t(0)}},
            {"one", {random(dtype, {5}, 2)}, {t(0)}},
            {"not corrected", {transposed(x)}, {t(0)}, {{"correction", Arg(0)}}},
            {"repeated", {x, times}, {t(0)}, {{"fweights", t(1)}}},
            both};
}

}  // namespace

Table other_form_table() {
    return {
        {{"aten.frexp.Tensor"},
         [](DType dtype) -> Samples {
             return {{"rows", {random(dtype, {3, 4})}, {t(0)}}, {"corners", {values(dtype, {0, 1, -8, 0.75})}, {t(0)}}};
         }},
        {{"aten.signbit.default"},
         [](DType dtype) -> Samples {
             const bool negative = is_floating(dtype);
             return {{"corners", {values(dtype, {0, negative ? -0.0 : 1, negative ? -2.5 : 0, 1})}, {t(0)}}};
         }},
        {{"aten.nanmedian.default"},
         [](DType dtype) -> Samples {
             return {{"all", {some(dtype)}, {t(0)}}};
         }},
        {{"aten.nanmedian.dim"},
         [](DType dtype) -> Samples {
             return {{"rows", {some(dtype)}, {t(0), 1}}, {"kept", {some(dtype)}, {t(0), -1, true}}};
         }},
        {{"aten.combinations.default"}, combinations},
        {{"aten.gradient.scalarint"},
         [](DType dtype) -> Samples {
             const Tensor x = random(dtype, {4, 5});
             return {{"all", {x}, {t(0)}},
                     {"spaced", {x}, {t(0)}, {{"spacing", Arg(0.5)}, {"dim", Arg(1)}}},
                     {"second order", {x}, {t(0)}, {{"dim", Arg(0)}, {"edge_order", Arg(2)}}}};
         }},
        {{"aten.gradient.scalararray"},
         [](DType dtype) -> Samples {
             return {{"both", {random(dtype, {4, 5})}, {t(0)}, {{"spacing", Arg(2)}, {"dim", Arg::ints({1, 0})}}}};
         }},
        {{"aten.gradient.array"},
         [](DType dtype) -> Samples {
             return {{"last", {random(dtype, {4, 5})}, {t(0)}, {{"dim", Arg::ints({1})}}}};
         }},
        {{"aten.renorm.default"},
         [](DType dtype) -> Samples {
             return {{"rows", {random(dtype, {3, 4})}, {t(0), 2, 0, 1.0}},
                     {"middle", {random(dtype, {2, 3, 4})}, {t(0), 1, 1, 0.5}}};
         }},
        {{"aten.embedding_renorm.default"},
         [](DType dtype) -> Samples {
             const Tensor x = random(dtype, {4, 3});
             return {{"some rows", {x, positions({2, 0, 2}, {3})}, {t(0), t(1), 1.0, 2.0}},
                     {"sums", {x, positions({1, 3, 0, 1}, {2, 2})}, {t(0), t(1), 0.5, 1.0}}};
         }},
        {{"aten.cov.default"}, cov_samples},
        {{"aten.corrcoef.default"},
         [](DType dtype) -> Samples {
             return {{"two", {random(dtype, {2, 5})}, {t(0)}}, {"one", {random(dtype, {4})}, {t(0)}}};
         }},
        {{"aten.block_diag.default"},
         [](DType dtype) -> Samples {
             const Tensor x = random(dtype, {2, 3}, 1), y = random(dtype, {3}, 2), z = scalar(dtype, 2);
             return {{"matrix, vector, number", {x, y, z}, {Arg(ArgList{t(0), t(1), t(2)})}},
                     {"one", {transposed(x)}, {Arg(ArgList{t(0)})}},
                     {"none wide", {random(dtype, {2, 0}), x}, {Arg(ArgList{t(0), t(1)})}}};
         }},
        {{"aten.value_selecting_reduction_backward.default"},
         [](DType dtype) -> Samples {
             const auto call = [&](const char* label, const Sizes& grad, std::int64_t dim, bool keep) {
                 return Sample{
                     label, {random(dtype, grad), indices(grad, 3)}, {t(0), dim, t(1), Arg::ints({3, 3}), keep}};
             };
             return {call("rows", {3}, 1, false), call("columns", {3}, 0, false), call("kept", {3, 1}, -1, true)};
         }},
        {{"aten.isreal.default"},
         [](DType dtype) -> Samples {
             return {{"numbers", {random(dtype, {2, 3})}, {t(0)}}, {"zeros", {values(dtype, {0, 1, 0})}, {t(0)}}};
         }},
        {{"aten.mm.dtype"},
         [](DType dtype) {
             return products(dtype, {{2, 3}, {3, 4}});
         }},
        {{"aten.bmm.dtype"},
         [](DType dtype) {
             return products(dtype, {{2, 2, 3}, {2, 3, 4}});
         }},
        {{"aten.addmm.dtype"},
         [](DType dtype) {
             return products(dtype, {{4}, {2, 3}, {3, 4}});
         }},
        {{"aten.baddbmm.dtype"},
         [](DType dtype) {
             return products(dtype, {{2, 2, 4}, {2, 2, 3}, {2, 3, 4}});
         }},
    };
}

}  // namespace whittle::samples
