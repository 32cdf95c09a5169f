// Losses of two tensors alike, element by element, and the likelihood of classes at the places of images; with their
// gradients as LibTorch's autograd calls them. All are composites.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
#include <numbers>

#include "base/error.h"
#include "base/number_text.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/losses.h"
#include "ops/aten/open_rules.h"

namespace whittle {
namespace {

using namespace aten;

/// A gradient of each loss, over their count where the mean was taken.
V through_reduction(const Arguments<V>& a, const V& gradient) {
    if (a.integer("reduction") != kMean) return gradient;
    return gradient / static_cast<double>(gradient.numel());
}

// --- huber_loss ---

double huber_delta(const Arguments<V>& a) {
    const double delta = a.number("delta");
    if (!(delta > 0)) throw Error("huber_loss: found delta=" + std::to_string(delta) + ", expected more than 0");
    return delta;
}

/// Half of squares up to delta, from there on delta times the distance, less what makes it continuous; Huber 1964.
CallResults decompose_huber_loss(const Call& c) {
    const double delta = huber_delta(c);
    const V z = abs(c.tensor("self") - c.tensor("target"));
    const V near = z * 0.5 * z, far = (z + -0.5 * delta) * delta;
    const V is_near = le(z, delta);
    return reduced(c, where(is_near, near, far));
}

/// The difference, at most delta each way.
CallResults decompose_huber_loss_backward(const Call& c) {
    const double delta = huber_delta(c);
    const V difference = c.tensor("self") - c.tensor("target");
    const V slope = clamp(difference, -delta, delta);
    return through_reduction(c, slope * c.tensor("grad_output"));
}

// --- binary_cross_entropy ---

/// Of the logarithm of a probability, from -100 on: so a wrong certainty costs 100, and no infinity.
V limited(const V& logarithm) { return clamp_min(logarithm, -100); }
V weighted(const Arguments<V>& a, const V& x) {
    const auto weight = a.optional_tensor("weight");
    return weight ? x * *weight : x;
}

/// (y - 1) log(1 - x) - y log(x) for probabilities x. That they are from 0 to 1 is a matter of values, not checked.
CallResults decompose_binary_cross_entropy(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("target");
    const V no = (y + -1) * limited(log1p(-x));
    const V losses = no - y * limited(log(x));
    return reduced(c, weighted(c, losses));
}

/// (x - y) / (x (1 - x)), where the divisor is at least 1e-12
CallResults decompose_binary_cross_entropy_backward(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("target");
    const V spread_of = clamp_min(complement(x) * x, 1e-12);
    const V slope = c.tensor("grad_output") * (x - y) / spread_of;
    return through_reduction(c, weighted(c, slope));
}

/// Of the probabilities by the backward op; of the targets log(1 - x) - log(x).
void binary_cross_entropy_grad(Gradients& c) {
    const V x = c.tensor("self"), y = c.tensor("target");
    const std::int64_t reduction = c.integer("reduction");
    if (c.needed("self"))
        c.set("self", aten::binary_cross_entropy_backward(c.grad(), x, y, c.optional_tensor("weight"), reduction));
    if (!c.needed("target")) return;
    const V no = log1p(-x), slope = no - log(x);
    c.set("target", through_reduction(c, weighted(c, c.grad() * slope)));
}

/// log(1 + exp(-y x)), y of -1 and 1
CallResults decompose_soft_margin_loss(const Call& c) {
    const V product = -(c.tensor("target") * c.tensor("self"));
    const V grown = exp(product) + 1;
    return reduced(c, log(grown));
}

/// -y z / (1 + z), z = exp(-y x)
CallResults decompose_soft_margin_loss_backward(const Call& c) {
    const V y = c.tensor("target"), x = c.tensor("self");
    const double share = c.integer("reduction") == kMean ? 1.0 / static_cast<double>(x.numel()) : 1.0;
    const V z = exp(-(y * x));
    const V slope = y * z * -share / (z + 1);
    return slope * c.tensor("grad_output");
}

void soft_margin_grad(Gradients& c) {
    c.set("self",
          aten::soft_margin_loss_backward(c.grad(), c.tensor("self"), c.tensor("target"), c.integer("reduction")));
}

// --- Of one formula each ---

CallResults decompose_l1_loss(const Call& c) { return reduced(c, abs(c.tensor("self") - c.tensor("target"))); }

/// y (log y - x), x and where log_target y, too, being logarithms
CallResults decompose_kl_div(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("target");
    if (c.boolean("log_target")) return reduced(c, exp(y) * (y - x));
    return reduced(c, xlogy(y, y) - y * x);
}

/// exp(x) - y x, or x - y log(x); `full` adds Stirling's approximation of log(y!), where y is more than 1.
CallResults decompose_poisson_nll_loss(const Call& c) {
    const V x = c.tensor("input"), y = c.tensor("target");
    V losses = c.boolean("log_input") ? exp(x) - y * x : x - y * aten::log(x + c.number("eps"));
    if (c.boolean("full")) {
        const V half = aten::log(y * (2 * std::numbers::pi)) * 0.5;
        const V stirling = y * aten::log(y) - y + half;
        losses = losses + drop(le(y, 1), stirling);
    }
    return reduced(c, losses);
}

// --- nll_loss2d: scores [N, C, H, W], classes [N, H, W] ---

struct Places {
    V scores, target;  ///< as rows [N * H * W, C] and [N * H * W]
    Sizes sizes;       ///< [N, H, W]
    std::int64_t classes = 0;
};

Places places_of(const Call& a) {
    const V scores = a.tensor("self"), target = a.tensor("target");
    const Sizes& sizes = scores.sizes();
    if (sizes.size() != 4)
        throw Error("nll_loss2d: found scores of sizes " + to_string(sizes) + ", expected [N, C, H, W]");
    Places places{.scores = {}, .target = {}, .sizes = {sizes[0], sizes[2], sizes[3]}, .classes = sizes[1]};
    if (target.sizes() != places.sizes)
        throw Error("nll_loss2d: found targets of sizes " + to_string(target.sizes()) + ", expected " +
                    to_string(places.sizes));
    const std::int64_t count = element_count(places.sizes);
    places.scores = reshaped(permute(scores, Ints{0, 2, 3, 1}), Ints{count, sizes[1]});
    places.target = reshaped(target, Ints{count});
    return places;
}

CallResults decompose_nll_loss2d_forward(const Call& c) {
    const Places places = places_of(c);
    const std::int64_t reduction = c.integer("reduction");
    const auto losses = nll_loss_forward(places.scores, places.target, c.optional_tensor("weight"), reduction,
                                         c.integer("ignore_index"));
    const V output = reduction == kNone ? reshaped(losses[0], places.sizes) : losses[0];
    return {output, losses[1]};
}

CallResults decompose_nll_loss2d_backward(const Call& c) {
    const Places places = places_of(c);
    V grad = c.tensor("grad_output");
    const std::int64_t reduction = c.integer("reduction");
    if (reduction == kNone) grad = reshaped(grad, places.target.sizes());
    const V rows = nll_loss_backward(grad, places.scores, places.target, c.optional_tensor("weight"), reduction,
                                     c.integer("ignore_index"), c.tensor("total_weight"));
    const Sizes& s = places.sizes;
    const V image = reshaped(rows, Ints{s[0], s[1], s[2], places.classes});
    const V moved = permute(image, Ints{0, 3, 1, 2});
    return contiguous(moved);
}

void nll_loss2d_grad(Gradients& c) {
    c.set("self", aten::nll_loss2d_backward(c.grad(), c.tensor("self"), c.tensor("target"), c.optional_tensor("weight"),
                                            c.integer("reduction"), c.integer("ignore_index"), c.result(1)));
}

/// Of binary_cross_entropy, which refuses what is no probability.
Reason open_probabilities(std::string_view op, const Arguments<Tensor>& a) {
    for (const double p : a.tensor("self").values<double>())
        if (!(p >= 0 && p <= 1))
            return std::string(op) + " reads the element " + shortest(p) + ", which is not a probability from 0 to 1";
    return std::nullopt;
}

}  // namespace

std::span<const OpDef> loss_form_ops() {
    static const OpDef ops[] = {
        composite("huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
                  "squared differences below delta, else absolute differences: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.HuberLoss.html",
                  kFloating, decompose_huber_loss),
        composite(
            "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
            "the gradient of huber_loss: https://pytorch.org/docs/stable/generated/torch.nn.HuberLoss.html", kFloating,
            decompose_huber_loss_backward),
        composite(
            "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
            "binary cross entropy of probabilities: https://pytorch.org/docs/stable/generated/torch.nn.BCELoss.html",
            kFloating, decompose_binary_cross_entropy, binary_cross_entropy_grad, {.ask = open_probabilities}),
        composite(
            "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
            "reduction=1) -> Tensor",
            "the gradient of binary_cross_entropy: https://pytorch.org/docs/stable/generated/torch.nn.BCELoss.html",
            kFloating, decompose_binary_cross_entropy_backward),
        composite("soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
                  "log(1 + exp(-y x)): https://pytorch.org/docs/stable/generated/torch.nn.SoftMarginLoss.html",
                  kFloating, decompose_soft_margin_loss, soft_margin_grad),
        composite(
            "soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
            "the gradient of soft_margin_loss: https://pytorch.org/docs/stable/generated/torch.nn.SoftMarginLoss.html",
            kFloating, decompose_soft_margin_loss_backward),
        composite("l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
                  "absolute differences, or their mean or sum: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.L1Loss.html",
                  kFloating, decompose_l1_loss),
        composite("kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
                  "the Kullback-Leibler divergence of two distributions: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html",
                  kFloating, decompose_kl_div),
        composite("poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) "
                  "-> Tensor",
                  "negative log likelihood of counts with a Poisson distribution: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.PoissonNLLLoss.html",
                  kFloating, decompose_poisson_nll_loss),
        composite("nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> "
                  "(Tensor output, Tensor total_weight)",
                  "nll_loss at each pixel of images: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
                  kFloating, decompose_nll_loss2d_forward, nll_loss2d_grad, {.ask = aten_open::target_class}),
        composite("nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
                  "int ignore_index, Tensor total_weight) -> Tensor",
                  "the gradient of nll_loss2d: https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
                  kFloating, decompose_nll_loss2d_backward, {.ask = aten_open::target_class}),
    };
    return ops;
}

}  // namespace whittle
