// Losses that ask for margins between the scores of classes, or between two scores, with their gradients as LibTorch's
// autograd calls them. All are composites.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/losses.h"
#include "ops/core/open_rules.h"

namespace whittle {
namespace {

using namespace aten;

/// One row of scores [C], or several [N, C], seen as rows.
struct Scores {
    explicit Scores(const Call& a) : given(a.tensor("self").sizes()) {
        const std::string& op = a.schema().name;
        if (given.empty() || given.size() > 2)
            throw Error(op + ": found scores of sizes " + to_string(given) +
                        ", expected [classes] or [batch, classes]");
        classes = given.back(), rows = given.size() == 2 ? given[0] : 1;
        reduction = a.integer("reduction");
        x = reshape(a.tensor("self"), {rows, classes});
        target_sizes = a.tensor("target").sizes();
    }
    void expect_targets(const Arguments<V>& a, bool fit, const std::string& expected) const {
        if (!fit)
            throw Error(a.schema().name + ": found targets of sizes " + to_string(target_sizes) +
                        " for scores of sizes " + to_string(given) + ", expected " + expected);
    }
    V number(const Scalar& value) const { return scalar_tensor(*x.builder, value, x.dtype()); }
    V column(const V& v, std::int64_t dim) const { return unsqueeze(v, dim); }
    V positive(const V& v) const { return clamp_min(v, 0); }
    /// Losses of rows, reduced; without a reduction of the sizes that targets ask for.
    V reduced_rows(const V& losses, const Sizes& sizes) const {
        if (reduction == kNone) return reshape(losses, sizes);
        return reduction == kMean ? mean(losses) : sum(losses);
    }
    /// By what a row's gradient is divided.
    double share() const { return 1.0 / static_cast<double>(reduction == kMean ? rows * classes : classes); }
    /// Times what flows into each row.
    V times_grad(const V& gradient, const V& grad) const {
        const V by = grad.numel() == rows && reduction == kNone ? reshape(grad, {rows, 1}) : grad;
        return reshape(gradient * by, given);
    }

    Sizes given, target_sizes;
    V x;  ///< [rows, classes]
    std::int64_t rows = 1, classes = 0, reduction = kMean;
};

// --- multi_margin_loss: one class of each row ---

struct MultiMargin : Scores {
    explicit MultiMargin(const Call& a) : Scores(a) {
        p = a.scalar("p").to_double();
        if (p != 1 && p != 2) throw Error(a.schema().name + ": found p=" + std::to_string(p) + ", expected p=1 or p=2");
        expect_targets(a, target_sizes == Sizes{rows} || (target_sizes.empty() && given.size() == 1),
                       "one target for each row of scores");
        at = reshape(a.tensor("target"), {rows, 1});
        const V own = gather(x, 1, at);
        margins = number(a.scalar("margin").to_double()) - own + x;
        if (const auto w = a.optional_tensor("weight")) weight = column(index_select(*w, 0, reshape(at, {rows})), 1);
    }
    /// 0 at the target, else v.
    V others(const V& v) const { return scatter(v, 1, at, 0); }

    double p = 1;
    V at, margins;
    OptionalV weight = {};
};

/// The mean over the classes but the target's of max(0, margin - x[target] + x[class])^p; the sum is over all of them.
CallResults decompose_multi_margin_loss(const Call& c) {
    const MultiMargin m(c);
    V terms = m.positive(m.margins);
    if (m.p == 2) terms = terms * terms;
    if (m.weight) terms = terms * *m.weight;
    const V losses = summed(m.others(terms), Ints{1}) / static_cast<double>(m.classes);
    return m.reduced_rows(losses, m.target_sizes);
}

CallResults decompose_multi_margin_loss_backward(const Call& c) {
    const MultiMargin m(c);
    const V violated = gt(m.margins, 0);
    V slope = m.p == 2 ? m.margins * (2 * m.share()) : full_like(m.margins, m.share());
    if (m.weight) slope = slope * *m.weight;
    const V up = m.others(keep(violated, slope)), down = -summed(up, Ints{1}, true);
    return m.times_grad(scatter(up, 1, m.at, down), c.tensor("grad_output"));
}

void multi_margin_grad(Gradients& c) {
    c.set("self",
          aten::multi_margin_loss_backward(c.grad(), c.tensor("self"), c.tensor("target"), c.scalar("p"),
                                           c.scalar("margin"), c.optional_tensor("weight"), c.integer("reduction")));
}

// --- multilabel_margin_loss: the classes of each row up to the first -1 ---

struct MultilabelMargin : Scores {
    explicit MultilabelMargin(const Call& a) : Scores(a) {
        expect_targets(a, target_sizes == given, "equal sizes");
        const V target = reshape(a.tensor("target"), {rows, classes});
        const V ended = cumsum(as(lt(target, 0), DType::i64), 1);
        is_label = eq(ended, 0);
        at = drop(eq(target, -1), target);  // of all, so that what is no class is refused wherever it stands
        const V own = gather(x, 1, at);
        margins = neg(column(own, 2)) + 1 + column(x, 1);  // [rows, labels, classes]
    }
    /// [rows, classes]: 1 where a label is.
    V targets() const {
        const V counts =
            scatter_add(zeros(*x.builder, Ints{rows, classes}, DType::i64), 1, at, as(is_label, DType::i64));
        return as(gt(counts, 0), x.dtype());
    }
    /// v where there is a label and a class that is none.
    V between(const V& v, const V& is_target) const {
        const V other = eq(column(is_target, 1), 0);
        return keep(logical_and(column(is_label, 2), other), v);
    }

