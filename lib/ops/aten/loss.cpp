// Losses and their gradients, as LibTorch computes them. All are composites. Definitions:
// https://pytorch.org/docs/stable/nn.functional.html#loss-functions
#include <algorithm>

#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/layer_grad.h"
#include "ops/aten/losses.h"
#include "ops/aten/open_rules.h"

namespace whittle {

namespace {

/// The squared differences, their mean or their sum.
Refs mse_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue difference = g.sub(a.tensor("self"), a.tensor("target"));
    return {reduced(b, a, g.mul(difference, difference))};
}

/// Squares below beta, from there on the distance, less what makes it continuous; Girshick 2015.
Refs smooth_l1_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const double beta = a.number("beta");
    if (beta < 0) throw Error("smooth_l1_loss: found beta=" + std::to_string(beta) + ", expected 0 or more");
    const NodeValue distance = g.call("aten.abs.default", {arg(g.sub(a.tensor("self"), a.tensor("target")))});
    if (beta == 0) return {reduced(b, a, distance)};
    const NodeValue near = g.div(g.mul(g.mul(distance, Arg(0.5)), distance), Arg(beta));
    const NodeValue is_near = g.call("aten.lt.Scalar", {arg(distance), Arg(beta)});
    const NodeValue losses =
        g.call("aten.where.self", {arg(is_near), arg(near), arg(g.add(distance, Arg(-0.5 * beta)))});
    return {reduced(b, a, losses)};
}

/// (1 - y) x + w log(1 + exp(-x)), w = 1 + (pos_weight - 1) y, without overflow: m = max(-x, 0) is taken out.
Refs binary_cross_entropy_with_logits(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), y = a.tensor("target");
    const NodeValue most = g.call("aten.clamp_min.default", {arg(g.neg(x)), 0});
    const auto exp = [&](const NodeValue& v) { return g.call("aten.exp.default", {arg(v)}); };
    const NodeValue sum = g.add(exp(g.neg(most)), exp(g.sub(g.neg(x), most)));
    NodeValue log = g.call("aten.log.default", {arg(sum)});
    NodeValue losses = g.mul(g.complement(y), x);
    if (const auto positive = a.optional_tensor("pos_weight")) {
        const NodeValue weight = g.add(g.mul(g.add(*positive, -1), y), 1);
        losses = g.add(losses, g.mul(weight, g.add(log, most)));
    } else {
        losses = g.add(g.add(losses, most), log);
    }
    if (const auto weight = a.optional_tensor("weight")) losses = g.mul(losses, *weight);
    return {reduced(b, a, losses)};
}

Refs mse_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue difference = g.sub(a.tensor("self"), a.tensor("target"));
    const double factor = a.integer("reduction") == kMean ? 2.0 / static_cast<double>(difference.meta.numel()) : 2.0;
    return {g.mul(g.mul(difference, Arg(factor)), a.tensor("grad_output")).ref};
}

/// The distance over beta, at most 1 each way.
Refs smooth_l1_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const double beta = a.number("beta");
    const NodeValue difference = g.sub(a.tensor("self"), a.tensor("target"));
    NodeValue slope;
    if (beta == 0) {  // no distance is -1 as in ATen's kernel, which asks for more than 0
        const NodeValue none = g.call("aten.eq.Scalar", {arg(difference), 0});
        slope = g.call("aten.where.ScalarSelf",
                       {arg(none), Arg(-1.0), arg(g.call("aten.sign.default", {arg(difference)}))});
    } else {
        slope = g.call("aten.clamp.default", {arg(g.div(difference, Arg(beta))), Arg(-1.0), Arg(1.0)});
    }
    const NodeValue gradient = g.mul(slope, a.tensor("grad_output"));
    if (a.integer("reduction") != kMean) return {gradient.ref};
    return {g.div(gradient, Arg(static_cast<double>(difference.meta.numel()))).ref};
}

/// The rows of an nll_loss: scores [N, C], and per row its class, whether it is ignored, and its weight.
struct NllRows {
    NodeValue scores, target, ignored, weight;
    bool batched = true;
};

NllRows nll_rows(GraphBuilder& b, const Arguments<NodeValue>& a) {
    NllRows rows{.scores = a.tensor("self"), .target = a.tensor("target"), .ignored = {}, .weight = {}};
    rows.batched = rows.scores.meta.sizes.size() == 2;
    if (rows.scores.meta.sizes.empty() || rows.scores.meta.sizes.size() > 2)
        throw Error("found scores of sizes " + to_string(rows.scores.meta.sizes) + ", expected 1 or 2 dimensions");
    if (!rows.batched) {
        rows.scores = b.call("aten.unsqueeze.default", {arg(rows.scores), 0});
        rows.target = b.call("aten.reshape.default", {arg(rows.target), Arg::ints({1})});
    }
    if (rows.target.meta.sizes != Sizes{rows.scores.meta.sizes[0]})
        throw Error("found targets of sizes " + to_string(rows.target.meta.sizes) + ", expected [" +
                    std::to_string(rows.scores.meta.sizes[0]) + "], one target for each row of scores");
    rows.ignored = b.call("aten.eq.Scalar", {arg(rows.target), a.integer("ignore_index")});
    rows.target = b.call("aten.masked_fill.Scalar", {arg(rows.target), arg(rows.ignored), 0});
    const auto weight = a.optional_tensor("weight");
    const NodeValue all = weight ? b.call("aten.index_select.default", {arg(*weight), 0, arg(rows.target)})
                                 : b.call("aten.full.default", {Arg::ints(rows.target.meta.sizes), 1.0},
                                          {{"dtype", rows.scores.meta.dtype}});
    rows.weight = b.call("aten.masked_fill.Scalar", {arg(all), arg(rows.ignored), 0});
    return rows;
}

