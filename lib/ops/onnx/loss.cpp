// ONNX's losses over classes: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Where a target is to be ignored nothing is read and nothing is counted: its class may be out of range, and what
/// stands there may be NaN.
struct Targets {
    V classes;  ///< i64, in range
    OptionalV counted;
};

Targets targets_of(const Call& c, const V& target) {
    const V classes = cast(target, DType::i64);
    const auto ignored = c.optional_integer("ignore_index");
    if (!ignored) return {classes, std::nullopt};
    const V counted = ne(classes, *ignored);
    return {where(counted, classes, 0), counted};
}

void check_sizes(const V& scores, const V& target) {
    Sizes expected = scores.sizes();
    if (expected.size() < 2)
        throw Error("found scores of sizes " + to_string(expected) +
                    ", expected at least 2 dimensions: batch and classes");
    expected.erase(expected.begin() + 1);
    if (target.sizes() != expected)
        throw Error("found targets of sizes " + to_string(target.sizes()) + ", expected " + to_string(expected));
}

/// -weight[t] * scores[n, t, …] of the targets t, reduced; the mean is one of weights.
V onnx_nll_loss(const Call& c, const V& scores, const V& target, const OptionalV& weight) {
    check_sizes(scores, target);
    const std::string reduction = c.text("reduction");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
        throw Error("found reduction '" + reduction + "', expected 'none', 'sum' or 'mean'");
    const Sizes& sizes = target.sizes();
    const auto [classes, counted] = targets_of(c, target);
    const V picked = gather(scores, 1, unsqueeze(classes, 1));
    V loss = -reshaped(picked, sizes);
    const auto without_ignored = [&, counted = counted](const V& value) {
        return counted ? where(*counted, value, 0.0) : value;
    };
    OptionalV weights;
    if (weight) {
        const V flat = reshaped(classes, {classes.numel()});
        weights = without_ignored(reshaped(index_select(*weight, 0, flat), sizes));
        loss = loss * *weights;
    } else if (counted) {
        weights = cast(*counted, scores.dtype());
    }
    loss = without_ignored(loss);
    if (reduction == "none") return loss;
    if (reduction == "mean" && !weights) return mean(loss);
    const V total = sum(loss);
    return reduction == "sum" ? total : total / sum(*weights);
}

CallResults negative_log_likelihood(const Call& c) {
    return onnx_nll_loss(c, c.tensor("input"), c.tensor("target"), c.optional_tensor("weight"));
}

CallResults softmax_cross_entropy(const Call& c) {
    const V scores = c.tensor("scores");
    check_sizes(scores, c.tensor("labels"));
    const V log_prob = _log_softmax(scores, 1, false);
    const V loss = onnx_nll_loss(c, log_prob, c.tensor("labels"), c.optional_tensor("weights"));
    return c.integer("num_outputs") > 1 ? CallResults{loss, log_prob} : CallResults(loss);
}

Reason open_target(std::string_view op, const Tensor& classes, const Tensor& scores, const Arguments<Tensor>& a) {
    return out_of_range(op, "target", classes, 0, extent(scores, 1) - 1, a.optional_integer("ignore_index"));
}

/// "Target element value shall be in range of [0, C)", or be `ignore_index`.
Reason open_target_class(std::string_view op, const Arguments<Tensor>& a) {
    return open_target(op, a.tensor("target"), a.tensor("input"), a);
}

Reason open_label_class(std::string_view op, const Arguments<Tensor>& a) {
    return open_target(op, a.tensor("labels"), a.tensor("scores"), a);
}

constexpr OpDef kLossOps[] = {
    composite("NegativeLogLikelihoodLoss(Tensor input, Tensor target, Tensor? weight=None, *, int? ignore_index=None, "
              "str reduction=\"mean\") -> Tensor",
              "The negative log-probabilities of the targets, or their mean or sum", kFloating, negative_log_likelihood,
              {.ask = open_target_class}),
    composite("SoftmaxCrossEntropyLoss(Tensor scores, Tensor labels, Tensor? weights=None, *, int? ignore_index=None, "
              "str reduction=\"mean\", int num_outputs=1) -> Tensor[]",
              "NegativeLogLikelihoodLoss of the log-softmax of scores", kFloating, softmax_cross_entropy,
              {.ask = open_label_class}),
};

}  // namespace

std::span<const OpDef> onnx_loss_ops() { return kLossOps; }

}  // namespace whittle
