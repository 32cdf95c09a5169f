// Activations that are compositions of comparisons, selections and other activations, and their gradients, with
// LibTorch's names. Definitions: https://pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions and
// https://github.com/pytorch/pytorch/blob/v1.13.1/aten/src/ATen/native/cpu/Activation.cpp for corners and NaN.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "tensor/shape.h"

namespace whittle {
namespace {

// --- prelu ---

/// The weight under the sizes by which it broadcasts: one for all, or one per channel, dimension 1.
NodeValue prelu_weight(const Gradient& g, const NodeValue& x, const NodeValue& weight) {
    const Sizes& sizes = x.meta.sizes;
    const std::int64_t channels = sizes.size() > 1 ? sizes[1] : 1, count = weight.meta.numel();
    if (weight.meta.sizes.size() > 1 || (count != 1 && count != channels))
        throw Error("prelu: found a weight of sizes " + to_string(weight.meta.sizes) + " for an operand of sizes " +
                    to_string(sizes) + ", expected a weight of at most 1 dimension with 1 element, or with " +
                    std::to_string(channels) + " elements, one for each channel");
    Sizes wide(std::max<std::size_t>(sizes.size(), 1), 1);
    if (count != 1) wide[1] = count;
    return g.reshape(weight, wide);
}

Refs prelu(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), weight = prelu_weight(g, x, a.tensor("weight"));
    return {g.reshape(g.either(g.when("gt", x, 0), x, g.mul(weight, x)), x.meta.sizes).ref};
}

Refs prelu_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_output"), x = a.tensor("self"), weight = a.tensor("weight");
    const NodeValue wide = prelu_weight(g, x, weight), positive = g.when("gt", x, 0);
    const NodeValue below = g.drop(positive, g.mul(x, grad));
    return {g.reshape(g.either(positive, grad, g.mul(wide, grad)), x.meta.sizes).ref,
            g.reshape(sum_to_size(b, below, wide.meta.sizes), weight.meta.sizes).ref};
}

// --- glu ---

/// The dimension's two halves.
std::pair<NodeValue, NodeValue> halves(const Gradient& g, const NodeValue& x, std::int64_t dim) {
    const Sizes& sizes = x.meta.sizes;
    if (sizes.empty()) throw Error("glu: found a 0-d operand, expected at least 1 dimension");
    dim = wrap_dim(dim, static_cast<std::int64_t>(sizes.size()));
    const std::int64_t size = sizes[static_cast<std::size_t>(dim)];
    if (size % 2 != 0)
        throw Error("glu: found size " + std::to_string(size) + " in dimension " + std::to_string(dim) +
                    ", expected an even size");
    return {g.slice(x, dim, 0, size / 2), g.slice(x, dim, size / 2, size)};
}

Refs glu(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const auto [value, gate] = halves(g, a.tensor("self"), a.integer("dim"));
    return {g.mul(value, g.of("aten.sigmoid.default", gate)).ref};
}

Refs glu_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const auto [value, gate] = halves(g, a.tensor("self"), a.integer("dim"));
    const NodeValue s = g.of("aten.sigmoid.default", gate), of_value = g.mul(s, a.tensor("grad_output"));
    const NodeValue of_gate = g.mul(g.mul(g.complement(s), of_value), value);
    return {g.call("aten.cat.default", {args_list({of_value, of_gate}), a.integer("dim")}).ref};
}

// --- Shrinking and thresholds ---

/// 0 from -lambd to lambd.
Refs hardshrink(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const double bound = a.number("lambd");
    const NodeValue above = g.when("ge", x, Arg(-bound)), below = g.when("le", x, Arg(bound));
    return {g.drop(g.call("aten.logical_and.default", {arg(above), arg(below)}), x).ref};
}
/// The gradient outside of the bounds: of a NaN it is 0.
NodeValue outside(GraphBuilder& b, const Arguments<NodeValue>& a, const NodeValue& gradient) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const double bound = a.number("lambd");
    const NodeValue far =
        g.call("aten.logical_or.default", {arg(g.when("lt", x, Arg(-bound))), arg(g.when("gt", x, Arg(bound)))});
    return g.keep(far, gradient);
}
Refs hardshrink_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {outside(b, a, a.tensor("grad_out")).ref};
}
void hardshrink_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    r.set("self", r.call("aten.hardshrink_backward.default",
                         {arg(r.grad()), arg(r.tensor("self")), Arg(c.args().scalar("lambd"))}));
}

