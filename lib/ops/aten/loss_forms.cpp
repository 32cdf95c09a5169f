// Losses of two tensors alike, element by element, and the likelihood of classes at the places of images; with their
// gradients as LibTorch's autograd calls them. All are composites.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
#include <algorithm>
#include <numbers>

#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/losses.h"
#include "ops/aten/open_rules.h"

namespace whittle {
namespace {

/// A gradient of each loss, over their count where the mean was taken.
NodeValue through_reduction(const Gradient& g, const Arguments<NodeValue>& a, const NodeValue& gradient) {
    if (a.integer("reduction") != kMean) return gradient;
    return g.div(gradient, Arg(static_cast<double>(gradient.meta.numel())));
}

// --- huber_loss ---

double huber_delta(const Arguments<NodeValue>& a) {
    const double delta = a.number("delta");
    if (!(delta > 0)) throw Error("huber_loss: found delta=" + std::to_string(delta) + ", expected more than 0");
    return delta;
}

/// Half of squares up to delta, from there on delta times the distance, less what makes it continuous; Huber 1964.
Refs huber_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const double delta = huber_delta(a);
    const NodeValue z = g.call("aten.abs.default", {arg(g.sub(a.tensor("self"), a.tensor("target")))});
    const NodeValue near = g.mul(g.mul(z, Arg(0.5)), z), far = g.mul(g.add(z, Arg(-0.5 * delta)), Arg(delta));
    const NodeValue is_near = g.when("le", z, Arg(delta));
    return {reduced(b, a, g.either(is_near, near, far))};
}

/// The difference, at most delta each way.
Refs huber_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const double delta = huber_delta(a);
    const NodeValue difference = g.sub(a.tensor("self"), a.tensor("target"));
    const NodeValue slope = g.call("aten.clamp.default", {arg(difference), Arg(-delta), Arg(delta)});
    return {through_reduction(g, a, g.mul(slope, a.tensor("grad_output"))).ref};
}

// --- binary_cross_entropy ---

/// The logarithm of a probability, from -100 on: so a wrong certainty costs 100, and no infinity.
NodeValue limited_log(const Gradient& g, std::string_view function, const NodeValue& x) {
    return g.call("aten.clamp_min.default", {arg(g.call(function, {arg(x)})), Arg(-100)});
}
NodeValue weighted(const Gradient& g, const Arguments<NodeValue>& a, const NodeValue& x) {
    const auto weight = a.optional_tensor("weight");
    return weight ? g.mul(x, *weight) : x;
}

/// (y - 1) log(1 - x) - y log(x) for probabilities x. That they are from 0 to 1 is a matter of values, not checked.
Refs binary_cross_entropy(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), y = a.tensor("target");
    const NodeValue no = g.mul(g.add(y, -1), limited_log(g, "aten.log1p.default", g.neg(x)));
    const NodeValue losses = g.sub(no, g.mul(y, limited_log(g, "aten.log.default", x)));
    return {reduced(b, a, weighted(g, a, losses))};
}

/// (x - y) / (x (1 - x)), where the divisor is at least 1e-12
Refs binary_cross_entropy_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), y = a.tensor("target");
    const NodeValue spread_of = g.call("aten.clamp_min.default", {arg(g.mul(g.complement(x), x)), Arg(1e-12)});
    const NodeValue slope = g.div(g.mul(a.tensor("grad_output"), g.sub(x, y)), arg(spread_of));
    return {through_reduction(g, a, weighted(g, a, slope)).ref};
}

/// Of the probabilities by the backward op; of the targets log(1 - x) - log(x).
void binary_cross_entropy_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("self"), y = r.tensor("target");
    const std::int64_t reduction = c.args().integer("reduction");
    if (r.needed("self"))
        r.set("self", r.call("aten.binary_cross_entropy_backward.default",
                             {arg(r.grad()), arg(x), arg(y), r.optional("weight"), reduction}));
    if (!r.needed("target")) return;
    const NodeValue no = r.of("aten.log1p.default", r.neg(x)), slope = r.sub(no, r.of("aten.log.default", x));
    r.set("target", through_reduction(r, c.args(), weighted(r, c.args(), r.mul(r.grad(), slope))));
}

/// log(1 + exp(-y x)), y of -1 and 1
Refs soft_margin_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue product = g.neg(g.mul(a.tensor("target"), a.tensor("self")));
    const NodeValue grown = g.add(g.call("aten.exp.default", {arg(product)}), 1);
    return {reduced(b, a, g.call("aten.log.default", {arg(grown)}))};
}

