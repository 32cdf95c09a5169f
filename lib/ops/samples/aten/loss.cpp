// Samples of lib/ops/aten/loss.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples mse_loss_samples(DType dtype) {
    Samples result = of_gradient(dtype, {0});
    result.push_back(call_of("mean", {random(dtype, {2, 3}), random(dtype, {3}, 2)}));
    result.push_back(call_of("sum", {random(dtype, {2, 3}), random(dtype, {2, 3}, 2), 2}));
    return result;
}
Samples smooth_l1_samples(DType dtype) {
    Samples result = mse_loss_samples(dtype);
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    for (const double beta : {0.0, 0.25, 3.0})
        result.push_back(call_of("beta " + std::to_string(beta), {x, y, 0, Arg(beta)}));
    result.push_back(call_of("bounds", {values(dtype, {0, 1, -1, 2}), values(dtype, {0, 0, 0, 1}), 0}));
    return result;
}
Samples logits_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = uniform(dtype, {2, 3}, 0, 1, 2);
    const Tensor weight = uniform(dtype, {2, 3}, 0.5, 2, 3), positive = uniform(dtype, {3}, 0.5, 2, 4);
    return {call_of("mean", {x, y}),
            call_of("none", {x, y, Arg(), Arg(), 0}),
            call_of("sum, weighted", {x, y, weight, Arg(), 2}),
            call_of("positive weight", {x, y, Arg(), positive, 0}),
            call_of("both weights", {x, y, weight, positive, 1}),
            call_of("transposed", {transposed(x), strided(y), Arg(), Arg(), 0}),
            call_of("large", {values(dtype, {-500, 500, 0, 30}), values(dtype, {1, 0, 1, 1}), Arg(), Arg(), 0})};
}
Samples mse_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}, 2), y = random(dtype, {2, 3}, 3);
    return {call_of("none", {random(dtype, {2, 3}), x, y, 0}),
            call_of("mean", {random(dtype, {}), x, y, 1}),
            call_of("sum", {random(dtype, {}), x, y, 2}),
            call_of("transposed", {transposed(random(dtype, {2, 3})), x, strided(y), 0}),
            call_of("mean of one number", {expanded(random(dtype, {}), {2, 3}), transposed(x), y, 1}),
            call_of("0-d", {random(dtype, {}), random(dtype, {}, 2), random(dtype, {}, 3), 1})};
}
Samples smooth_l1_backward_samples(DType dtype) {
    Samples result = mse_samples(dtype);
    for (Sample& sample : result) sample.args.emplace_back(1.0);
    const Tensor grad = random(dtype, {2, 3}), x = random(dtype, {2, 3}, 2), y = random(dtype, {2, 3}, 3);
    for (const double beta : {0.0, 0.25, 3.0})
        result.push_back(call_of("beta " + std::to_string(beta), {grad, x, y, 0, Arg(beta)}));
    result.push_back(call_of("beta 0, no distance", {grad, x, x, 0, Arg(0.0)}));
    return result;
}
Samples nll_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    return {call_of("none", {x, y, Arg(), 0, -100}),
            call_of("mean", {x, y, w, 1, -100}),
            call_of("sum, ignored", {x, y, w, 2, 3}),
            call_of("one row", {random(dtype, {4}), scalar(DType::i64, 2), Arg(), 1, -100}),
            call_of("transposed", {transposed(x), y, strided(w), 0, 3}),
            call_of("all ignored", {x, integers({3, 3, 3}), Arg(), 1, 3})};
}
Samples cross_entropy_samples(DType dtype) {
    Samples result = nll_samples(dtype);
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor images = random(dtype, {2, 3, 2, 2}), shares = uniform(dtype, {2, 3, 2, 2}, 0, 1);
    const Tensor places = values(DType::i64, {0, 2, 1, 1, 0, 2, 2, 0}, {2, 2, 2});
    result.push_back(call_of("smoothed", {x, y, w, 1, 3, 0.25}));
    result.push_back(call_of("smoothed, none", {x, y, Arg(), 0, -100, 0.5}));
    result.push_back(call_of("images", {images, places}));
    result.push_back(call_of("images, none", {images, places, Arg(), 0}));
    result.push_back(call_of("probabilities", {images, shares}));
    result.push_back(call_of("probabilities, weighted", {x, random(dtype, {3, 4}, 3), w, 0, -100, 0.1}));
    return result;
}
Samples nll_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor total = scalar(dtype, 2.5), one = scalar(dtype, 1.5);
    return {call_of("none", {random(dtype, {3}), x, y, Arg(), 0, -100, total}),
            call_of("mean", {one, x, y, w, 1, -100, total}), call_of("sum, ignored", {one, x, y, w, 2, 3, total}),
            call_of("none, weighted, ignored", {expanded(one, {3}), transposed(x), y, w, 0, 0, total}),
            call_of("one row", {one, random(dtype, {4}), scalar(DType::i64, 2), Arg(), 1, -100, scalar(dtype, 1)})};
}

}  // namespace

Table loss_table() {
    return {{{"aten.mse_loss.default"}, mse_loss_samples},
            {{"aten.smooth_l1_loss.default"}, smooth_l1_samples},
            {{"aten.binary_cross_entropy_with_logits.default"}, logits_samples},
            {{"aten.mse_loss_backward.default"}, mse_samples},
            {{"aten.smooth_l1_loss_backward.default"}, smooth_l1_backward_samples},
            {{"aten.nll_loss_forward.default", "aten.nll_loss.default"}, nll_samples},
            {{"aten.cross_entropy_loss.default"}, cross_entropy_samples},
            {{"aten.nll_loss_backward.default"}, nll_backward_samples}};
}

}  // namespace whittle::samples
