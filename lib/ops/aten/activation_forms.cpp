// Activations that are compositions of comparisons, selections and other activations, and their gradients, with
// LibTorch's names. Definitions: https://pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions and
// https://github.com/pytorch/pytorch/blob/v1.13.1/aten/src/ATen/native/cpu/Activation.cpp for corners and NaN.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "tensor/shape.h"

namespace whittle {
namespace {

using namespace aten;

// --- prelu ---

/// The weight under the sizes by which it broadcasts: one for all, or one per channel, dimension 1.
V prelu_weight(const V& x, const V& weight) {
    const Sizes& sizes = x.sizes();
    const std::int64_t channels = sizes.size() > 1 ? sizes[1] : 1, count = weight.numel();
    if (weight.sizes().size() > 1 || (count != 1 && count != channels))
        throw Error("prelu: found a weight of sizes " + to_string(weight.sizes()) + " for an operand of sizes " +
                    to_string(sizes) + ", expected a weight of sizes [] or [1], or [" + std::to_string(channels) +
                    "], one element for each channel");
    Sizes wide(std::max<std::size_t>(sizes.size(), 1), 1);
    if (count != 1) wide[1] = count;
    return reshaped(weight, wide);
}

CallResults decompose_prelu(const Call& c) {
    const V x = c.tensor("self"), weight = prelu_weight(x, c.tensor("weight"));
    return reshaped(where(gt(x, 0), x, weight * x), x.sizes());
}

CallResults decompose_prelu_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self"), weight = c.tensor("weight");
    const V wide = prelu_weight(x, weight), positive = gt(x, 0);
    const V below = drop(positive, x * grad);
    return {reshaped(where(positive, grad, wide * grad), x.sizes()),
            reshaped(sum_to_size(below, wide.sizes()), weight.sizes())};
}

/// prelu whose weight broadcasts as it is; its gradient does not add up.
CallResults decompose_prelu_kernel(const Call& c) {
    const V x = c.tensor("self");
    return where(gt(x, 0), x, c.tensor("weight") * x);
}
CallResults decompose_prelu_kernel_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self"), positive = gt(x, 0);
    return {where(positive, grad, c.tensor("weight") * grad), drop(positive, x * grad)};
}

// --- glu ---

/// The dimension's two halves.
std::pair<V, V> halves(const V& x, std::int64_t dim) {
    const Sizes& sizes = x.sizes();
    if (sizes.empty()) throw Error("glu: found a 0-d operand, expected at least 1 dimension");
    dim = wrap_dim(dim, sizes);
    const std::int64_t size = sizes[static_cast<std::size_t>(dim)];
    if (size % 2 != 0)
        throw Error("glu: found size " + std::to_string(size) + " in dimension " + std::to_string(dim) +
                    ", expected an even size");
    return {sliced(x, dim, 0, size / 2), sliced(x, dim, size / 2, size)};
}

CallResults decompose_glu(const Call& c) {
    const auto [value, gate] = halves(c.tensor("self"), c.integer("dim"));
    return value * sigmoid(gate);
}

CallResults decompose_glu_backward(const Call& c) {
    const auto [value, gate] = halves(c.tensor("self"), c.integer("dim"));
    const V s = sigmoid(gate), of_value = s * c.tensor("grad_output");
    const V of_gate = complement(s) * of_value * value;
    return cat(Vs{of_value, of_gate}, c.integer("dim"));
}

// --- Shrinking and thresholds ---

/// 0 from -lambd to lambd.
CallResults decompose_hardshrink(const Call& c) {
    const V x = c.tensor("self");
    const double bound = c.number("lambd");
    const V above = ge(x, -bound), below = le(x, bound);
    return drop(logical_and(above, below), x);
}
/// The gradient outside of the bounds: of a NaN it is 0.
V outside(const Call& c, const V& gradient) {
    const V x = c.tensor("self");
    const double bound = c.number("lambd");
    return keep(logical_or(lt(x, -bound), gt(x, bound)), gradient);
}
CallResults decompose_hardshrink_backward(const Call& c) { return outside(c, c.tensor("grad_out")); }
void hardshrink_grad(Gradients& c) {
    c.set("self", aten::hardshrink_backward(c.grad(), c.tensor("self"), c.scalar("lambd")));
}

/// Nearer to 0 by lambd, no further than 0, which NaN becomes, too.
CallResults decompose_softshrink(const Call& c) {
    const V x = c.tensor("self");
    const double bound = c.number("lambd");
    if (!(bound >= 0)) throw Error("softshrink: found lambd=" + std::to_string(bound) + ", expected at least 0");
    const V below = keep(lt(x, -bound), x + bound);
    return where(gt(x, bound), x + -bound, below);
}
CallResults decompose_softshrink_backward(const Call& c) { return outside(c, c.tensor("grad_output")); }

/// A number in the place of what is not above the threshold.
CallResults decompose_threshold(const Call& c) {
    const V x = c.tensor("self");
    const V low = le(x, c.scalar("threshold"));
    return masked_fill(x, low, c.scalar("value"));
}

// --- log_sigmoid as autograd calls it: with a buffer, exp(-|x|) ---

