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
    return {call_of("pairs", {x}), call_of("threes", {x, 3}), call_of("repeated", {x, 2, true}),
            call_of("more than there are", {x, 5}), call_of("none", {x, 0})};
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
    return {call_of("variables", {x}),
            call_of("one", {random(dtype, {5}, 2)}),
            call_of("not corrected", {transposed(x)}, {{"correction", Arg(0)}}),
            {"repeated", {x, times}, {t(0)}, {{"fweights", t(1)}}},
            both};
}

}  // namespace

Table other_form_table() {
    return {
        {{"aten.frexp.Tensor"},
         [](DType dtype) -> Samples {
             return {call_of("rows", {random(dtype, {3, 4})}), call_of("corners", {values(dtype, {0, 1, -8, 0.75})})};
         }},
        {{"aten.signbit.default"},
         [](DType dtype) -> Samples {
             const bool negative = is_floating(dtype);
             return {call_of("corners", {values(dtype, {0, negative ? -0.0 : 1, negative ? -2.5 : 0, 1})})};
         }},
        {{"aten.nanmedian.default"}, [](DType dtype) -> Samples { return {call_of("all", {some(dtype)})}; }},
        {{"aten.nanmedian.dim"},
         [](DType dtype) -> Samples {
             return {call_of("rows", {some(dtype), 1}), call_of("kept", {some(dtype), -1, true})};
         }},
        {{"aten.combinations.default"}, combinations},
        {{"aten.gradient.scalarint"},
         [](DType dtype) -> Samples {
             const Tensor x = random(dtype, {4, 5});
             return {call_of("all", {x}), call_of("spaced", {x}, {{"spacing", Arg(0.5)}, {"dim", Arg(1)}}),
                     call_of("second order", {x}, {{"dim", Arg(0)}, {"edge_order", Arg(2)}})};
         }},
        {{"aten.gradient.scalararray"},
         [](DType dtype) -> Samples {
             return {call_of("both", {random(dtype, {4, 5})}, {{"spacing", Arg(2)}, {"dim", Arg::ints({1, 0})}})};
         }},
        {{"aten.gradient.array"},
         [](DType dtype) -> Samples {
             return {call_of("last", {random(dtype, {4, 5})}, {{"dim", Arg::ints({1})}})};
         }},
        {{"aten.renorm.default"},
         [](DType dtype) -> Samples {
             return {call_of("rows", {random(dtype, {3, 4}), 2, 0, 1.0}),
                     call_of("middle", {random(dtype, {2, 3, 4}), 1, 1, 0.5})};
         }},
        {{"aten.embedding_renorm.default"},
         [](DType dtype) -> Samples {
             const Tensor x = random(dtype, {4, 3});
             return {call_of("some rows", {x, positions({2, 0, 2}, {3}), 1.0, 2.0}),
                     call_of("sums", {x, positions({1, 3, 0, 1}, {2, 2}), 0.5, 1.0})};
         }},
        {{"aten.cov.default"}, cov_samples},
        {{"aten.corrcoef.default"},
         [](DType dtype) -> Samples {
             return {call_of("two", {random(dtype, {2, 5})}), call_of("one", {random(dtype, {4})})};
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
                 return call_of(label, {random(dtype, grad), dim, indices(grad, 3), Arg::ints({3, 3}), keep});
             };
             return {call("rows", {3}, 1, false), call("columns", {3}, 0, false), call("kept", {3, 1}, -1, true)};
         }},
        {{"aten.isreal.default"},
         [](DType dtype) -> Samples {
             return {call_of("numbers", {random(dtype, {2, 3})}), call_of("zeros", {values(dtype, {0, 1, 0})})};
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