/// -weight[target] * self[target], its sum, or its mean over the total weight.
Refs nll_loss_forward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NllRows rows = nll_rows(b, a);
    const NodeValue column = b.call("aten.unsqueeze.default", {arg(rows.target), 1});
    const NodeValue picked =
        g.reshape(b.call("aten.gather.default", {arg(rows.scores), 1, arg(column)}), rows.target.meta.sizes);
    const NodeValue losses =
        b.call("aten.masked_fill.Scalar", {arg(g.neg(g.mul(picked, rows.weight))), arg(rows.ignored), 0});
    const std::int64_t reduction = a.integer("reduction");
    if (reduction == kNone)
        return {g.reshape(losses, rows.batched ? losses.meta.sizes : Sizes{}).ref,
                g.zeros({}, rows.scores.meta.dtype).ref};
    const NodeValue total = g.sum(rows.weight, {0}), sum = g.sum(losses, {0});
    return {reduction == kMean ? g.div(sum, arg(total)).ref : sum.ref, total.ref};
}

Refs nll_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NllRows rows = nll_rows(b, a);
    NodeValue grad = a.tensor("grad_output");
    if (a.integer("reduction") == kMean) grad = g.div(grad, arg(a.tensor("total_weight")));
    const NodeValue values =
        b.call("aten.masked_fill.Scalar", {arg(g.neg(g.mul(rows.weight, grad))), arg(rows.ignored), 0});
    const NodeValue written = b.call("aten.scatter.src", {arg(g.zeros(rows.scores.meta.sizes, values.meta.dtype)), 1,
                                                          arg(b.call("aten.unsqueeze.default", {arg(rows.target), 1})),
                                                          arg(b.call("aten.unsqueeze.default", {arg(values), 1}))});
    return {g.reshape(written, a.tensor("self").meta.sizes).ref};
}

Refs nll_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {b.call_multi("aten.nll_loss_forward.default", {arg(a.tensor("self")), arg(a.tensor("target")), weight_of(a),
                                                           a.integer("reduction"), a.integer("ignore_index")})[0]
                .ref};
}

/// Scores [N, C, ...] as rows [N * ..., C]; one row stays as it is.
NodeValue rows_of_classes(GraphBuilder& b, const NodeValue& x) {
    const Sizes& sizes = x.meta.sizes;
    if (sizes.size() <= 2) return x;
    std::vector<std::int64_t> order = {0};
    for (std::size_t d = 2; d < sizes.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
    order.push_back(1);
    return Gradient(b).reshape(b.call("aten.permute.default", {arg(x), Arg::ints(order)}),
                               {x.meta.numel() / std::max<std::int64_t>(sizes[1], 1), sizes[1]});
}

/// -sum over the classes of weight * share * score: one for each row, [N] or, of one row, [].
NodeValue row_losses(GraphBuilder& b, const NodeValue& scores, const std::optional<NodeValue>& weight,
                     const std::optional<NodeValue>& share) {
    const Gradient g(b);
    NodeValue terms = share ? g.mul(scores, *share) : scores;
    if (weight) terms = g.mul(terms, *weight);
    return g.neg(g.sum(terms, {static_cast<std::int64_t>(scores.meta.sizes.size()) - 1}));
}

/// The negative log likelihood of log_softmax, as
/// https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html has it: a share of label_smoothing is that
/// of all classes alike.
Refs cross_entropy_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue input = a.tensor("self"), target = a.tensor("target");
    const Sizes& sizes = input.meta.sizes;
    if (sizes.empty()) throw Error("cross_entropy_loss: found a 0-d input, expected at least 1 dimension");
    const std::int64_t class_dim = sizes.size() == 1 ? 0 : 1, classes = sizes[static_cast<std::size_t>(class_dim)];
    const double smoothing = a.number("label_smoothing");
    if (!(smoothing >= 0 && smoothing <= 1))
        throw Error("cross_entropy_loss: found label_smoothing=" + std::to_string(smoothing) + ", expected 0 to 1");
    const auto weight = a.optional_tensor("weight");
    const std::int64_t reduction = a.integer("reduction");
    const NodeValue scores = rows_of_classes(b, g.call("aten.log_softmax.int", {arg(input), class_dim}));
    Sizes places = sizes;  // of the losses
    places.erase(places.begin() + class_dim);
    if (is_floating(target.meta.dtype)) {  // probabilities of the classes
        if (target.meta.sizes != sizes)
            throw Error("cross_entropy_loss: found probabilities of sizes " + to_string(target.meta.sizes) +
                        ", expected the sizes of the input, " + to_string(sizes));
        NodeValue share = rows_of_classes(b, target);
        if (smoothing > 0)
            share = g.add(g.mul(share, Arg(1 - smoothing)), Arg(smoothing / static_cast<double>(classes)));
        const NodeValue losses = row_losses(b, scores, weight, share);
        if (reduction == kNone) return {g.reshape(losses, places).ref};
        const NodeValue sum = b.call("aten.sum.default", {arg(losses)});
        return {(reduction == kMean ? g.div(sum, Arg(static_cast<double>(losses.meta.numel()))) : sum).ref};
    }
    if (target.meta.sizes != places)
        throw Error("cross_entropy_loss: found targets of sizes " + to_string(target.meta.sizes) + ", expected " +
                    to_string(places));
    Sizes rows = scores.meta.sizes;
    rows.pop_back();
    const NodeValue labels = g.reshape(target, rows);
    const std::vector<NodeValue> plain =
        b.call_multi("aten.nll_loss_forward.default",
                     {arg(scores), arg(labels), weight ? arg(*weight) : Arg(), reduction, a.integer("ignore_index")});
    NodeValue loss = plain[0];
    if (smoothing > 0) {
        const NodeValue ignored = b.call("aten.eq.Scalar", {arg(labels), a.integer("ignore_index")});
        NodeValue smooth =
            b.call("aten.masked_fill.Scalar", {arg(row_losses(b, scores, weight, std::nullopt)), arg(ignored), 0});
        if (reduction != kNone) smooth = b.call("aten.sum.default", {arg(smooth)});
        if (reduction == kMean) smooth = g.div(smooth, arg(plain[1]));
        loss = g.add(g.mul(loss, Arg(1 - smoothing)), g.mul(smooth, Arg(smoothing / static_cast<double>(classes))));
    }
    return {reduction == kNone ? g.reshape(loss, places).ref : loss.ref};
}

}  // namespace

