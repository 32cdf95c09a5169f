// ONNX's losses over classes: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include "ops/onnx/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// Where a target is to be ignored nothing is read and nothing is counted: its class may be out of range, and what
/// stands there may be NaN.
struct Targets {
    NodeValue classes;  ///< i64, in range
    std::optional<NodeValue> counted;
};

Targets targets_of(const Rewrite& op, const NodeValue& target) {
    const NodeValue classes = op.cast(target, DType::i64);
    const auto ignored = op.arguments().optional_integer("ignore_index");
    if (!ignored) return {classes, std::nullopt};
    const NodeValue counted = op("aten.ne.Scalar", classes, *ignored);
    return {op("aten.where.ScalarOther", counted, classes, 0), counted};
}

void check_sizes(const NodeValue& scores, const NodeValue& target) {
    Sizes expected = scores.meta.sizes;
    if (expected.size() < 2)
        throw Error("found scores of sizes " + to_string(expected) +
                    ", expected at least 2 dimensions: batch and classes");
    expected.erase(expected.begin() + 1);
    if (target.meta.sizes != expected)
        throw Error("found targets of sizes " + to_string(target.meta.sizes) + ", expected " + to_string(expected));
}

/// -weight[t] * scores[n, t, …] of the targets t, reduced; the mean is one of weights.
NodeValue nll_loss(const Rewrite& op, const NodeValue& scores, const NodeValue& target,
                   const std::optional<NodeValue>& weight) {
    check_sizes(scores, target);
    const std::string reduction = op.arguments().text("reduction");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
        throw Error("found reduction '" + reduction + "', expected none, sum or mean");
    const Sizes& sizes = target.meta.sizes;
    const auto [classes, counted] = targets_of(op, target);
    const NodeValue picked =
        op("aten.gather.default", scores, std::int64_t{1}, op("aten.unsqueeze.default", classes, std::int64_t{1}));
    NodeValue loss = op("aten.neg.default", op.reshape(picked, sizes));
    const auto without_ignored = [&, counted = counted](const NodeValue& value) {
        return counted ? op("aten.where.ScalarOther", *counted, value, 0.0) : value;
    };
    std::optional<NodeValue> weights;
    if (weight) {
        const NodeValue flat = op.reshape(classes, {classes.meta.numel()});
        weights = without_ignored(op.reshape(op("aten.index_select.default", *weight, std::int64_t{0}, flat), sizes));
        loss = op("aten.mul.Tensor", loss, *weights);
    } else if (counted) {
        weights = op.cast(*counted, scores.meta.dtype);
    }
    loss = without_ignored(loss);
    if (reduction == "none") return loss;
    if (reduction == "mean" && !weights) return op("aten.mean.default", loss);
    const NodeValue sum = op("aten.sum.default", loss);
    return reduction == "sum" ? sum : op("aten.div.Tensor", sum, op("aten.sum.default", *weights));
}

std::optional<NodeValue> weight_of(const Rewrite& op, std::string_view name) {
    return op.has(name) ? std::optional(op.tensor(name)) : std::nullopt;
}

Results negative_log_likelihood(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {nll_loss(op, op.tensor("input"), op.tensor("target"), weight_of(op, "weight")).ref};
}

Results softmax_cross_entropy(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue scores = op.tensor("scores");
    check_sizes(scores, op.tensor("labels"));
    const NodeValue log_prob = op("aten._log_softmax.default", scores, std::int64_t{1}, false);
    Results results = {nll_loss(op, log_prob, op.tensor("labels"), weight_of(op, "weights")).ref};
    if (op.integer("num_outputs") > 1) results.push_back(log_prob.ref);
    return results;
}

constexpr OpDef kLossOps[] = {
    {.name = "onnx.NegativeLogLikelihoodLoss",
     .doc = "Minus the targets' log-probabilities, reduced. onnx Operators.md#NegativeLogLikelihoodLoss",
     .schema = "NegativeLogLikelihoodLoss(Tensor input, Tensor target, Tensor? weight=None, *, int? ignore_index=None, "
               "str reduction=\"mean\") -> Tensor",
     .dtypes = kFloating,
     .decompose = negative_log_likelihood,
     .open = {.ask = onnx_open::target_class}},
    {.name = "onnx.SoftmaxCrossEntropyLoss",
     .doc = "NegativeLogLikelihoodLoss of the log-softmax of scores. onnx Operators.md#SoftmaxCrossEntropyLoss",
     .schema = "SoftmaxCrossEntropyLoss(Tensor scores, Tensor labels, Tensor? weights=None, *, int? ignore_index=None, "
               "str reduction=\"mean\", int num_outputs=1) -> Tensor[]",
     .dtypes = kFloating,
     .decompose = softmax_cross_entropy,
     .open = {.ask = onnx_open::label_class}},
};

}  // namespace

std::span<const OpDef> onnx_loss_ops() { return kLossOps; }

}  // namespace whittle
