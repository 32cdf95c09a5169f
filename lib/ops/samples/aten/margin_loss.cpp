// Samples of lib/ops/aten/margin_loss.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples multi_margin_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    return {{"mean", {x, y}, {t(0), t(1)}},
            {"none, squares", {x, y}, {t(0), t(1), 2, 0.5, Arg(), kNone}},
            {"sum, weights", {x, y, w}, {t(0), t(1), 1, 1, t(2), kSum}},
            {"squares, weights, transposed", {transposed(x), y, w}, {t(0), t(1), 2, 1, t(2), kMean}},
            {"one row", {random(dtype, {4}), scalar(DType::i64, 2)}, {t(0), t(1), 1, 1, Arg(), kNone}}};
}
Samples multi_margin_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor one = random(dtype, {}, 3);
    return {{"mean", {one, x, y}, {t(0), t(1), t(2), 1, 1, Arg(), kMean}},
            {"none, squares", {random(dtype, {3}, 3), x, y}, {t(0), t(1), t(2), 2, 0.5, Arg(), kNone}},
            {"sum, weights", {one, transposed(x), y, w}, {t(0), t(1), t(2), 1, 1, t(3), kSum}},
            {"one row", {one, random(dtype, {4}), scalar(DType::i64, 2)}, {t(0), t(1), t(2), 1, 1, Arg(), kMean}}};
}

Tensor labels() { return values(DType::i64, {3, 0, -1, 1, -1, 2, 0, 1, 2, 1, 0, 3}, {3, 4}); }
Samples multilabel_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4});
    return {{"mean", {x, labels()}, {t(0), t(1), kMean}},
            {"none", {x, labels()}, {t(0), t(1), kNone}},
            {"sum, transposed", {transposed(x), labels()}, {t(0), t(1), kSum}},
            {"one row", {random(dtype, {4}), integers({1, 2, -1, 0})}, {t(0), t(1), kNone}}};
}
Samples multilabel_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), is_target = values(dtype, {1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1}, {3, 4});
    return {{"mean", {random(dtype, {}, 3), x, labels(), is_target}, {t(0), t(1), t(2), kMean, t(3)}},
            {"none", {random(dtype, {3}, 3), x, labels(), is_target}, {t(0), t(1), t(2), kNone, t(3)}},
            {"one row",
             {random(dtype, {}, 3), random(dtype, {4}), integers({1, 2, -1, 0}), values(dtype, {0, 1, 1, 0})},
             {t(0), t(1), t(2), kSum, t(3)}}};
}

Tensor signs(DType dtype, Sizes sizes) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(sizes); ++i) values.push_back(i % 3 == 0 ? -1 : 1);
    return samples::values(dtype, values, std::move(sizes));
}
Samples ranking_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2), sign = signs(dtype, {2, 3});
    return {{"mean", {x, y, sign}, {t(0), t(1), t(2)}},
            {"none, margin", {x, transposed(y), sign}, {t(0), t(1), t(2), 0.5, kNone}},
            {"sum", {strided(x), y, sign}, {t(0), t(1), t(2), 0.25, kSum}}};
}
Samples hinge_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), sign = signs(dtype, {2, 3});
    return {{"mean", {x, sign}, {t(0), t(1)}},
            {"none, margin", {transposed(x), sign}, {t(0), t(1), 0.5, kNone}},
            {"other targets", {x, values(dtype, {0, 0.5, -1, 1, 2, -3}, {2, 3})}, {t(0), t(1), 1.0, kNone}},
            {"sum", {strided(x), sign}, {t(0), t(1), 2.0, kSum}}};
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
