// Samples of lib/ops/aten/scatter.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples source_samples(DType dtype, const ArgList& rest) {
    const Tensor self = mixed(dtype, {4, 3}), source = ramp(dtype, {5, 3});
    return {
        scattered("duplicates", {self, indices({5, 3}, 4), source}, 0, rest),
        scattered("strided", {transposed(self), transposed(indices({5, 3}, 4)), negative(source)}, 0, rest),
        scattered("smaller index", {mixed(dtype, {3, 4, 2}), indices({2, 6, 1}, 4), ramp(dtype, {3, 6, 2})}, -2, rest),
        scattered("special values", {mixed(dtype, {4}), indices({7}, 4), mixed(dtype, {7})}, 0, rest),
        scattered("0-d", {mixed(dtype, {}), indices({}, 1), ramp(dtype, {})}, 0, rest),
        scattered("empty", {self, indices({0, 3}, 1), source}, 0, rest),
    };
}

Samples value_samples(DType dtype) {
    return {
        scattered("matrix", {mixed(dtype, {3, 4}), indices({3, 2}, 4)}, 1, {2}),
        scattered("smaller index", {mixed(dtype, {3, 4}), indices({2, 2}, 3)}, 0, {1.5}),
        scattered("0-d", {mixed(dtype, {}), indices({1}, 1)}, 0, {1}),
        scattered("empty", {mixed(dtype, {2}), indices({0}, 1)}, 0, {1}),
    };
}

Samples reduce_samples(DType dtype) {
    Samples result;
    for (const char* reduce : {"sum", "prod", "amax", "amin"})
        for (const bool include_self : {true, false})
            for (Sample& sample : source_samples(dtype, {t(2), reduce})) {
                sample.label += std::string(", ") + reduce + (include_self ? "" : " without self");
                sample.kwargs = {{"include_self", include_self}};
                result.push_back(std::move(sample));
            }
    return result;
}

}  // namespace

Table scatter_table() {
    return {
        {{"aten.scatter.src", "aten.scatter_add.default"}, [](DType dtype) { return source_samples(dtype, {t(2)}); }},
        {{"aten.scatter.value"}, value_samples},
        {{"aten.scatter_reduce.two"}, reduce_samples}};
}

}  // namespace whittle::samples