/// -y z / (1 + z), z = exp(-y x)
Refs soft_margin_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue y = a.tensor("target"), x = a.tensor("self");
    const double share = a.integer("reduction") == kMean ? 1.0 / static_cast<double>(x.meta.numel()) : 1.0;
    const NodeValue z = g.of("aten.exp.default", g.neg(g.mul(y, x)));
    const NodeValue slope = g.div(g.mul(g.mul(y, z), Arg(-share)), arg(g.add(z, 1)));
    return {g.mul(slope, a.tensor("grad_output")).ref};
}

void soft_margin_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    r.set("self",
          r.call("aten.soft_margin_loss_backward.default",
                 {arg(r.grad()), arg(r.tensor("self")), arg(r.tensor("target")), c.args().integer("reduction")}));
}

// --- Of one formula each ---

Refs l1_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    return {reduced(b, a, g.of("aten.abs.default", g.sub(a.tensor("self"), a.tensor("target"))))};
}

/// y (log y - x), x and where log_target y, too, being logarithms
Refs kl_div(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), y = a.tensor("target");
    if (a.boolean("log_target")) return {reduced(b, a, g.mul(g.of("aten.exp.default", y), g.sub(y, x)))};
    return {reduced(b, a, g.sub(g.call("aten.xlogy.Tensor", {arg(y), arg(y)}), g.mul(y, x)))};
}

/// exp(x) - y x, or x - y log(x); `full` adds Stirling's approximation of log(y!), where y is more than 1.
Refs poisson_nll_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("input"), y = a.tensor("target");
    const auto log = [&](const NodeValue& v) { return g.of("aten.log.default", v); };
    NodeValue losses = a.boolean("log_input") ? g.sub(g.of("aten.exp.default", x), g.mul(y, x))
                                              : g.sub(x, g.mul(y, log(g.add(x, Arg(a.number("eps"))))));
    if (a.boolean("full")) {
        const NodeValue half = g.mul(log(g.mul(y, Arg(2 * std::numbers::pi))), Arg(0.5));
        const NodeValue stirling = g.add(g.sub(g.mul(y, log(y)), y), half);
        losses = g.add(losses, g.drop(g.when("le", y, 1), stirling));
    }
    return {reduced(b, a, losses)};
}

// --- nll_loss2d: scores [N, C, H, W], classes [N, H, W] ---

struct Places {
    NodeValue scores, target;  ///< as rows [N * H * W, C] and [N * H * W]
    Sizes sizes;               ///< [N, H, W]
    std::int64_t classes = 0;
};

Places places_of(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue scores = a.tensor("self"), target = a.tensor("target");
    const Sizes& sizes = scores.meta.sizes;
    if (sizes.size() != 4)
        throw Error("nll_loss2d: found scores of sizes " + to_string(sizes) + ", expected [N, C, H, W]");
    Places places{.scores = {}, .target = {}, .sizes = {sizes[0], sizes[2], sizes[3]}, .classes = sizes[1]};
    if (target.meta.sizes != places.sizes)
        throw Error("nll_loss2d: found targets of sizes " + to_string(target.meta.sizes) + ", expected " +
                    to_string(places.sizes));
    const std::int64_t count = element_count(places.sizes);
    places.scores =
        g.reshape(g.call("aten.permute.default", {arg(scores), Arg::ints({0, 2, 3, 1})}), {count, sizes[1]});
    places.target = g.reshape(target, {count});
    return places;
}

Refs nll_loss2d_forward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Places places = places_of(b, a);
    const std::int64_t reduction = a.integer("reduction");
    const std::vector<NodeValue> losses =
        b.call_multi("aten.nll_loss_forward.default",
                     {arg(places.scores), arg(places.target), weight_of(a), reduction, a.integer("ignore_index")});
    const NodeValue output = reduction == kNone ? Gradient(b).reshape(losses[0], places.sizes) : losses[0];
    return {output.ref, losses[1].ref};
}