/// Nearer to 0 by lambd, no further than 0, which NaN becomes, too.
Refs softshrink(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const double bound = a.number("lambd");
    if (!(bound >= 0)) throw Error("softshrink: found lambd=" + std::to_string(bound) + ", expected at least 0");
    const NodeValue below = g.keep(g.when("lt", x, Arg(-bound)), g.add(x, Arg(bound)));
    return {g.either(g.when("gt", x, Arg(bound)), g.add(x, Arg(-bound)), below).ref};
}
Refs softshrink_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {outside(b, a, a.tensor("grad_output")).ref};
}

/// A number in the place of what is not above the threshold.
Refs threshold(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const NodeValue low = g.when("le", x, Arg(a.scalar("threshold")));
    return {g.call("aten.masked_fill.Scalar", {arg(x), arg(low), Arg(a.scalar("value"))}).ref};
}

// --- log_sigmoid as autograd calls it: with a buffer, exp(-|x|) ---

Refs log_sigmoid_forward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const NodeValue buffer = g.of("aten.exp.default", g.neg(g.of("aten.abs.default", x)));
    return {g.of("aten.log_sigmoid.default", x).ref, buffer.ref};
}
/// 1 - z / (1 + z) below 0, z / (1 + z) from there on.
Refs log_sigmoid_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue z = a.tensor("buffer"), share = g.div(z, arg(g.add(z, 1)));
    const NodeValue slope = g.either(g.when("lt", a.tensor("self"), 0), g.complement(share), share);
    return {g.mul(slope, a.tensor("grad_output")).ref};
}

/// Of the operand the slope's own, (s - 1) s with s = sigmoid(x): what the buffer holds follows from it.
void log_sigmoid_backward_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("self");
    if (r.needed("grad_output"))
        r.set("grad_output",
              r.call("aten.log_sigmoid_backward.default", {arg(r.grad()), arg(x), arg(r.tensor("buffer"))}));
    if (!r.needed("self")) return;
    const NodeValue s = r.of("aten.sigmoid.default", x);
    r.set("self", r.mul(r.mul(r.grad(), r.tensor("grad_output")), r.mul(r.add(s, -1), s)));
}

// --- logit ---

/// log(x / (1 - x)) of x, or of x clamped to eps … 1 - eps.
Refs logit(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    NodeValue x = a.tensor("self");
    if (const std::optional<double> eps = a.optional_number("eps"); eps && *eps >= 0)
        x = g.call("aten.clamp.default", {arg(x), Arg(*eps), Arg(1 - *eps)});
    return {g.of("aten.log.default", g.div(x, arg(g.complement(x)))).ref};
}

void logit_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const std::optional<double> eps = c.args().optional_number("eps");
    r.set(r.call("aten.logit_backward.default", {arg(r.g), arg(r.x), eps ? Arg(*eps) : Arg()}));
}

/// grad / (x (1 - x)); beyond what logit takes 0 where it clamps, else NaN.
Refs logit_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_output"), x = a.tensor("self");
    const double eps = a.optional_number("eps").value_or(-1), low = eps < 0 ? 0 : eps, high = eps < 0 ? 1 : 1 - eps;
    const NodeValue outside =
        g.call("aten.logical_or.default", {arg(g.when("lt", x, Arg(low))), arg(g.when("gt", x, Arg(high)))});
    const auto fill = [&](const NodeValue& values, const Arg& with) {
        return g.call("aten.masked_fill.Scalar", {arg(values), arg(outside), with});
    };
    NodeValue divisor = g.mul(x, g.complement(x));
    if (eps >= 0) divisor = fill(divisor, 1);  // not 0, whose quotient has no gradient even where it is left out
    return {fill(g.div(grad, arg(divisor)), eps < 0 ? Arg(std::nan("")) : Arg(0)).ref};
}

}  // namespace