    V is_label, at, margins;
};

/// max(0, 1 - x[label] + x[class]) over all labels and all classes that are none, over the number of classes.
CallResults decompose_multilabel_margin_loss_forward(const Call& c) {
    const MultilabelMargin m(c);
    const V is_target = m.targets();
    const V sums = summed(m.between(m.positive(m.margins), is_target), Ints{1, 2});
    const V losses = sums / static_cast<double>(m.classes);
    return {m.reduced_rows(losses, m.given.size() == 2 ? Sizes{m.rows} : Sizes{}), reshaped(is_target, m.given)};
}

CallResults decompose_multilabel_margin_loss_backward(const Call& c) {
    const MultilabelMargin m(c);
    const V is_target = reshaped(c.tensor("is_target"), Ints{m.rows, m.classes});
    const V violated = as(gt(m.margins, 0), m.x.dtype());
    const V terms = m.between(violated, is_target) * m.share();
    const V up = summed(terms, Ints{1}), down = -summed(terms, Ints{2});
    const V both = scatter_add(up, 1, m.at, down);
    return m.times_grad(both, c.tensor("grad_output"));
}

void multilabel_margin_grad(Gradients& c) {
    c.set("self", aten::multilabel_margin_loss_backward(c.grad(), c.tensor("self"), c.tensor("target"),
                                                        c.integer("reduction"), c.result(1)));
}

CallResults decompose_multilabel_margin_loss(const Call& c) {
    return aten::multilabel_margin_loss_forward(c.tensor("self"), c.tensor("target"), c.integer("reduction"))[0];
}

// --- Of two scores, or of one ---

/// max(0, margin - y (x1 - x2)), y of -1 and 1
CallResults decompose_margin_ranking_loss(const Call& c) {
    const V difference = c.tensor("input1") - c.tensor("input2");
    const V margin = -c.tensor("target") * difference + c.number("margin");
    return reduced(c, clamp_min(margin, 0));
}

/// x where y is 1, max(0, margin - x) where it is -1, the sum of both for any other y
CallResults decompose_hinge_embedding_loss(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("target");
    const V margin = clamp_min(-x + c.number("margin"), 0);
    const V apart = drop(eq(y, 1), margin), together = drop(eq(y, -1), x);
    return reduced(c, apart + together);
}

constexpr DTypeSet kScores = set_of(DType::f64) | set_of(DType::f32);

Reason open_margin_target(std::string_view op, const Arguments<Tensor>& a) {
    return out_of_range(op, "target", a.tensor("target"), 0, extent(a.tensor("self"), -1) - 1);
}

Reason open_margin_targets(std::string_view op, const Arguments<Tensor>& a) {
    return out_of_range(op, "target", a.tensor("target"), -1, extent(a.tensor("self"), -1) - 1);
}

constexpr OpDef kMarginLossOps[] = {
    composite("multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
              "reduction=1) -> Tensor",
              "a margin between the target's score and the other scores: "
              "https://pytorch.org/docs/stable/generated/torch.nn.MultiMarginLoss.html",
              kScores, decompose_multi_margin_loss, multi_margin_grad, {.ask = open_margin_target}),
    composite(
        "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? "
        "weight=None, int reduction=1) -> Tensor",
        "the gradient of multi_margin_loss: https://pytorch.org/docs/stable/generated/torch.nn.MultiMarginLoss.html",
        kScores, decompose_multi_margin_loss_backward, {.ask = open_margin_target}),
    composite("multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor "
              "is_target)",
              "margins between the labels' scores and the other scores, and a mask of the labels: "
              "https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelMarginLoss.html",
              kScores, decompose_multilabel_margin_loss_forward, multilabel_margin_grad, {.ask = open_margin_targets}),
    composite("multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor "
              "is_target) -> Tensor",
              "the gradient of multilabel_margin_loss: "
              "https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelMarginLoss.html",
              kScores, decompose_multilabel_margin_loss_backward, {.ask = open_margin_targets}),
    composite("multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
              "margins between the labels' scores and the other scores: "
              "https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelMarginLoss.html",
              kScores, decompose_multilabel_margin_loss, {.ask = open_margin_targets}),
    composite(
        "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
        "a margin between two scores: https://pytorch.org/docs/stable/generated/torch.nn.MarginRankingLoss.html",
        kFloating, decompose_margin_ranking_loss),
    composite("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor",
              "distances of similar pairs, margins of dissimilar pairs: "
              "https://pytorch.org/docs/stable/generated/torch.nn.HingeEmbeddingLoss.html",
              kFloating, decompose_hinge_embedding_loss),
};

}  // namespace

std::span<const OpDef> margin_loss_ops() { return kMarginLossOps; }

}  // namespace whittle
