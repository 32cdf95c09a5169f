// Losses that ask for margins between the scores of classes, or between two scores, with their gradients as LibTorch's
// autograd calls them. All are composites.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/losses.h"
#include "ops/aten/open_rules.h"

namespace whittle {
namespace {

/// One row of scores [C], or several [N, C], seen as rows.
struct Scores : Gradient {
    Scores(GraphBuilder& builder, const Arguments<NodeValue>& a)
        : Gradient(builder), b(builder), given(a.tensor("self").meta.sizes) {
        const std::string& op = a.schema().name;
        if (given.empty() || given.size() > 2)
            throw Error(op + ": found scores of sizes " + to_string(given) +
                        ", expected [classes] or [batch, classes]");
        classes = given.back(), rows = given.size() == 2 ? given[0] : 1;
        reduction = a.integer("reduction");
        x = reshape(a.tensor("self"), {rows, classes});
        target_sizes = a.tensor("target").meta.sizes;
    }
    void expect_targets(const Arguments<NodeValue>& a, bool fit, const std::string& expected) const {
        if (!fit)
            throw Error(a.schema().name + ": found targets of sizes " + to_string(target_sizes) +
                        " for scores of sizes " + to_string(given) + ", expected " + expected);
    }
    NodeValue number(const Arg& value) const {
        return b.call("aten.scalar_tensor.default", {value}, {{"dtype", x.meta.dtype}});
    }
    NodeValue column(const NodeValue& v, std::int64_t dim) const {
        return call("aten.unsqueeze.default", {arg(v), dim});
    }
    NodeValue positive(const NodeValue& v) const { return call("aten.clamp_min.default", {arg(v), 0}); }
    /// Losses of rows, reduced; without a reduction of the sizes that targets ask for.
    Refs reduced_rows(const NodeValue& losses, const Sizes& sizes) const {
        if (reduction == kNone) return {reshape(losses, sizes).ref};
        return {b.call(reduction == kMean ? "aten.mean.default" : "aten.sum.default", {arg(losses)}).ref};
    }
    /// By what a row's gradient is divided.
    double share() const { return 1.0 / static_cast<double>(reduction == kMean ? rows * classes : classes); }
    /// Times what flows into each row.
    Refs times_grad(const NodeValue& gradient, const NodeValue& grad) const {
        const NodeValue by = grad.meta.numel() == rows && reduction == kNone ? reshape(grad, {rows, 1}) : grad;
        return {reshape(mul(gradient, by), given).ref};
    }

    GraphBuilder& b;
    Sizes given, target_sizes;
    NodeValue x;  ///< [rows, classes]
    std::int64_t rows = 1, classes = 0, reduction = kMean;
};

// --- multi_margin_loss: one class of each row ---

struct MultiMargin : Scores {
    MultiMargin(GraphBuilder& builder, const Arguments<NodeValue>& a) : Scores(builder, a) {
        p = a.scalar("p").to_double();
        if (p != 1 && p != 2) throw Error(a.schema().name + ": found p=" + std::to_string(p) + ", expected p=1 or p=2");
        expect_targets(a, target_sizes == Sizes{rows} || (target_sizes.empty() && given.size() == 1),
                       "one target for each row of scores");
        at = reshape(a.tensor("target"), {rows, 1});
        const NodeValue own = call("aten.gather.default", {arg(x), 1, arg(at)});
        margins = add(sub(number(Arg(a.scalar("margin").to_double())), own), x);
        if (const auto w = a.optional_tensor("weight"))
            weight = column(call("aten.index_select.default", {arg(*w), 0, arg(reshape(at, {rows}))}), 1);
    }
    /// 0 at the target, else v.
    NodeValue others(const NodeValue& v) const { return call("aten.scatter.value", {arg(v), 1, arg(at), 0}); }