Refs nll_loss2d_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const Places places = places_of(b, a);
    NodeValue grad = a.tensor("grad_output");
    const std::int64_t reduction = a.integer("reduction");
    if (reduction == kNone) grad = g.reshape(grad, places.target.meta.sizes);
    const NodeValue rows =
        g.call("aten.nll_loss_backward.default", {arg(grad), arg(places.scores), arg(places.target), weight_of(a),
                                                  reduction, a.integer("ignore_index"), arg(a.tensor("total_weight"))});
    const Sizes& s = places.sizes;
    const NodeValue image = g.reshape(rows, {s[0], s[1], s[2], places.classes});
    const NodeValue moved = g.call("aten.permute.default", {arg(image), Arg::ints({0, 3, 1, 2})});
    return {g.call("aten.contiguous.default", {arg(moved)}).ref};
}

void nll_loss2d_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    r.set("self", r.call("aten.nll_loss2d_backward.default",
                         {arg(r.grad()), arg(r.tensor("self")), arg(r.tensor("target")), r.optional("weight"),
                          c.args().integer("reduction"), c.args().integer("ignore_index"), arg(r.result(1))}));
}

}  // namespace

std::span<const OpDef> loss_form_ops() {
    static const OpDef ops[] = {
        {.name = "aten.huber_loss.default",
         .doc =
             "squares, and distances from delta on: https://pytorch.org/docs/stable/generated/torch.nn.HuberLoss.html",
         .schema = "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
         .dtypes = kFloating,
         .decompose = huber_loss},
        {.name = "aten.huber_loss_backward.default",
         .doc = "the gradient of huber_loss: https://pytorch.org/docs/stable/generated/torch.nn.HuberLoss.html",
         .schema = "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> "
                   "Tensor",
         .dtypes = kFloating,
         .decompose = huber_loss_backward},
        {.name = "aten.binary_cross_entropy.default",
         .doc = "the loss of probabilities: https://pytorch.org/docs/stable/generated/torch.nn.BCELoss.html",
         .schema = "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
         .dtypes = kFloating,
         .decompose = binary_cross_entropy,
         .open = {.ask = aten_open::probabilities},
         .grad = binary_cross_entropy_grad},
        {.name = "aten.binary_cross_entropy_backward.default",
         .doc = "the gradient of binary_cross_entropy: https://pytorch.org/docs/stable/generated/torch.nn.BCELoss.html",
         .schema = "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
                   "int reduction=1) -> Tensor",
         .dtypes = kFloating,
         .decompose = binary_cross_entropy_backward},
        {.name = "aten.soft_margin_loss.default",
         .doc = "log(1 + exp(-y x)): https://pytorch.org/docs/stable/generated/torch.nn.SoftMarginLoss.html",
         .schema = "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
         .dtypes = kFloating,
         .decompose = soft_margin_loss,
         .grad = soft_margin_grad},
        {.name = "aten.soft_margin_loss_backward.default",
         .doc = "the gradient of soft_margin_loss: "
                "https://pytorch.org/docs/stable/generated/torch.nn.SoftMarginLoss.html",
         .schema = "soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
         .dtypes = kFloating,
         .decompose = soft_margin_loss_backward},
        {.name = "aten.l1_loss.default",
         .doc = "distances, their mean or sum: https://pytorch.org/docs/stable/generated/torch.nn.L1Loss.html",
         .schema = "l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
         .dtypes = kFloating,
         .decompose = l1_loss},
        {.name = "aten.kl_div.default",
         .doc = "the Kullback-Leibler divergence of two distributions: "
                "https://pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html",
         .schema = "kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
         .dtypes = kFloating,
         .decompose = kl_div},
        {.name = "aten.poisson_nll_loss.default",
         .doc = "the likelihood of counts: https://pytorch.org/docs/stable/generated/torch.nn.PoissonNLLLoss.html",
         .schema = "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) "
                   "-> Tensor",
         .dtypes = kFloating,
         .decompose = poisson_nll_loss},
        {.name = "aten.nll_loss2d_forward.default",
         .doc = "nll_loss at each pixel of images: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema = "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> "
                   "(Tensor output, Tensor total_weight)",
         .dtypes = kFloating,
         .decompose = nll_loss2d_forward,
         .open = {.ask = aten_open::target_class},
         .grad = nll_loss2d_grad},
        {.name = "aten.nll_loss2d_backward.default",
         .doc = "the gradient of nll_loss2d: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
         .schema = "nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
                   "int ignore_index, Tensor total_weight) -> Tensor",
         .dtypes = kFloating,
         .decompose = nll_loss2d_backward,
         .open = {.ask = aten_open::target_class}},
    };
    return ops;
}

}  // namespace whittle
