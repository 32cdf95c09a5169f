// Samples of lib/ops/aten/random.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples sized(DType dtype, const ArgList& first) {
    Samples result;
    for (const Sizes& sizes : std::vector<Sizes>{{3, 4}, {}, {0, 2}}) {
        Sample sample{.label = "sizes " + to_string(sizes), .tensors = {}, .args = first};
        sample.args.push_back(Arg::ints(sizes));
        sample.kwargs = {{"dtype", dtype}};
        result.push_back(std::move(sample));
    }
    return result;
}

Samples randint_low_samples(DType dtype) { return sized(dtype, {3, 9}); }
Samples randperm_samples(DType dtype) { return dtype_samples(dtype, {{"seven", {7}}, {"none", {0}}}); }

}  // namespace

Table random_table() {
    return {
        {{"aten.rand.default", "aten.randn.default"}, [](DType dtype) { return sized(dtype, {}); }},
        {{"aten.rand_like.default", "aten.randn_like.default"}, unary},
        {{"aten.randint.default"}, [](DType dtype) { return sized(dtype, {9}); }},
        {{"aten.randint.low"}, randint_low_samples},
        {{"aten.randint_like.default"}, [](DType dtype) { return unary(dtype, {9}); }},
        {{"aten.randint_like.low_dtype"},
         [](DType dtype) {
             return unary(dtype, {3, 9});
         }},
        {{"aten.randperm.default"}, randperm_samples},
        {{"aten.bernoulli.default"},
         [](DType dtype) -> Samples {
             return {call_of("chances", {uniform(dtype, {3, 4}, 0, 1)}), call_of("certain", {values(dtype, {0, 1})})};
         }},
        {{"aten.bernoulli.p"}, [](DType dtype) { return unary(dtype, {0.25}); }}};
}

}  // namespace whittle::samples