std::span<const OpDef> activation_form_ops() {
    static const OpDef ops[] = {
        {.name = "aten.prelu.default",
         .doc = "x, or below 0 a learned multiple of it: https://pytorch.org/docs/stable/generated/torch.nn.PReLU.html",
         .schema = "prelu(Tensor self, Tensor weight) -> Tensor",
         .dtypes = kFloating,
         .decompose = prelu},
        {.name = "aten.prelu_backward.default",
         .doc = "the gradients of prelu: https://pytorch.org/docs/stable/generated/torch.nn.PReLU.html",
         .schema = "prelu_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
         .dtypes = kFloating,
         .decompose = prelu_backward},
        {.name = "aten.glu.default",
         .doc = "the first half times the sigmoid of the second: "
                "https://pytorch.org/docs/stable/generated/torch.nn.GLU.html",
         .schema = "glu(Tensor self, int dim=-1) -> Tensor",
         .dtypes = kFloating,
         .decompose = glu},
        {.name = "aten.glu_backward.default",
         .doc = "the gradient of glu: https://pytorch.org/docs/stable/generated/torch.nn.GLU.html",
         .schema = "glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
         .dtypes = kFloating,
         .decompose = glu_backward},
        {.name = "aten.hardshrink.default",
         .doc = "x, but 0 where |x| <= lambd: https://pytorch.org/docs/stable/generated/torch.nn.Hardshrink.html",
         .schema = "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
         .dtypes = kFloating,
         .decompose = hardshrink,
         .grad = hardshrink_grad},
        {.name = "aten.hardshrink_backward.default",
         .doc = "the gradient where the result is not 0: "
                "https://pytorch.org/docs/stable/generated/torch.nn.Hardshrink.html",
         .schema = "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
         .dtypes = kFloating,
         .decompose = hardshrink_backward},
        {.name = "aten.softshrink.default",
         .doc = "x moved toward 0 by lambd: https://pytorch.org/docs/stable/generated/torch.nn.Softshrink.html",
         .schema = "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
         .dtypes = kFloating,
         .decompose = softshrink},
        {.name = "aten.softshrink_backward.default",
         .doc = "the gradient where the result is not 0: "
                "https://pytorch.org/docs/stable/generated/torch.nn.Softshrink.html",
         .schema = "softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
         .dtypes = kFloating,
         .decompose = softshrink_backward},
        {.name = "aten.threshold.default",
         .doc = "x where it is above the threshold, else a number: "
                "https://pytorch.org/docs/stable/generated/torch.nn.Threshold.html",
         .schema = "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
         .dtypes = kNumbers,
         .decompose = threshold},
        {.name = "aten.log_sigmoid_forward.default",
         .doc = "log_sigmoid, and exp(-|x|) for its gradient: "
                "https://pytorch.org/docs/stable/generated/torch.nn.LogSigmoid.html",
         .schema = "log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
         .dtypes = kFloating,
         .decompose = log_sigmoid_forward},
        {.name = "aten.log_sigmoid_backward.default",
         .doc = "the gradient of log_sigmoid: https://pytorch.org/docs/stable/generated/torch.nn.LogSigmoid.html",
         .schema = "log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
         .dtypes = kFloating,
         .decompose = log_sigmoid_backward,
         .grad = log_sigmoid_backward_grad},
        {.name = "aten.logit.default",
         .doc = "log(x / (1 - x)): https://pytorch.org/docs/stable/special.html#torch.special.logit",
         .schema = "logit(Tensor self, float? eps=None) -> Tensor",
         .dtypes = kFloating,
         .decompose = logit,
         .grad = logit_grad},
        {.name = "aten.logit_backward.default",
         .doc = "the gradient of logit: https://pytorch.org/docs/stable/special.html#torch.special.logit",
         .schema = "logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
         .dtypes = kFloating,
         .decompose = logit_backward},
    };
    return ops;
}

}  // namespace whittle
