// Samples of lib/ops/aten/grouped_mm.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Tensor ends(const std::vector<std::int64_t>& values, DType dtype = DType::i32) { return integers(values).to(dtype); }

Samples of_rows(DType dtype) {
    const Tensor x = random(dtype, {5, 3}, 1), weight = random(dtype, {3, 3, 4}, 2);
    return {call_of("rows", {x, weight, ends({2, 2, 5})}),
            call_of("wide offsets", {x, weight, ends({1, 3, 5}, DType::i64)}),
            call_of("rows behind the groups", {x, weight, ends({1, 3, 4})}),
            call_of("transposed", {x, transposed(random(dtype, {3, 3, 4}, 2)), ends({0, 4, 5})})};
}
Samples grouped_samples(DType dtype) {
    Samples samples = of_rows(dtype);
    samples.push_back(call_of("columns", {random(dtype, {2, 3, 4}, 1), random(dtype, {4, 5}, 2), ends({3, 5})}));
    samples.push_back(call_of("terms", {random(dtype, {3, 5}, 1), random(dtype, {5, 2}, 2), ends({2, 5})}));
    samples.push_back(call_of("batches", {random(dtype, {2, 3, 4}, 1), random(dtype, {2, 4, 5}, 2)}));
    return samples;
}

}  // namespace

Table grouped_mm_table() { return {{{"aten._grouped_mm.default"}, grouped_samples}}; }
Table transformers_table() { return {{{"transformers.grouped_mm_fallback.default"}, of_rows}}; }

}  // namespace whittle::samples