CallResults decompose_log_sigmoid_forward(const Call& c) {
    const V x = c.tensor("self");
    const V buffer = exp(-abs(x));
    return {log_sigmoid(x), buffer};
}
/// 1 - z / (1 + z) below 0, z / (1 + z) from there on.
CallResults decompose_log_sigmoid_backward(const Call& c) {
    const V z = c.tensor("buffer"), share = z / (z + 1);
    const V slope = where(lt(c.tensor("self"), 0), complement(share), share);
    return slope * c.tensor("grad_output");
}

/// Of the operand the slope's own, (s - 1) s with s = sigmoid(x): what the buffer holds follows from it.
void log_sigmoid_backward_grad(Gradients& c) {
    const V x = c.tensor("self");
    if (c.needed("grad_output")) c.set("grad_output", aten::log_sigmoid_backward(c.grad(), x, c.tensor("buffer")));
    if (!c.needed("self")) return;
    const V s = sigmoid(x);
    c.set("self", c.grad() * c.tensor("grad_output") * ((s + -1) * s));
}

// --- logit ---

/// log(x / (1 - x)) of x, or of x clamped to eps … 1 - eps.
CallResults decompose_logit(const Call& c) {
    V x = c.tensor("self");
    if (const std::optional<double> eps = c.optional_number("eps"); eps && *eps >= 0) x = clamp(x, *eps, 1 - *eps);
    return log(x / complement(x));
}

V logit_grad(const OfSelf& r) { return aten::logit_backward(r.g, r.x, r.call.optional_number("eps")); }

/// grad / (x (1 - x)); beyond what logit takes 0 where it clamps, else NaN.
CallResults decompose_logit_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    const double eps = c.optional_number("eps").value_or(-1), low = eps < 0 ? 0 : eps, high = eps < 0 ? 1 : 1 - eps;
    const V outside = logical_or(lt(x, low), gt(x, high));
    const auto filled = [&](const V& values, double with) { return masked_fill(values, outside, with); };
    V divisor = x * complement(x);
    if (eps >= 0) divisor = filled(divisor, 1);  // not 0, whose quotient has no gradient even where it is left out
    return filled(grad / divisor, eps < 0 ? std::nan("") : 0);
}

}  // namespace

std::span<const OpDef> activation_form_ops() {
    static const OpDef ops[] = {
        composite(
            "prelu(Tensor self, Tensor weight) -> Tensor",
            "x, but a learned multiple of x below 0: https://pytorch.org/docs/stable/generated/torch.nn.PReLU.html",
            kFloating, decompose_prelu),
        composite("_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
                  "x, below 0 multiplied by weight: https://pytorch.org/docs/stable/generated/torch.nn.PReLU.html",
                  kFloating, decompose_prelu_kernel),
        composite("_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
                  "the gradients of _prelu_kernel: https://pytorch.org/docs/stable/generated/torch.nn.PReLU.html",
                  kFloating, decompose_prelu_kernel_backward),
        composite("prelu_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
                  "the gradients of prelu: https://pytorch.org/docs/stable/generated/torch.nn.PReLU.html", kFloating,
                  decompose_prelu_backward),
        composite("glu(Tensor self, int dim=-1) -> Tensor",
                  "the first half times the sigmoid of the second: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.GLU.html",
                  kFloating, decompose_glu),
        composite("glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
                  "the gradient of glu: https://pytorch.org/docs/stable/generated/torch.nn.GLU.html", kFloating,
                  decompose_glu_backward),
        composite("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
                  "x, but 0 where |x| <= lambd: https://pytorch.org/docs/stable/generated/torch.nn.Hardshrink.html",
                  kFloating, decompose_hardshrink, hardshrink_grad),
        composite("hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
                  "the gradient, but 0 where the result is 0: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.Hardshrink.html",
                  kFloating, decompose_hardshrink_backward),
        composite("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
                  "x moved toward 0 by lambd: https://pytorch.org/docs/stable/generated/torch.nn.Softshrink.html",
                  kFloating, decompose_softshrink),
        composite("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
                  "the gradient, but 0 where the result is 0: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.Softshrink.html",
                  kFloating, decompose_softshrink_backward),
        composite("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
                  "x where x is above the threshold, else a number: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.Threshold.html",
                  kNumbers, decompose_threshold),
        composite("log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
                  "log_sigmoid, and exp(-|x|) for its gradient: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.LogSigmoid.html",
                  kFloating, decompose_log_sigmoid_forward),
        composite("log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
                  "the gradient of log_sigmoid: https://pytorch.org/docs/stable/generated/torch.nn.LogSigmoid.html",
                  kFloating, decompose_log_sigmoid_backward, log_sigmoid_backward_grad),
        composite("logit(Tensor self, float? eps=None) -> Tensor",
                  "log(x / (1 - x)): https://pytorch.org/docs/stable/special.html#torch.special.logit", kFloating,
                  decompose_logit, logit_grad),
        composite("logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
                  "the gradient of logit: https://pytorch.org/docs/stable/special.html#torch.special.logit", kFloating,
                  decompose_logit_backward),
    };
    return ops;
}

}  // namespace whittle
