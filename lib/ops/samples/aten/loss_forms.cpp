// Samples of lib/ops/aten/loss_forms.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples huber_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    const Tensor corners = values(dtype, {0, 1, -1, 2, -3}), zeros = values(dtype, {0, 0, 0, 0, 0});
    return {call_of("mean", {x, y}), call_of("sum", {x, y, kSum, Arg(0.5)}),
            call_of("none", {transposed(x), strided(y), kNone, Arg(1.0)}),
            call_of("corners", {corners, zeros, kNone, Arg(1.0)}),
            call_of("empty", {random(dtype, {0}), random(dtype, {0}), kSum, Arg(1.0)})};
}
Samples huber_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    return {call_of("mean", {random(dtype, {}, 3), x, y, kMean, Arg(1.0)}),
            call_of("none", {random(dtype, {2, 3}, 3), transposed(x), y, kNone, Arg(0.5)})};
}

Tensor shares(DType dtype, Sizes sizes, std::uint64_t seed) {
    return uniform(dtype, std::move(sizes), 0.05, 0.95, seed);
}
Samples entropy_samples(DType dtype) {
    const Tensor x = shares(dtype, {2, 3}, 1), y = shares(dtype, {2, 3}, 2), weight = uniform(dtype, {2, 3}, 0.5, 2, 3);
    const Tensor certain = values(dtype, {0, 1, 0, 1}), truth = values(dtype, {0, 1, 1, 0});
    return {call_of("mean", {x, y}), call_of("sum, weights", {x, y, weight, kSum}),
            call_of("none", {transposed(x), strided(y), Arg(), kNone}),
            call_of("certain", {certain, truth, Arg(), kNone})};
}
Samples entropy_backward_samples(DType dtype) {
    const Tensor x = shares(dtype, {2, 3}, 1), y = shares(dtype, {2, 3}, 2), weight = uniform(dtype, {2, 3}, 0.5, 2, 3);
    return {call_of("mean", {random(dtype, {}, 4), x, y, Arg(), kMean}),
            call_of("none, weights", {random(dtype, {2, 3}, 4), x, y, weight, kNone})};
}
Samples margin_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = values(dtype, {1, -1, 1, -1, -1, 1}, {2, 3});
    return {call_of("mean", {x, y}), call_of("none", {x, y, kNone}), call_of("sum", {transposed(x), y, kSum})};
}

Samples margin_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = values(dtype, {1, -1, 1, -1, -1, 1}, {2, 3});
    return {call_of("mean", {random(dtype, {}, 3), x, y, kMean}),
            call_of("none", {random(dtype, {2, 3}, 3), transposed(x), y, kNone})};
}
Samples l1_loss_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    return {call_of("mean", {x, y}), call_of("none, broadcast", {transposed(x), random(dtype, {3}, 2), kNone}),
            call_of("sum", {strided(x), y, kSum})};
}
Samples divergence_samples(DType dtype) {
    const Tensor x = uniform(dtype, {2, 3}, -3, 0), y = shares(dtype, {2, 3}, 2);
    Samples result = {call_of("mean", {x, y}),
                      call_of("none, some 0", {x, values(dtype, {0, 0.5, 0.25, 0, 1, 0}, {2, 3}), kNone}),
                      call_of("sum, logarithms", {transposed(x), strided(x), kSum})};
    result.back().kwargs = {{"log_target", true}};
    return result;
}
Samples poisson_samples(DType dtype) {
    const Tensor x = shares(dtype, {2, 3}, 1), y = values(dtype, {0, 1, 2, 3, 5, 1}, {2, 3});
    return {call_of("logarithms", {x, y, true, false, 1e-8, kMean}),
            call_of("full", {transposed(x), y, true, true, 1e-8, kNone}),
            call_of("rates, full", {x, y, false, true, 0.25, kSum})};
}

Tensor image_classes() { return values(DType::i64, {0, 2, 1, 1, 0, 2, 2, 0}, {2, 2, 2}); }
Samples nll_loss2d_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 2, 2}), w = uniform(dtype, {3}, 0.5, 2);
    return {call_of("mean", {x, image_classes(), Arg(), kMean, -100}),
            call_of("weights, one ignored", {x, image_classes(), w, kSum, 1}),
            call_of("none", {x, image_classes(), w, kNone, 0})};
}
Samples nll_loss2d_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 2, 2}), w = uniform(dtype, {3}, 0.5, 2), total = scalar(dtype, 8);
    return {call_of("mean", {random(dtype, {}, 3), x, image_classes(), Arg(), kMean, -100, total}),
            call_of("none", {random(dtype, {2, 2, 2}, 3), x, image_classes(), w, kNone, 0, total})};
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