    double p = 1;
    NodeValue at, margins;
    std::optional<NodeValue> weight = {};
};

/// The mean over the classes but the target's of max(0, margin - x[target] + x[class])^p; the sum is over all of them.
Refs multi_margin_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const MultiMargin m(b, a);
    NodeValue terms = m.positive(m.margins);
    if (m.p == 2) terms = m.mul(terms, terms);
    if (m.weight) terms = m.mul(terms, *m.weight);
    const NodeValue losses = m.div(m.sum(m.others(terms), {1}), Arg(static_cast<double>(m.classes)));
    return m.reduced_rows(losses, m.target_sizes);
}

Refs multi_margin_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const MultiMargin m(b, a);
    const NodeValue violated = m.when("gt", m.margins, 0);
    NodeValue slope = m.p == 2 ? m.mul(m.margins, Arg(2 * m.share()))
                               : m.b.call("aten.full_like.default", {arg(m.margins), Arg(m.share())});
    if (m.weight) slope = m.mul(slope, *m.weight);
    const NodeValue up = m.others(m.keep(violated, slope)), down = m.neg(m.sum(up, {1}, true));
    return m.times_grad(m.call("aten.scatter.src", {arg(up), 1, arg(m.at), arg(down)}), a.tensor("grad_output"));
}

void multi_margin_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    r.set("self", r.call("aten.multi_margin_loss_backward.default",
                         {arg(r.grad()), arg(r.tensor("self")), arg(r.tensor("target")), Arg(c.args().scalar("p")),
                          Arg(c.args().scalar("margin")), r.optional("weight"), c.args().integer("reduction")}));
}

// --- multilabel_margin_loss: the classes of each row up to the first -1 ---

struct MultilabelMargin : Scores {
    MultilabelMargin(GraphBuilder& builder, const Arguments<NodeValue>& a) : Scores(builder, a) {
        expect_targets(a, target_sizes == given, "equal sizes");
        const NodeValue target = reshape(a.tensor("target"), {rows, classes});
        const NodeValue ended = call("aten.cumsum.default", {arg(as(when("lt", target, 0), DType::i64)), 1});
        is_label = when("eq", ended, 0);
        at = drop(when("eq", target, -1), target);  // of all, so that what is no class is refused wherever it stands
        const NodeValue own = call("aten.gather.default", {arg(x), 1, arg(at)});
        margins = add(add(neg(column(own, 2)), 1), column(x, 1));  // [rows, labels, classes]
    }
    /// [rows, classes]: 1 where a label is.
    NodeValue targets() const {
        const NodeValue counts = call("aten.scatter_add.default", {arg(zeros({rows, classes}, DType::i64)), 1, arg(at),
                                                                   arg(as(is_label, DType::i64))});
        return as(when("gt", counts, 0), x.meta.dtype);
    }
    /// v where there is a label and a class that is none.
    NodeValue between(const NodeValue& v, const NodeValue& is_target) const {
        const NodeValue other = when("eq", column(is_target, 1), 0);
        return keep(call("aten.logical_and.default", {arg(column(is_label, 2)), arg(other)}), v);
    }

    NodeValue is_label, at, margins;
};

/// max(0, 1 - x[label] + x[class]) over all labels and all classes that are none, over the number of classes.
Refs multilabel_margin_loss_forward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const MultilabelMargin m(b, a);
    const NodeValue is_target = m.targets();
    const NodeValue sums = m.sum(m.between(m.positive(m.margins), is_target), {1, 2});
    const NodeValue losses = m.div(sums, Arg(static_cast<double>(m.classes)));
    return {m.reduced_rows(losses, m.given.size() == 2 ? Sizes{m.rows} : Sizes{})[0],
            m.reshape(is_target, m.given).ref};
}

Refs multilabel_margin_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const MultilabelMargin m(b, a);
    const NodeValue is_target = m.reshape(a.tensor("is_target"), {m.rows, m.classes});
    const NodeValue violated = m.as(m.when("gt", m.margins, 0), m.x.meta.dtype);
    const NodeValue terms = m.mul(m.between(violated, is_target), Arg(m.share()));
    const NodeValue up = m.sum(terms, {1}), down = m.neg(m.sum(terms, {2}));
    const NodeValue both = m.call("aten.scatter_add.default", {arg(up), 1, arg(m.at), arg(down)});
    return m.times_grad(both, a.tensor("grad_output"));
}

