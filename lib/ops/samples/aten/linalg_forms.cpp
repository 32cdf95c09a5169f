// Samples of lib/ops/aten/linalg_forms.cpp; those of inverses, determinants, equations and factors are in linalg.cpp
// and factorization.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample two_of(DType dtype, const std::string& label, const Sizes& x, const Sizes& y, const ArgList& rest = {}) {
    return {label, {random(dtype, x, 1), random(dtype, y, 2)}, joined({t(0), t(1)}, rest)};
}
Sample of_one(DType dtype, const std::string& label, const Sizes& x, const ArgList& rest) {
    return {label, {random(dtype, x)}, joined({t(0)}, rest)};
}

Samples bilinear_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}, 1), y = random(dtype, {2, 4}, 2), weight = random(dtype, {5, 3, 4}, 3);
    return {call_of("no bias", {x, y, weight}), call_of("bias", {x, y, weight, random(dtype, {5}, 4)})};
}

Samples weight_norms(DType dtype) {
    return {two_of(dtype, "rows", {3, 4}, {3, 1}, {0}), two_of(dtype, "columns", {3, 4}, {1, 4}, {1}),
            two_of(dtype, "middle", {2, 3, 4}, {1, 3, 1}, {1})};
}

Samples matrix_norms(DType dtype) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {of_one(dtype, "columns", {3, 4}, {1}), of_one(dtype, "least row", {3, 4}, {-infinity}),
            of_one(dtype, "largest value", {3, 4}, {2}),
            of_one(dtype, "kept", {2, 3, 4}, {infinity, Arg::ints({0, 2}), true}),
            of_one(dtype, "least value, kept", {2, 3, 4}, {-2, Arg::ints({2, 0}), true})};
}
Samples named_norms(DType dtype) {
    return {of_one(dtype, "fro", {3, 4}, {"fro"}), of_one(dtype, "nuc", {2, 3, 4}, {"nuc", Arg::ints({1, 2}), true})};
}

Samples frobenius_norm_samples(DType dtype) { return {of_one(dtype, "all", {2, 3}, {})}; }
Samples nuclear_norm_samples(DType dtype) { return {of_one(dtype, "matrix", {3, 4}, {})}; }
Samples nuclear_norm_dim_samples(DType dtype) { return {of_one(dtype, "kept", {2, 3, 4}, {Arg::ints({1, 2}), true})}; }
Samples int_mm_samples(DType dtype) { return {two_of(dtype, "matrices", {18, 8}, {8, 16})}; }

}  // namespace

Table linalg_form_table() {
    return {
        {{"aten.linalg_multi_dot.default", "aten.chain_matmul.default"},
         [](DType dtype) {
             return Samples{{"three",
                             {random(dtype, {2, 3}, 1), random(dtype, {3, 4}, 2), random(dtype, {4, 2}, 3)},
                             {Arg(ArgList{t(0), t(1), t(2)})}}};
         }},
        {{"aten.frobenius_norm.default"}, frobenius_norm_samples},
        {{"aten.nuclear_norm.default"}, nuclear_norm_samples},
        {{"aten.nuclear_norm.dim"}, nuclear_norm_dim_samples},
        {{"aten.inner.default"},
         [](DType dtype) {
             return Samples{two_of(dtype, "vectors", {3}, {3}), two_of(dtype, "matrices", {2, 3}, {4, 3}),
                            two_of(dtype, "number", {}, {2, 3})};
         }},
        {{"aten._int_mm.default"}, int_mm_samples},
        {{"aten.linalg_vecdot.default"},
         [](DType dtype) {
             return Samples{two_of(dtype, "vectors", {3}, {3}), two_of(dtype, "broadcast", {2, 3}, {3})};
         }},
        {{"aten.vdot.default"}, [](DType dtype) { return Samples{two_of(dtype, "vectors", {3}, {3})}; }},
        {{"aten.cross.default"},
         [](DType dtype) {
             return Samples{two_of(dtype, "found", {2, 3, 3}, {2, 3, 3}), two_of(dtype, "named", {3, 3}, {3, 3}, {-1})};
         }},
        {{"aten.bilinear.default"}, bilinear_samples},
        {{"aten.linalg_matrix_norm.default"}, matrix_norms},
        {{"aten.linalg_matrix_norm.str_ord", "aten.linalg_norm.ord_str"}, named_norms},
        {{"aten.linalg_norm.default"},
         [](DType dtype) {
             return Samples{of_one(dtype, "all", {2, 3}, {}), of_one(dtype, "vectors", {2, 3}, {3, Arg::ints({1})}),
                            of_one(dtype, "matrix", {2, 3}, {1})};
         }},
        {{"aten.norm.ScalarOpt_dtype"},
         [](DType dtype) {
             Sample sample = of_one(dtype, "in f64", {2, 3}, {2});
             sample.kwargs = {{"dtype", Arg(DType::f64)}};
             return Samples{sample};
         }},
        {{"aten.norm.ScalarOpt_dim_dtype"},
         [](DType dtype) {
             Sample sample = of_one(dtype, "in f64", {2, 3}, {1, Arg::ints({1}), true});
             sample.kwargs = {{"dtype", Arg(DType::f64)}};
             return Samples{sample};
         }},
        {{"aten.frobenius_norm.dim"},
         [](DType dtype) {
             return Samples{of_one(dtype, "rows", {2, 3}, {Arg::ints({1})}),
                            of_one(dtype, "kept", {2, 3, 2}, {Arg::ints({0, 2}), true})};
         }},
        {{"aten.dist.default"},
         [](DType dtype) {
             return Samples{two_of(dtype, "second", {2, 3}, {3}), two_of(dtype, "first", {2, 3}, {2, 3}, {1})};
         }},
        {{"aten.norm_except_dim.default"},
         [](DType dtype) {
             return Samples{of_one(dtype, "rows", {3, 4}, {}), of_one(dtype, "middle", {2, 3, 4}, {2, 1}),
                            of_one(dtype, "all", {3, 4}, {2, -1})};
         }},
        {{"aten._weight_norm.default"}, weight_norms},
    };
}

}  // namespace whittle::samples
