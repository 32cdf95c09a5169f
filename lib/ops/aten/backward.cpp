// Losses, and gradients as LibTorch's autograd computes them, with its names: of activation functions, softmax, losses,
// embeddings and slices. All are composites.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include "ops/aten/backward.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/core/samples.h"

namespace whittle {

namespace {

using samples::t;
using Builder = GraphBuilder;
using Values = Arguments<NodeValue>;
using Refs = std::vector<NodeRef>;

Refs threshold_backward(Builder& b, const Values& a) {
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue below = b.call("aten.le.Scalar", {arg(a.tensor("self")), Arg(a.scalar("threshold"))});
    return {b.call("aten.masked_fill.Scalar", {arg(grad), arg(below), 0}).ref};
}

/// grad * y * (1 - y)
Refs sigmoid_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue y = a.tensor("output");
    return {g.mul(a.tensor("grad_output"), g.mul(g.complement(y), y)).ref};
}

/// grad * (1 - y^2)
Refs tanh_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue y = a.tensor("output");
    return {g.mul(a.tensor("grad_output"), g.complement(g.mul(y, y))).ref};
}

/// Of x * cdf(x): cdf(x) + x * pdf(x); of the tanh form by the chain rule.
Refs gelu_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), grad = a.tensor("grad_output");
    const NodeValue square = g.mul(x, x);
    const std::string form = a.text("approximate");
    if (form == "none") {
        const NodeValue erf = g.call("aten.erf.default", {arg(g.mul(x, Arg(1 / std::numbers::sqrt2)))});
        const NodeValue cdf = g.mul(g.add(erf, 1), Arg(0.5));
        const NodeValue exponential = g.call("aten.exp.default", {arg(g.mul(square, Arg(-0.5)))});
        const NodeValue pdf = g.mul(exponential, Arg(1 / std::sqrt(2 * std::numbers::pi)));
        return {g.mul(grad, g.add(cdf, g.mul(x, pdf))).ref};
    }
    if (form != "tanh") throw Error("gelu_backward: found approximate '" + form + "', expected none or tanh");
    constexpr double kCubic = 0.044715;
    const double scale = std::sqrt(2 / std::numbers::pi);
    const NodeValue inner = g.mul(g.add(x, g.mul(g.mul(square, x), Arg(kCubic))), Arg(scale));
    const NodeValue tanh = g.call("aten.tanh.default", {arg(inner)});
    const NodeValue slope = g.mul(g.add(g.mul(square, Arg(3 * kCubic)), 1), Arg(scale));
    const NodeValue outer = g.mul(g.mul(g.complement(g.mul(tanh, tanh)), slope), x);
    return {g.mul(grad, g.mul(g.add(g.add(tanh, 1), outer), Arg(0.5))).ref};
}

/// y * (grad - sum(grad * y))
Refs softmax_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue y = a.tensor("output"), weighted = g.mul(a.tensor("grad_output"), y);
    const NodeValue total = g.sum(weighted, {a.integer("dim")}, true);
    const NodeValue result = g.sub(weighted, g.mul(y, total));
    return {g.as(result, a.dtype("input_dtype").value_or(result.meta.dtype)).ref};
}

/// grad - exp(y) * sum(grad)
Refs log_softmax_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue shares = g.call("aten.exp.default", {arg(a.tensor("output"))});
    const NodeValue result = g.sub(grad, g.mul(shares, g.sum(grad, {a.integer("dim")}, true)));
    return {g.as(result, a.dtype("input_dtype").value_or(result.meta.dtype)).ref};
}

constexpr std::int64_t kNone = 0, kMean = 1;  // at::Reduction

/// The squared differences, their mean or their sum.
Refs mse_loss(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue difference = g.sub(a.tensor("self"), a.tensor("target")), squares = g.mul(difference, difference);
    const std::int64_t reduction = a.integer("reduction");
    if (reduction == kNone) return {squares.ref};
    return {b.call(reduction == kMean ? "aten.mean.default" : "aten.sum.default", {arg(squares)}).ref};
}

Refs mse_loss_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue difference = g.sub(a.tensor("self"), a.tensor("target"));
    const double factor = a.integer("reduction") == kMean ? 2.0 / static_cast<double>(difference.meta.numel()) : 2.0;
    return {g.mul(g.mul(difference, Arg(factor)), a.tensor("grad_output")).ref};
}

