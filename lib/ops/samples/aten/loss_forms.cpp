// Samples of lib/ops/aten/loss_forms.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples huber_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    const Tensor corners = values(dtype, {0, 1, -1, 2, -3}), zeros = values(dtype, {0, 0, 0, 0, 0});
    return {{"mean", {x, y}, {t(0), t(1)}},
            {"sum", {x, y}, {t(0), t(1), kSum, Arg(0.5)}},
            {"none", {transposed(x), strided(y)}, {t(0), t(1), kNone, Arg(1.0)}},
            {"corners", {corners, zeros}, {t(0), t(1), kNone, Arg(1.0)}},
            {"empty", {random(dtype, {0}), random(dtype, {0})}, {t(0), t(1), kSum, Arg(1.0)}}};
}
Samples huber_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    return {{"mean", {random(dtype, {}, 3), x, y}, {t(0), t(1), t(2), kMean, Arg(1.0)}},
            {"none", {random(dtype, {2, 3}, 3), transposed(x), y}, {t(0), t(1), t(2), kNone, Arg(0.5)}}};
}

Tensor shares(DType dtype, Sizes sizes, std::uint64_t seed) {
    return uniform(dtype, std::move(sizes), 0.05, 0.95, seed);
}
Samples entropy_samples(DType dtype) {
    const Tensor x = shares(dtype, {2, 3}, 1), y = shares(dtype, {2, 3}, 2), weight = uniform(dtype, {2, 3}, 0.5, 2, 3);
    const Tensor certain = values(dtype, {0, 1, 0, 1}), truth = values(dtype, {0, 1, 1, 0});
    return {{"mean", {x, y}, {t(0), t(1)}},
            {"sum, weights", {x, y, weight}, {t(0), t(1), t(2), kSum}},
            {"none", {transposed(x), strided(y)}, {t(0), t(1), Arg(), kNone}},
            {"certain", {certain, truth}, {t(0), t(1), Arg(), kNone}}};
}
Samples entropy_backward_samples(DType dtype) {
    const Tensor x = shares(dtype, {2, 3}, 1), y = shares(dtype, {2, 3}, 2), weight = uniform(dtype, {2, 3}, 0.5, 2, 3);
    return {{"mean", {random(dtype, {}, 4), x, y}, {t(0), t(1), t(2), Arg(), kMean}},
            {"none, weights", {random(dtype, {2, 3}, 4), x, y, weight}, {t(0), t(1), t(2), t(3), kNone}}};
}
Samples margin_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = values(dtype, {1, -1, 1, -1, -1, 1}, {2, 3});
    return {{"mean", {x, y}, {t(0), t(1)}},
            {"none", {x, y}, {t(0), t(1), kNone}},
            {"sum", {transposed(x), y}, {t(0), t(1), kSum}}};
}

Samples margin_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = values(dtype, {1, -1, 1, -1, -1, 1}, {2, 3});
    return {{"mean", {random(dtype, {}, 3), x, y}, {t(0), t(1), t(2), kMean}},
            {"none", {random(dtype, {2, 3}, 3), transposed(x), y}, {t(0), t(1), t(2), kNone}}};
}
Samples l1_loss_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    return {{"mean", {x, y}, {t(0), t(1)}},
            {"none, broadcast", {transposed(x), random(dtype, {3}, 2)}, {t(0), t(1), kNone}},
            {"sum", {strided(x), y}, {t(0), t(1), kSum}}};
}
Samples divergence_samples(DType dtype) {
    const Tensor x = uniform(dtype, {2, 3}, -3, 0), y = shares(dtype, {2, 3}, 2);
    Samples result = {{"mean", {x, y}, {t(0), t(1)}},
                      {"none, some 0", {x, values(dtype, {0, 0.5, 0.25, 0, 1, 0}, {2, 3})}, {t(0), t(1), kNone}},
                      {"sum, logarithms", {transposed(x), strided(x)}, {t(0), t(1), kSum}}};
    result.back().kwargs = {{"log_target", true}};
    return result;
}
Samples poisson_samples(DType dtype) {
    const Tensor x = shares(dtype, {2, 3}, 1), y = values(dtype, {0, 1, 2, 3, 5, 1}, {2, 3});
    return {{"logarithms", {x, y}, {t(0), t(1), true, false, 1e-8, kMean}},
            {"full", {transposed(x), y}, {t(0), t(1), true, true, 1e-8, kNone}},
            {"rates, full", {x, y}, {t(0), t(1), false, true, 0.25, kSum}}};
}

Tensor image_classes() { return values(DType::i64, {0, 2, 1, 1, 0, 2, 2, 0}, {2, 2, 2}); }
Samples nll_loss2d_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 2, 2}), w = uniform(dtype, {3}, 0.5, 2);
    return {{"mean", {x, image_classes()}, {t(0), t(1), Arg(), kMean, -100}},
            {"weights, one ignored", {x, image_classes(), w}, {t(0), t(1), t(2), kSum, 1}},
            {"none", {x, image_classes(), w}, {t(0), t(1), t(2), kNone, 0}}};
}
Samples nll_loss2d_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 2, 2}), w = uniform(dtype, {3}, 0.5, 2), total = scalar(dtype, 8);
    return {{"mean", {random(dtype, {}, 3), x, image_classes(), total}, {t(0), t(1), t(2), Arg(), kMean, -100, t(3)}},
            {"none",
             {random(dtype, {2, 2, 2}, 3), x, image_classes(), w, total},
             {t(0), t(1), t(2), t(3), kNone, 0, t(4)}}};
}

}  // namespace

Table loss_form_table() {
    return {{{"aten.huber_loss.default"}, huber_samples},
            {{"aten.huber_loss_backward.default"}, huber_backward_samples},
            {{"aten.binary_cross_entropy.default"}, entropy_samples},
            {{"aten.binary_cross_entropy_backward.default"}, entropy_backward_samples},
            {{"aten.soft_margin_loss.default"}, margin_samples},
            {{"aten.soft_margin_loss_backward.default"}, margin_backward_samples},
            {{"aten.l1_loss.default"}, l1_loss_samples},
            {{"aten.kl_div.default"}, divergence_samples},
            {{"aten.poisson_nll_loss.default"}, poisson_samples},
            {{"aten.nll_loss2d_forward.default", "aten.nll_loss_nd.default"}, nll_loss2d_samples},
            {{"aten.nll_loss2d_backward.default"}, nll_loss2d_backward_samples}};
}

}  // namespace whittle::samples