std::span<const OpDef> loss_ops() {
    static const OpDef ops[] = {
        {.name = "aten.mse_loss.default",
         .doc =
             "squared differences, their mean or sum: https://pytorch.org/docs/stable/generated/torch.nn.MSELoss.html",
         .schema = "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
         .dtypes = kFloating,
         .decompose = mse_loss,
         .grad = mse_loss_grad},
        {.name = "aten.smooth_l1_loss.default",
         .doc = "squared differences where they are small, else distances: "
                "https://pytorch.org/docs/stable/generated/torch.nn.SmoothL1Loss.html",
         .schema = "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
         .dtypes = kFloating,
         .decompose = smooth_l1_loss,
         .grad = smooth_l1_loss_grad},
        {.name = "aten.binary_cross_entropy_with_logits.default",
         .doc = "binary cross entropy of the sigmoid and target probabilities: "
                "https://pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",
         .schema = "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
                   "pos_weight=None, int reduction=1) -> Tensor",
         .dtypes = kFloating,
         .decompose = binary_cross_entropy_with_logits},
        {.name = "aten.mse_loss_backward.default",
         .doc = "2 (self - target) grad, over the count for the mean: "
                "https://pytorch.org/docs/stable/generated/torch.nn.MSELoss.html",
         .schema = "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
         .dtypes = kFloating,
         .decompose = mse_loss_backward},
        {.name = "aten.smooth_l1_loss_backward.default",
         .doc = "the distance over beta, at most 1 each way, times the gradient: "
                "https://pytorch.org/docs/stable/generated/torch.nn.SmoothL1Loss.html",
         .schema = "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) "
                   "-> Tensor",
         .dtypes = kFloating,
         .decompose = smooth_l1_loss_backward},
        {.name = "aten.nll_loss_forward.default",
         .doc = "negative log likelihood and the total weight: "
                "https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema =
             "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
             "(Tensor output, Tensor total_weight)",
         .dtypes = kFloating,
         .decompose = nll_loss_forward,
         .open = {.ask = aten_open::target_class},
         .grad = nll_loss_grad},
        {.name = "aten.nll_loss.default",
         .doc = "negative log likelihood: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema = "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                   "ignore_index=-100) -> Tensor",
         .dtypes = kFloating,
         .decompose = nll_loss,
         .open = {.ask = aten_open::target_class}},
        {.name = "aten.cross_entropy_loss.default",
         .doc = "negative log likelihood of log_softmax; targets are classes or their probabilities: "
                "https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
         .schema = "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                   "ignore_index=-100, float label_smoothing=0.0) -> Tensor",
         .dtypes = kFloating,
         .decompose = cross_entropy_loss,
         .open = {.ask = aten_open::target_class}},
        {.name = "aten.nll_loss_backward.default",
         .doc = "the gradient of nll_loss: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema = "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
                   "SymInt ignore_index, Tensor total_weight) -> Tensor",
         .dtypes = kFloating,
         .decompose = nll_loss_backward,
         .open = {.ask = aten_open::target_class}},
    };
    return ops;
}

}  // namespace whittle