void multilabel_margin_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    r.set("self", r.call("aten.multilabel_margin_loss_backward.default",
                         {arg(r.grad()), arg(r.tensor("self")), arg(r.tensor("target")), c.args().integer("reduction"),
                          arg(r.result(1))}));
}

Refs multilabel_margin_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {b.call_multi("aten.multilabel_margin_loss_forward.default",
                         {arg(a.tensor("self")), arg(a.tensor("target")), a.integer("reduction")})[0]
                .ref};
}

// --- Of two scores, or of one ---

/// max(0, margin - y (x1 - x2)), y of -1 and 1
Refs margin_ranking_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue difference = g.sub(a.tensor("input1"), a.tensor("input2"));
    const NodeValue margin = g.add(g.mul(g.neg(a.tensor("target")), difference), Arg(a.number("margin")));
    return {reduced(b, a, g.call("aten.clamp_min.default", {arg(margin), 0}))};
}

/// x where y is 1, max(0, margin - x) where it is -1, the sum of both for any other y
Refs hinge_embedding_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), y = a.tensor("target");
    const NodeValue margin = g.call("aten.clamp_min.default", {arg(g.add(g.neg(x), Arg(a.number("margin")))), 0});
    const NodeValue apart = g.drop(g.when("eq", y, 1), margin), together = g.drop(g.when("eq", y, -1), x);
    return {reduced(b, a, g.add(apart, together))};
}

// --- Records ---

constexpr DTypeSet kScores = set_of(DType::f64) | set_of(DType::f32);

constexpr OpDef kMarginLossOps[] = {
    {.name = "aten.multi_margin_loss.default",
     .doc = "a margin between the target's score and others: "
            "https://pytorch.org/docs/stable/generated/torch.nn.MultiMarginLoss.html",
     .schema = "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
               "reduction=1) -> Tensor",
     .dtypes = kScores,
     .decompose = multi_margin_loss,
     .open = {.ask = aten_open::margin_target},
     .grad = multi_margin_grad},
    {.name = "aten.multi_margin_loss_backward.default",
     .doc = "the gradient of multi_margin_loss: "
            "https://pytorch.org/docs/stable/generated/torch.nn.MultiMarginLoss.html",
     .schema = "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, "
               "Tensor? weight=None, int reduction=1) -> Tensor",
     .dtypes = kScores,
     .decompose = multi_margin_loss_backward,
     .open = {.ask = aten_open::margin_target}},
    {.name = "aten.multilabel_margin_loss_forward.default",
     .doc = "margins between the labels' scores and others, and where labels are: "
            "https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelMarginLoss.html",
     .schema = "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor "
               "is_target)",
     .dtypes = kScores,
     .decompose = multilabel_margin_loss_forward,
     .open = {.ask = aten_open::margin_targets},
     .grad = multilabel_margin_grad},
    {.name = "aten.multilabel_margin_loss_backward.default",
     .doc = "the gradient of multilabel_margin_loss: "
            "https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelMarginLoss.html",
     .schema = "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor "
               "is_target) -> Tensor",
     .dtypes = kScores,
     .decompose = multilabel_margin_loss_backward,
     .open = {.ask = aten_open::margin_targets}},
    {.name = "aten.multilabel_margin_loss.default",
     .doc = "margins between the labels' scores and others: "
            "https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelMarginLoss.html",
     .schema = "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     .dtypes = kScores,
     .decompose = multilabel_margin_loss,
     .open = {.ask = aten_open::margin_targets}},
    {.name = "aten.margin_ranking_loss.default",
     .doc = "a margin between two scores: https://pytorch.org/docs/stable/generated/torch.nn.MarginRankingLoss.html",
     .schema = "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> "
               "Tensor",
     .dtypes = kFloating,
     .decompose = margin_ranking_loss},
    {.name = "aten.hinge_embedding_loss.default",
     .doc = "distances of similar pairs, margins of dissimilar pairs: "
            "https://pytorch.org/docs/stable/generated/torch.nn.HingeEmbeddingLoss.html",
     .schema = "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor",
     .dtypes = kFloating,
     .decompose = hinge_embedding_loss},
};

}  // namespace

std::span<const OpDef> margin_loss_ops() { return kMarginLossOps; }

}  // namespace whittle