/// The rows of an nll_loss: scores [N, C], and per row its class, whether it is ignored, and its weight.
struct Rows {
    NodeValue scores, target, ignored, weight;
    bool batched = true;
};

Rows nll_rows(Builder& b, const Values& a) {
    Rows rows{.scores = a.tensor("self"), .target = a.tensor("target"), .ignored = {}, .weight = {}};
    rows.batched = rows.scores.meta.sizes.size() == 2;
    if (rows.scores.meta.sizes.empty() || rows.scores.meta.sizes.size() > 2)
        throw Error("found scores of sizes " + to_string(rows.scores.meta.sizes) + ", expected one or two dimensions");
    if (!rows.batched) {
        rows.scores = b.call("aten.unsqueeze.default", {arg(rows.scores), 0});
        rows.target = b.call("aten.reshape.default", {arg(rows.target), Arg::ints({1})});
    }
    if (rows.target.meta.sizes != Sizes{rows.scores.meta.sizes[0]})
        throw Error("found targets of sizes " + to_string(rows.target.meta.sizes) + ", expected one for each of the " +
                    std::to_string(rows.scores.meta.sizes[0]) + " rows");
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
Refs nll_loss_forward(Builder& b, const Values& a) {
    const Gradient g(b);
    const Rows rows = nll_rows(b, a);
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

Refs nll_loss_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    const Rows rows = nll_rows(b, a);
    NodeValue grad = a.tensor("grad_output");
    if (a.integer("reduction") == kMean) grad = g.div(grad, arg(a.tensor("total_weight")));
    const NodeValue values =
        b.call("aten.masked_fill.Scalar", {arg(g.neg(g.mul(rows.weight, grad))), arg(rows.ignored), 0});
    const NodeValue written = b.call("aten.scatter.src", {arg(g.zeros(rows.scores.meta.sizes, values.meta.dtype)), 1,
                                                          arg(b.call("aten.unsqueeze.default", {arg(rows.target), 1})),
                                                          arg(b.call("aten.unsqueeze.default", {arg(values), 1}))});
    return {g.reshape(written, a.tensor("self").meta.sizes).ref};
}

Refs nll_loss(Builder& b, const Values& a) {
    const auto weight = a.optional_tensor("weight");
    return {b.call_multi("aten.nll_loss_forward.default",
                         {arg(a.tensor("self")), arg(a.tensor("target")), weight ? arg(*weight) : Arg(),
                          a.integer("reduction"), a.integer("ignore_index")})[0]
                .ref};
}

/// Scores [N, C, ...] as rows [N * ..., C]; one row stays as it is.
NodeValue rows_of_classes(Builder& b, const NodeValue& x) {
    const Sizes& sizes = x.meta.sizes;
    if (sizes.size() <= 2) return x;
    std::vector<std::int64_t> order = {0};
    for (std::size_t d = 2; d < sizes.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
    order.push_back(1);
    return Gradient(b).reshape(b.call("aten.permute.default", {arg(x), Arg::ints(order)}),
                               {x.meta.numel() / std::max<std::int64_t>(sizes[1], 1), sizes[1]});
}

/// -sum over the classes of weight * share * score: one for each row, [N] or, of one row, [].
NodeValue row_losses(Builder& b, const NodeValue& scores, const std::optional<NodeValue>& weight,
                     const std::optional<NodeValue>& share) {
    const Gradient g(b);
    NodeValue terms = share ? g.mul(scores, *share) : scores;
    if (weight) terms = g.mul(terms, *weight);
    return g.neg(g.sum(terms, {static_cast<std::int64_t>(scores.meta.sizes.size()) - 1}));
}

/// The negative log likelihood of log_softmax, as
/// https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html has it: a share of label_smoothing is that
/// of all classes alike.
Refs cross_entropy_loss(Builder& b, const Values& a) {
    const Gradient g(b);
    const NodeValue input = a.tensor("self"), target = a.tensor("target");
    const Sizes& sizes = input.meta.sizes;
    if (sizes.empty()) throw Error("cross_entropy_loss: found a 0-d input, expected classes");
    const std::int64_t class_dim = sizes.size() == 1 ? 0 : 1, classes = sizes[static_cast<std::size_t>(class_dim)];
    const double smoothing = a.number("label_smoothing");
    if (!(smoothing >= 0 && smoothing <= 1))
        throw Error("cross_entropy_loss: found a label_smoothing of " + std::to_string(smoothing) +
                    ", expected one from 0 to 1");
    const auto weight = a.optional_tensor("weight");
    const std::int64_t reduction = a.integer("reduction");
    const NodeValue scores = rows_of_classes(b, g.call("aten.log_softmax.int", {arg(input), class_dim}));
    Sizes places = sizes;  // of the losses
    places.erase(places.begin() + class_dim);
    if (is_floating(target.meta.dtype)) {  // probabilities of the classes
        if (target.meta.sizes != sizes)
            throw Error("cross_entropy_loss: found probabilities of sizes " + to_string(target.meta.sizes) +
                        ", expected those of the input, " + to_string(sizes));
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

/// Rows of the gradient, added up where their index is.
Refs embedding_backward(Builder& b, const Values& a) {
    const Gradient g(b);
    if (a.boolean("scale_grad_by_freq"))
        throw Error("embedding_dense_backward: found scale_grad_by_freq, expected none");
    const NodeValue grad = a.tensor("grad_output"), indices = a.tensor("indices");
    if (grad.meta.sizes.empty()) throw Error("embedding_dense_backward: found a 0-d gradient, expected rows");
    const std::int64_t width = grad.meta.sizes.back(), count = indices.meta.numel(), padding = a.integer("padding_idx");
    NodeValue rows = g.reshape(grad, {count, width});
    const NodeValue at = g.reshape(indices, {count});
    if (padding >= 0) {
        const NodeValue skipped = b.call("aten.eq.Scalar", {arg(at), padding});
        rows =
            b.call("aten.masked_fill.Scalar", {arg(rows), arg(b.call("aten.unsqueeze.default", {arg(skipped), 1})), 0});
    }
    const NodeValue zeros = g.zeros({a.integer("num_weights"), width}, grad.meta.dtype);
    return {b.call("aten.index_add.default", {arg(zeros), 0, arg(at), arg(rows)}).ref};
}

Refs select_backward(Builder& b, const Values& a) {
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue zeros = Gradient(b).zeros(a.integers("input_sizes"), grad.meta.dtype);
    return {b.call("aten.select_scatter.default", {arg(zeros), arg(grad), a.integer("dim"), a.integer("index")}).ref};
}

Refs slice_backward(Builder& b, const Values& a) {
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue zeros = Gradient(b).zeros(a.integers("input_sizes"), grad.meta.dtype);
    return {b.call("aten.slice_scatter.default",
                   {arg(zeros), arg(grad), a.integer("dim"), a.integer("start"), a.integer("end"), a.integer("step")})
                .ref};
}

// --- Samples ---

Tensor rand(DType dtype, Sizes sizes, std::uint64_t seed = 1) { return samples::random(dtype, std::move(sizes), seed); }
Tensor classes(const std::vector<double>& values) { return samples::values(DType::i64, values); }

std::vector<Sample> two(DType dtype, const ArgList& rest = {}) {
    ArgList args = {t(0), t(1)};
    args.insert(args.end(), rest.begin(), rest.end());
    return {
        {"2-d", {rand(dtype, {2, 3}), samples::uniform(dtype, {2, 3}, -1, 1, 2)}, args},
        {"0-d", {rand(dtype, {}), samples::uniform(dtype, {}, -1, 1, 2)}, args},
        {"transposed", {samples::transposed(rand(dtype, {2, 3})), samples::uniform(dtype, {2, 3}, -1, 1, 2)}, args}};
}
std::vector<Sample> threshold_samples(DType dtype) { return two(dtype, {0.25}); }
std::vector<Sample> plain_samples(DType dtype) { return two(dtype); }
std::vector<Sample> gelu_samples(DType dtype) {
    std::vector<Sample> result = two(dtype);
    result.push_back({"tanh", {rand(dtype, {4}), rand(dtype, {4}, 2)}, {t(0), t(1)}, {{"approximate", "tanh"}}});
    return result;
}
std::vector<Sample> softmax_samples(DType dtype) {
    const Tensor grad = rand(dtype, {2, 3}), y = samples::uniform(dtype, {2, 3}, 0, 1, 2);
    return {{"last", {grad, y}, {t(0), t(1), 1, Arg(dtype)}}, {"first", {grad, y}, {t(0), t(1), 0, Arg(dtype)}}};
}
std::vector<Sample> mse_loss_samples(DType dtype) {
    std::vector<Sample> result = two(dtype, {0});
    result.push_back({"mean", {rand(dtype, {2, 3}), rand(dtype, {3}, 2)}, {t(0), t(1)}});
    result.push_back({"sum", {rand(dtype, {2, 3}), rand(dtype, {2, 3}, 2)}, {t(0), t(1), 2}});
    return result;
}
std::vector<Sample> mse_samples(DType dtype) {
    const Tensor x = rand(dtype, {2, 3}, 2), y = rand(dtype, {2, 3}, 3);
    return {{"none", {rand(dtype, {2, 3}), x, y}, {t(0), t(1), t(2), 0}},
            {"mean", {rand(dtype, {}), x, y}, {t(0), t(1), t(2), 1}},
            {"sum", {rand(dtype, {}), x, y}, {t(0), t(1), t(2), 2}}};
}
std::vector<Sample> nll_samples(DType dtype) {
    const Tensor x = rand(dtype, {3, 4}), y = classes({1, 3, 0}), w = samples::uniform(dtype, {4}, 0.5, 2);
    return {{"none", {x, y}, {t(0), t(1), Arg(), 0, -100}},
            {"mean", {x, y, w}, {t(0), t(1), t(2), 1, -100}},
            {"sum, ignored", {x, y, w}, {t(0), t(1), t(2), 2, 3}},
            {"one row", {rand(dtype, {4}), samples::scalar(DType::i64, 2)}, {t(0), t(1), Arg(), 1, -100}}};
}
std::vector<Sample> cross_entropy_samples(DType dtype) {
    std::vector<Sample> result = nll_samples(dtype);
    const Tensor x = rand(dtype, {3, 4}), y = classes({1, 3, 0}), w = samples::uniform(dtype, {4}, 0.5, 2);
    const Tensor images = rand(dtype, {2, 3, 2, 2}), shares = samples::uniform(dtype, {2, 3, 2, 2}, 0, 1);
    const Tensor places = samples::values(DType::i64, {0, 2, 1, 1, 0, 2, 2, 0}, {2, 2, 2});
    result.push_back({"smoothed", {x, y, w}, {t(0), t(1), t(2), 1, 3, 0.25}});
    result.push_back({"smoothed, none", {x, y}, {t(0), t(1), Arg(), 0, -100, 0.5}});
    result.push_back({"images", {images, places}, {t(0), t(1)}});
    result.push_back({"images, none", {images, places}, {t(0), t(1), Arg(), 0}});
    result.push_back({"probabilities", {images, shares}, {t(0), t(1)}});
    result.push_back({"probabilities, weighted", {x, rand(dtype, {3, 4}, 3), w}, {t(0), t(1), t(2), 0, -100, 0.1}});
    return result;
}
std::vector<Sample> nll_backward_samples(DType dtype) {
    const Tensor x = rand(dtype, {3, 4}), y = classes({1, 3, 0}), w = samples::uniform(dtype, {4}, 0.5, 2);
    const Tensor total = samples::scalar(dtype, 2.5), one = samples::scalar(dtype, 1.5);
    return {{"none", {rand(dtype, {3}), x, y, total}, {t(0), t(1), t(2), Arg(), 0, -100, t(3)}},
            {"mean", {one, x, y, w, total}, {t(0), t(1), t(2), t(3), 1, -100, t(4)}},
            {"sum, ignored", {one, x, y, w, total}, {t(0), t(1), t(2), t(3), 2, 3, t(4)}}};
}
std::vector<Sample> embedding_samples(DType dtype) {
    const Tensor grad = rand(dtype, {2, 2, 3}), at = samples::values(DType::i64, {1, 4, 1, 0}, {2, 2});
    return {{"all", {grad, at}, {t(0), t(1), 5, -1, false}}, {"padding", {grad, at}, {t(0), t(1), 5, 1, false}}};
}
std::vector<Sample> select_samples(DType dtype) {
    return {{"first", {rand(dtype, {4})}, {t(0), Arg::ints({3, 4}), 0, 1}},
            {"last", {rand(dtype, {3})}, {t(0), Arg::ints({3, 4}), -1, -1}}};
}
std::vector<Sample> slice_samples(DType dtype) {
    return {{"step", {rand(dtype, {2, 4})}, {t(0), Arg::ints({5, 4}), 0, 1, 5, 2}}};
}

}  // namespace

std::span<const OpDef> backward_ops() {
    static const OpDef ops[] = {
        {.name = "aten.threshold_backward.default",
         .doc = "the gradient of threshold and relu: https://pytorch.org/docs/stable/generated/torch.nn.Threshold.html",
         .schema = "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
         .dtypes = kFloating,
         .decompose = threshold_backward,
         .samples = threshold_samples},
        {.name = "aten.sigmoid_backward.default",
         .doc = "grad * y * (1 - y), of sigmoid's result: https://pytorch.org/docs/stable/generated/torch.sigmoid.html",
         .schema = "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
         .dtypes = kFloating,
         .decompose = sigmoid_backward,
         .samples = plain_samples},
        {.name = "aten.tanh_backward.default",
         .doc = "grad * (1 - y^2), of tanh's result: https://pytorch.org/docs/stable/generated/torch.tanh.html",
         .schema = "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
         .dtypes = kFloating,
         .decompose = tanh_backward,
         .samples = plain_samples},
        {.name = "aten.gelu_backward.default",
         .doc = "the gradient of gelu: https://arxiv.org/abs/1606.08415",
         .schema = "gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
         .dtypes = kFloating,
         .decompose = gelu_backward,
         .samples = gelu_samples},
        {.name = "aten._softmax_backward_data.default",
         .doc = "y * (grad - sum(grad * y)): https://pytorch.org/docs/stable/generated/torch.nn.Softmax.html",
         .schema =
             "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
         .dtypes = kFloating,
         .decompose = softmax_backward,
         .samples = softmax_samples},
        {.name = "aten._log_softmax_backward_data.default",
         .doc = "grad - exp(y) * sum(grad): https://pytorch.org/docs/stable/generated/torch.nn.LogSoftmax.html",
         .schema =
             "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
         .dtypes = kFloating,
         .decompose = log_softmax_backward,
         .samples = softmax_samples},
        {.name = "aten.mse_loss.default",
         .doc =
             "squared differences, their mean or sum: https://pytorch.org/docs/stable/generated/torch.nn.MSELoss.html",
         .schema = "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
         .dtypes = kFloating,
         .decompose = mse_loss,
         .samples = mse_loss_samples},
        {.name = "aten.mse_loss_backward.default",
         .doc = "2 (self - target) grad, over the count for the mean: "
                "https://pytorch.org/docs/stable/generated/torch.nn.MSELoss.html",
         .schema = "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
         .dtypes = kFloating,
         .decompose = mse_loss_backward,
         .samples = mse_samples},
        {.name = "aten.nll_loss_forward.default",
         .doc = "negative log likelihood and the total weight: "
                "https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema =
             "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
             "(Tensor output, Tensor total_weight)",
         .dtypes = kFloating,
         .decompose = nll_loss_forward,
         .samples = nll_samples},
        {.name = "aten.nll_loss.default",
         .doc = "negative log likelihood: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema = "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                   "ignore_index=-100) -> Tensor",
         .dtypes = kFloating,
         .decompose = nll_loss,
         .samples = nll_samples},
        {.name = "aten.cross_entropy_loss.default",
         .doc = "negative log likelihood of log_softmax; targets are classes or their probabilities: "
                "https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
         .schema = "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                   "ignore_index=-100, float label_smoothing=0.0) -> Tensor",
         .dtypes = kFloating,
         .decompose = cross_entropy_loss,
         .samples = cross_entropy_samples},
        {.name = "aten.nll_loss_backward.default",
         .doc = "the gradient of nll_loss: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema = "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
                   "SymInt ignore_index, Tensor total_weight) -> Tensor",
         .dtypes = kFloating,
         .decompose = nll_loss_backward,
         .samples = nll_backward_samples},
        {.name = "aten.embedding_dense_backward.default",
         .doc = "the gradient of embedding's weight: https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
         .schema = "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt "
                   "padding_idx, bool scale_grad_by_freq) -> Tensor",
         .dtypes = kFloating,
         .decompose = embedding_backward,
         .samples = embedding_samples},
        {.name = "aten.select_backward.default",
         .doc = "zeros with the gradient at an index: https://pytorch.org/docs/stable/generated/torch.select.html",
         .schema = "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
         .dtypes = kFloating,
         .decompose = select_backward,
         .samples = select_samples},
        {.name = "aten.slice_backward.default",
         .doc =
             "zeros with the gradient in a slice: https://pytorch.org/docs/stable/generated/torch.slice_scatter.html",
         .schema = "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt "
                   "step) -> Tensor",
         .dtypes = kFloating,
         .decompose = slice_backward,
         .samples = slice_samples},
    };
    return ops;
}

}  // namespace whittle
