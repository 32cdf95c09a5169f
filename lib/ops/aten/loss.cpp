// Losses and their gradients, as LibTorch computes them. All are composites. Definitions:
// https://pytorch.org/docs/stable/nn.functional.html#loss-functions
#include <algorithm>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/losses.h"
#include "ops/aten/open_rules.h"

namespace whittle {
namespace {

using namespace aten;

/// The squared differences, their mean or their sum.
CallResults decompose_mse_loss(const Call& c) {
    const V difference = c.tensor("self") - c.tensor("target");
    return reduced(c, difference * difference);
}

/// Squares below beta, from there on the distance, less what makes it continuous; Girshick 2015.
CallResults decompose_smooth_l1_loss(const Call& c) {
    const double beta = c.number("beta");
    if (beta < 0) throw Error("smooth_l1_loss: found beta=" + std::to_string(beta) + ", expected 0 or more");
    const V distance = abs(c.tensor("self") - c.tensor("target"));
    if (beta == 0) return reduced(c, distance);
    const V near = distance * 0.5 * distance / beta;
    const V is_near = lt(distance, beta);
    const V losses = where(is_near, near, distance + -0.5 * beta);
    return reduced(c, losses);
}

/// (1 - y) x + w log(1 + exp(-x)), w = 1 + (pos_weight - 1) y, without overflow: m = max(-x, 0) is taken out.
CallResults decompose_binary_cross_entropy_with_logits(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("target");
    const V most = clamp_min(-x, 0);
    const V log = aten::log(exp(-most) + exp(-x - most));
    V losses = complement(y) * x;
    if (const auto positive = c.optional_tensor("pos_weight")) {
        const V weight = (*positive + -1) * y + 1;
        losses = losses + weight * (log + most);
    } else {
        losses = losses + most + log;
    }
    if (const auto weight = c.optional_tensor("weight")) losses = losses * *weight;
    return reduced(c, losses);
}

CallResults decompose_mse_loss_backward(const Call& c) {
    const V difference = c.tensor("self") - c.tensor("target");
    const double factor = c.integer("reduction") == kMean ? 2.0 / static_cast<double>(difference.numel()) : 2.0;
    return difference * factor * c.tensor("grad_output");
}

/// The distance over beta, at most 1 each way.
CallResults decompose_smooth_l1_loss_backward(const Call& c) {
    const double beta = c.number("beta");
    const V difference = c.tensor("self") - c.tensor("target");
    V slope;
    if (beta == 0) {  // no distance is -1 as in ATen's kernel, which asks for more than 0
        const V none = eq(difference, 0);
        slope = where(none, -1.0, sign(difference));
    } else {
        slope = clamp(difference / beta, -1.0, 1.0);
    }
    const V gradient = slope * c.tensor("grad_output");
    if (c.integer("reduction") != kMean) return gradient;
    return gradient / static_cast<double>(difference.numel());
}

/// The rows of an nll_loss: scores [N, C], and per row its class, whether it is ignored, and its weight.
struct NllRows {
    V scores, target, ignored, weight;
    bool batched = true;
};

NllRows nll_rows(const Call& a) {
    NllRows rows{.scores = a.tensor("self"), .target = a.tensor("target"), .ignored = {}, .weight = {}};
    rows.batched = rows.scores.sizes().size() == 2;
    if (rows.scores.sizes().empty() || rows.scores.sizes().size() > 2)
        throw Error("found scores of sizes " + to_string(rows.scores.sizes()) + ", expected 1 or 2 dimensions");
    if (!rows.batched) {
        rows.scores = unsqueeze(rows.scores, 0);
        rows.target = reshape(rows.target, Ints{1});
    }
    if (rows.target.sizes() != Sizes{rows.scores.sizes()[0]})
        throw Error("found targets of sizes " + to_string(rows.target.sizes()) + ", expected [" +
                    std::to_string(rows.scores.sizes()[0]) + "], one target for each row of scores");
    rows.ignored = eq(rows.target, a.integer("ignore_index"));
    rows.target = masked_fill(rows.target, rows.ignored, 0);
    const auto weight = a.optional_tensor("weight");
    const V all = weight ? index_select(*weight, 0, rows.target)
                         : full(a.builder(), rows.target.sizes(), 1.0, rows.scores.dtype());
    rows.weight = masked_fill(all, rows.ignored, 0);
    return rows;
}

/// -weight[target] * self[target], its sum, or its mean over the total weight.
CallResults decompose_nll_loss_forward(const Call& c) {
    const NllRows rows = nll_rows(c);
    const V column = unsqueeze(rows.target, 1);
    const V picked = reshaped(gather(rows.scores, 1, column), rows.target.sizes());
    const V losses = masked_fill(-(picked * rows.weight), rows.ignored, 0);
    const std::int64_t reduction = c.integer("reduction");
    if (reduction == kNone)
        return {reshaped(losses, rows.batched ? losses.sizes() : Sizes{}), zeros(c.builder(), {}, rows.scores.dtype())};
    const V total = summed(rows.weight, Ints{0}), sum = summed(losses, Ints{0});
    return {reduction == kMean ? sum / total : sum, total};
}

CallResults decompose_nll_loss_backward(const Call& c) {
    const NllRows rows = nll_rows(c);
    V grad = c.tensor("grad_output");
    if (c.integer("reduction") == kMean) grad = grad / c.tensor("total_weight");
    const V values = masked_fill(-(rows.weight * grad), rows.ignored, 0);
    const V written = scatter(zeros(c.builder(), rows.scores.sizes(), values.dtype()), 1, unsqueeze(rows.target, 1),
                              unsqueeze(values, 1));
    return reshaped(written, c.tensor("self").sizes());
}

CallResults decompose_nll_loss(const Call& c) {
    return aten::nll_loss_forward(c.tensor("self"), c.tensor("target"), c.optional_tensor("weight"),
                                  c.integer("reduction"), c.integer("ignore_index"))[0];
}

/// Scores [N, C, ...] as rows [N * ..., C]; one row stays as it is.
V rows_of_classes(const V& x) {
    const Sizes& sizes = x.sizes();
    if (sizes.size() <= 2) return x;
    std::vector<std::int64_t> order = {0};
    for (std::size_t d = 2; d < sizes.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
    order.push_back(1);
    return reshaped(permute(x, order), {x.numel() / std::max<std::int64_t>(sizes[1], 1), sizes[1]});
}

/// -sum over the classes of weight * share * score: one for each row, [N] or, of one row, [].
V row_losses(const V& scores, const OptionalV& weight, const OptionalV& share) {
    V terms = share ? scores * *share : scores;
    if (weight) terms = terms * *weight;
    return -summed(terms, Ints{static_cast<std::int64_t>(scores.sizes().size()) - 1});
}

/// The negative log likelihood of log_softmax, as
/// https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html has it: a share of label_smoothing is that
/// of all classes alike.
CallResults decompose_cross_entropy_loss(const Call& c) {
    const V input = c.tensor("self"), target = c.tensor("target");
    const Sizes& sizes = input.sizes();
    if (sizes.empty()) throw Error("cross_entropy_loss: found a 0-d input, expected at least 1 dimension");
    const std::int64_t class_dim = sizes.size() == 1 ? 0 : 1, classes = sizes[static_cast<std::size_t>(class_dim)];
    const double smoothing = c.number("label_smoothing");
    if (!(smoothing >= 0 && smoothing <= 1))
        throw Error("cross_entropy_loss: found label_smoothing=" + std::to_string(smoothing) + ", expected 0 to 1");
    const auto weight = c.optional_tensor("weight");
    const std::int64_t reduction = c.integer("reduction");
    const V scores = rows_of_classes(log_softmax(input, class_dim));
    Sizes places = sizes;  // of the losses
    places.erase(places.begin() + class_dim);
    if (is_floating(target.dtype())) {  // probabilities of the classes
        if (target.sizes() != sizes)
            throw Error("cross_entropy_loss: found probabilities of sizes " + to_string(target.sizes()) +
                        ", expected the sizes of the input, " + to_string(sizes));
        V share = rows_of_classes(target);
        if (smoothing > 0) share = share * (1 - smoothing) + smoothing / static_cast<double>(classes);
        const V losses = row_losses(scores, weight, share);
        if (reduction == kNone) return reshaped(losses, places);
        const V sum = aten::sum(losses);
        return reduction == kMean ? sum / static_cast<double>(losses.numel()) : sum;
    }
    if (target.sizes() != places)
        throw Error("cross_entropy_loss: found targets of sizes " + to_string(target.sizes()) + ", expected " +
                    to_string(places));
    Sizes rows = scores.sizes();
    rows.pop_back();
    const V labels = reshaped(target, rows);
    const auto plain = aten::nll_loss_forward(scores, labels, weight, reduction, c.integer("ignore_index"));
    V loss = plain[0];
    if (smoothing > 0) {
        const V ignored = eq(labels, c.integer("ignore_index"));
        V smooth = masked_fill(row_losses(scores, weight, std::nullopt), ignored, 0);
        if (reduction != kNone) smooth = aten::sum(smooth);
        if (reduction == kMean) smooth = smooth / plain[1];
        loss = loss * (1 - smoothing) + smooth * (smoothing / static_cast<double>(classes));
    }
    return reduction == kNone ? reshaped(loss, places) : loss;
}

V nll_loss_grad(const OfSelf& r) {
    return nll_loss_backward(r.g, r.x, r.call.tensor("target"), r.call.optional_tensor("weight"),
                             r.call.integer("reduction"), r.call.integer("ignore_index"), r.call.result(1));
}
void smooth_l1_loss_grad(Gradients& c) {
    const V gradient = smooth_l1_loss_backward(c.grad(), c.tensor("self"), c.tensor("target"), c.integer("reduction"),
                                               c.number("beta"));
    c.set("self", gradient);
    if (c.needed("target")) c.set("target", -gradient);
}
void mse_loss_grad(Gradients& c) {
    const V gradient = mse_loss_backward(c.grad(), c.tensor("self"), c.tensor("target"), c.integer("reduction"));
    c.set("self", gradient);
    if (c.needed("target")) c.set("target", -gradient);
}

}  // namespace

std::span<const OpDef> loss_ops() {
    static const OpDef ops[] = {
        composite("mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
                  "squared differences, or their mean or sum: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.MSELoss.html",
                  kFloating, decompose_mse_loss, mse_loss_grad),
        composite("smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
                  "squared differences where the differences are small, else absolute differences: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.SmoothL1Loss.html",
                  kFloating, decompose_smooth_l1_loss, smooth_l1_loss_grad),
        composite("binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
                  "pos_weight=None, int reduction=1) -> Tensor",
                  "binary cross entropy of the sigmoid and target probabilities: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",
                  kFloating, decompose_binary_cross_entropy_with_logits),
        composite("mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
                  "2 (self - target) grad; for the mean, divided by the number of elements: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.MSELoss.html",
                  kFloating, decompose_mse_loss_backward),
        composite("smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) "
                  "-> Tensor",
                  "the difference divided by beta, clamped to -1 … 1, times the gradient: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.SmoothL1Loss.html",
                  kFloating, decompose_smooth_l1_loss_backward),
        composite("nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
                  "(Tensor output, Tensor total_weight)",
                  "negative log likelihood and the total weight: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
                  kFloating, decompose_nll_loss_forward, nll_loss_grad, {.ask = aten_open::target_class}),
        composite("nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                  "ignore_index=-100) -> Tensor",
                  "negative log likelihood: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html", kFloating,
                  decompose_nll_loss, {.ask = aten_open::target_class}),
        composite("cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                  "ignore_index=-100, float label_smoothing=0.0) -> Tensor",
                  "negative log likelihood of log_softmax; targets are classes or their probabilities: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
                  kFloating, decompose_cross_entropy_loss, {.ask = aten_open::target_class}),
        composite("nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
                  "SymInt ignore_index, Tensor total_weight) -> Tensor",
                  "the gradient of nll_loss: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
                  kFloating, decompose_nll_loss_backward, {.ask = aten_open::target_class}),
    };
    return ops;
}

}  // namespace whittle
