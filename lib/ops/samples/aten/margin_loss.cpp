// Samples of lib/ops/aten/margin_loss.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples multi_margin_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    return {call_of("mean", {x, y}), call_of("none, squares", {x, y, 2, 0.5, Arg(), kNone}),
            call_of("sum, weights", {x, y, 1, 1, w, kSum}),
            call_of("squares, weights, transposed", {transposed(x), y, 2, 1, w, kMean}),
            call_of("one row", {random(dtype, {4}), scalar(DType::i64, 2), 1, 1, Arg(), kNone})};
}
Samples multi_margin_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor one = random(dtype, {}, 3);
    return {call_of("mean", {one, x, y, 1, 1, Arg(), kMean}),
            call_of("none, squares", {random(dtype, {3}, 3), x, y, 2, 0.5, Arg(), kNone}),
            call_of("sum, weights", {one, transposed(x), y, 1, 1, w, kSum}),
            call_of("one row", {one, random(dtype, {4}), scalar(DType::i64, 2), 1, 1, Arg(), kMean})};
}

Tensor labels() { return values(DType::i64, {3, 0, -1, 1, -1, 2, 0, 1, 2, 1, 0, 3}, {3, 4}); }
Samples multilabel_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4});
    return {call_of("mean", {x, labels(), kMean}), call_of("none", {x, labels(), kNone}),
            call_of("sum, transposed", {transposed(x), labels(), kSum}),
            call_of("one row", {random(dtype, {4}), integers({1, 2, -1, 0}), kNone})};
}
Samples multilabel_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), is_target = values(dtype, {1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1}, {3, 4});
    return {call_of("mean", {random(dtype, {}, 3), x, labels(), kMean, is_target}),
            call_of("none", {random(dtype, {3}, 3), x, labels(), kNone, is_target}),
            call_of("one row", {random(dtype, {}, 3), random(dtype, {4}), integers({1, 2, -1, 0}), kSum,
                                values(dtype, {0, 1, 1, 0})})};
}

Tensor signs(DType dtype, Sizes sizes) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(sizes); ++i) values.push_back(i % 3 == 0 ? -1 : 1);
    return samples::values(dtype, values, std::move(sizes));
}
Samples ranking_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2), sign = signs(dtype, {2, 3});
    return {call_of("mean", {x, y, sign}), call_of("none, margin", {x, transposed(y), sign, 0.5, kNone}),
            call_of("sum", {strided(x), y, sign, 0.25, kSum})};
}
Samples hinge_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), sign = signs(dtype, {2, 3});
    return {call_of("mean", {x, sign}), call_of("none, margin", {transposed(x), sign, 0.5, kNone}),
            call_of("other targets", {x, values(dtype, {0, 0.5, -1, 1, 2, -3}, {2, 3}), 1.0, kNone}),
            call_of("sum", {strided(x), sign, 2.0, kSum})};
}

}  // namespace

Table margin_loss_table() {
    return {
        {{"aten.multi_margin_loss.default"}, multi_margin_samples},
        {{"aten.multi_margin_loss_backward.default"}, multi_margin_backward_samples},
        {{"aten.multilabel_margin_loss_forward.default", "aten.multilabel_margin_loss.default"}, multilabel_samples},
        {{"aten.multilabel_margin_loss_backward.default"}, multilabel_backward_samples},
        {{"aten.margin_ranking_loss.default"}, ranking_samples},
        {{"aten.hinge_embedding_loss.default"}, hinge_samples}};
}

}  // namespace whittle::samples
