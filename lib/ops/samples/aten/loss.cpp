// Samples of lib/ops/aten/loss.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples mse_loss_samples(DType dtype) {
    Samples result = of_gradient(dtype, {0});
    result.push_back({"mean", {random(dtype, {2, 3}), random(dtype, {3}, 2)}, {t(0), t(1)}});
    result.push_back({"sum", {random(dtype, {2, 3}), random(dtype, {2, 3}, 2)}, {t(0), t(1), 2}});
    return result;
}
Samples smooth_l1_samples(DType dtype) {
    Samples result = mse_loss_samples(dtype);
    const Tensor x = random(dtype, {2, 3}), y = random(dtype, {2, 3}, 2);
    for (const double beta : {0.0, 0.25, 3.0})
        result.push_back({"beta " + std::to_string(beta), {x, y}, {t(0), t(1), 0, Arg(beta)}});
    result.push_back({"bounds", {values(dtype, {0, 1, -1, 2}), values(dtype, {0, 0, 0, 1})}, {t(0), t(1), 0}});
    return result;
}
Samples logits_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}), y = uniform(dtype, {2, 3}, 0, 1, 2);
    const Tensor weight = uniform(dtype, {2, 3}, 0.5, 2, 3), positive = uniform(dtype, {3}, 0.5, 2, 4);
    return {{"mean", {x, y}, {t(0), t(1)}},
            {"none", {x, y}, {t(0), t(1), Arg(), Arg(), 0}},
            {"sum, weighted", {x, y, weight}, {t(0), t(1), t(2), Arg(), 2}},
            {"positive weight", {x, y, positive}, {t(0), t(1), Arg(), t(2), 0}},
            {"both weights", {x, y, weight, positive}, {t(0), t(1), t(2), t(3), 1}},
            {"transposed", {transposed(x), strided(y)}, {t(0), t(1), Arg(), Arg(), 0}},
            {"large", {values(dtype, {-500, 500, 0, 30}), values(dtype, {1, 0, 1, 1})}, {t(0), t(1), Arg(), Arg(), 0}}};
}
Samples mse_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3}, 2), y = random(dtype, {2, 3}, 3);
    return {{"none", {random(dtype, {2, 3}), x, y}, {t(0), t(1), t(2), 0}},
            {"mean", {random(dtype, {}), x, y}, {t(0), t(1), t(2), 1}},
            {"sum", {random(dtype, {}), x, y}, {t(0), t(1), t(2), 2}},
            {"transposed", {transposed(random(dtype, {2, 3})), x, strided(y)}, {t(0), t(1), t(2), 0}},
            {"mean of one number", {expanded(random(dtype, {}), {2, 3}), transposed(x), y}, {t(0), t(1), t(2), 1}},
            {"0-d", {random(dtype, {}), random(dtype, {}, 2), random(dtype, {}, 3)}, {t(0), t(1), t(2), 1}}};
}
Samples smooth_l1_backward_samples(DType dtype) {
    Samples result = mse_samples(dtype);
    for (Sample& sample : result) sample.args.emplace_back(1.0);
    const Tensor grad = random(dtype, {2, 3}), x = random(dtype, {2, 3}, 2), y = random(dtype, {2, 3}, 3);
    for (const double beta : {0.0, 0.25, 3.0})
        result.push_back({"beta " + std::to_string(beta), {grad, x, y}, {t(0), t(1), t(2), 0, Arg(beta)}});
    result.push_back({"beta 0, no distance", {grad, x, x}, {t(0), t(1), t(2), 0, Arg(0.0)}});
    return result;
}
Samples nll_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    return {{"none", {x, y}, {t(0), t(1), Arg(), 0, -100}},
            {"mean", {x, y, w}, {t(0), t(1), t(2), 1, -100}},
            {"sum, ignored", {x, y, w}, {t(0), t(1), t(2), 2, 3}},
            {"one row", {random(dtype, {4}), scalar(DType::i64, 2)}, {t(0), t(1), Arg(), 1, -100}},
            {"transposed", {transposed(x), y, strided(w)}, {t(0), t(1), t(2), 0, 3}},
            {"all ignored", {x, integers({3, 3, 3})}, {t(0), t(1), Arg(), 1, 3}}};
}
Samples cross_entropy_samples(DType dtype) {
    Samples result = nll_samples(dtype);
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor images = random(dtype, {2, 3, 2, 2}), shares = uniform(dtype, {2, 3, 2, 2}, 0, 1);
    const Tensor places = values(DType::i64, {0, 2, 1, 1, 0, 2, 2, 0}, {2, 2, 2});
    result.push_back({"smoothed", {x, y, w}, {t(0), t(1), t(2), 1, 3, 0.25}});
    result.push_back({"smoothed, none", {x, y}, {t(0), t(1), Arg(), 0, -100, 0.5}});
    result.push_back({"images", {images, places}, {t(0), t(1)}});
    result.push_back({"images, none", {images, places}, {t(0), t(1), Arg(), 0}});
    result.push_back({"probabilities", {images, shares}, {t(0), t(1)}});
    result.push_back({"probabilities, weighted", {x, random(dtype, {3, 4}, 3), w}, {t(0), t(1), t(2), 0, -100, 0.1}});
    return result;
}
Samples nll_backward_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = integers({1, 3, 0}), w = uniform(dtype, {4}, 0.5, 2);
    const Tensor total = scalar(dtype, 2.5), one = scalar(dtype, 1.5);
    return {{"none", {random(dtype, {3}), x, y, total}, {t(0), t(1), t(2), Arg(), 0, -100, t(3)}},
            {"mean", {one, x, y, w, total}, {t(0), t(1), t(2), t(3), 1, -100, t(4)}},
            {"sum, ignored", {one, x, y, w, total}, {t(0), t(1), t(2), t(3), 2, 3, t(4)}},
            {"none, weighted, ignored",
             {expanded(one, {3}), transposed(x), y, w, total},
             {t(0), t(1), t(2), t(3), 0, 0, t(4)}},
            {"one row",
             {one, random(dtype, {4}), scalar(DType::i64, 2), scalar(dtype, 1)},
             {t(0), t(1), t(2), Arg(), 1, -100, t(3)}}};
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
