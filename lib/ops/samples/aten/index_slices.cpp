// Samples of lib/ops/aten/index_slices.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples index_reduce_samples(DType dtype) {
    Samples result;
    for (const char* reduce : {"prod", "mean", "amax", "amin"})
        for (const bool include_self : {true, false}) {
            const auto call = [&](const std::string& label, const std::vector<Tensor>& tensors, std::int64_t dim) {
                Sample sample = scattered(label + ", " + reduce + (include_self ? "" : " without self"), tensors, dim,
                                          {t(2), reduce});
                sample.kwargs = {{"include_self", include_self}};
                result.push_back(std::move(sample));
            };
            call("rows", {random(dtype, {3, 4}), indices({5}, 3), random(dtype, {5, 4}, 2)}, 0);
            call("strided", {transposed(random(dtype, {3, 4})), indices({2}, 4), strided(random(dtype, {3, 2}, 2))},
                 -1);
        }
    return result;
}

}  // namespace

Table index_slice_table() {
    return {
        {{"aten.index_add.default"},
         [](DType dtype) -> Samples {
             Sample twice = scattered("alpha", {mixed(dtype, {3}), indices({4}, 3), ramp(dtype, {4})}, 0, {t(2)});
             twice.kwargs = {{"alpha", dtype == DType::boolean ? Arg(true) : Arg(2)}};
             return {twice,
                     scattered("columns", {mixed(dtype, {2, 4}), indices({3}, 4), ramp(dtype, {2, 3})}, -1, {t(2)}),
                     scattered("0-d", {mixed(dtype, {}), indices({1}, 1), ramp(dtype, {})}, 0, {t(2)}),
                     scattered("empty", {mixed(dtype, {3}), indices({0}, 1), ramp(dtype, {0})}, 0, {t(2)})};
         }},
        {{"aten.index_copy.default"},
         [](DType dtype) -> Samples {
             const Tensor index = values(DType::i64, {3, 0});
             return {scattered("rows", {mixed(dtype, {4, 3}), index, ramp(dtype, {2, 3})}, 0, {t(2)}),
                     scattered("strided", {transposed(mixed(dtype, {3, 4})), index, transposed(ramp(dtype, {3, 2}))},
                               -1, {t(2)}),
                     scattered("0-d", {mixed(dtype, {}), indices({1}, 1), ramp(dtype, {})}, 0, {t(2)}),
                     scattered("empty", {mixed(dtype, {3}), indices({0}, 1), ramp(dtype, {0})}, 0, {t(2)})};
         }},
        {{"aten.index_fill.int_Scalar"},
         [](DType dtype) -> Samples {
             return {scattered("rows", {mixed(dtype, {4, 3}), indices({2}, 4)}, 0, {2}),
                     scattered("strided", {transposed(mixed(dtype, {3, 4})), indices({5}, 4)}, -1, {1}),
                     scattered("0-d", {mixed(dtype, {}), indices({1}, 1)}, 0, {1}),
                     scattered("empty", {mixed(dtype, {3}), indices({0}, 1)}, 0, {1})};
         }},
        {{"aten.index_fill.int_Tensor"},
         [](DType dtype) -> Samples {
             return {scattered("rows", {mixed(dtype, {4, 3}), indices({2}, 4), scalar(dtype, 1)}, 0, {t(2)}),
                     scattered("integer", {mixed(dtype, {4, 3}), indices({2}, 3), scalar(DType::i64, 1)}, -1, {t(2)}),
                     scattered("strided", {transposed(mixed(dtype, {3, 4})), indices({5}, 4), scalar(dtype, 0)}, -1,
                               {t(2)}),
                     scattered("0-d", {mixed(dtype, {}), indices({1}, 1), scalar(dtype, 1)}, 0, {t(2)}),
                     scattered("empty", {mixed(dtype, {3}), indices({0}, 1), scalar(dtype, 1)}, 0, {t(2)})};
         }},
        {{"aten.index_reduce.default"}, index_reduce_samples}};
}

}  // namespace whittle::samples
