// Gradients of activations with parameters or corners, as LibTorch's autograd computes them, with its names. All are
// composites. At a corner a gradient is that of the branch that computes the value there, except that hardtanh and
// hardsigmoid are flat at their bounds.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

namespace whittle {
namespace {

using namespace aten;

CallResults decompose_leaky_relu_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    const double slope = c.number("negative_slope");
    if (c.boolean("self_is_result") && slope < 0)
        throw Error("leaky_relu_backward: found negative_slope=" + std::to_string(slope) +
                    " with self_is_result=true, expected at least 0");
    return where(gt(x, 0), grad, grad * slope);
}

/// Below 0 the slope of the curve: from its result, which is negative * (exp(x) - 1), or from x.
CallResults decompose_elu_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self_or_result");
    const double scale = c.number("scale"), input = c.number("input_scale"), negative = c.number("alpha") * scale;
    const bool is_result = c.boolean("is_result");
    if (is_result && c.number("alpha") < 0)
        throw Error("elu_backward: found alpha=" + std::to_string(c.number("alpha")) +
                    " with is_result=true, expected at least 0");
    const V falling = scaled(grad, input);
    const V below = is_result ? falling * (x + negative) : scaled(falling, negative) * exp(scaled(x, input));
    return where(gt(x, 0), scaled(grad, scale), below);
}

CallResults decompose_hardtanh_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    const V above = gt(x, c.scalar("min_val")), below = lt(x, c.scalar("max_val"));
    return keep(logical_and(above, below), grad);
}

CallResults decompose_hardsigmoid_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    return keep(logical_and(gt(x, -3), lt(x, 3)), grad / 6);
}

/// 0 below -3, 1 from 3 on, between them x / 3 + 1 / 2
CallResults decompose_hardswish_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    const V between = grad * (x / 3 + 0.5);
    const V from_below = where(ge(x, 3), grad, between);
    return masked_fill(from_below, lt(x, -3), 0);
}

/// z / (z + 1), z = exp(beta x); 1 above the threshold
CallResults decompose_softplus_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    const V steep = scaled(x, c.number("beta")), z = exp(steep);
    const V below = grad * z / (z + 1);
    return where(gt(steep, c.number("threshold")), grad, below);
}

/// s (1 + x (1 - s))
CallResults decompose_silu_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    const V s = sigmoid(x);
    return grad * s * (x * complement(s) + 1);
}

/// t + x s (1 - t^2), t = tanh(softplus(x))
CallResults decompose_mish_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    const V s = sigmoid(x), t = tanh(softplus(x));
    return grad * (t + x * s * complement(t * t));
}

}  // namespace

std::span<const OpDef> unary_backward_ops() {
    static const OpDef ops[] = {
        composite("leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> "
                  "Tensor",
                  "the gradient of leaky_relu: https://pytorch.org/docs/stable/generated/torch.nn.LeakyReLU.html",
                  kFloating, decompose_leaky_relu_backward),
        composite("elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
                  "Tensor self_or_result) -> Tensor",
                  "the gradient of elu, selu and celu: https://pytorch.org/docs/stable/generated/torch.nn.ELU.html",
                  kFloating, decompose_elu_backward),
        composite("hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
                  "the gradient where self is between the bounds, else 0: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.Hardtanh.html",
                  kFloating, decompose_hardtanh_backward),
        composite("hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
                  "a sixth of the gradient between -3 and 3: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.Hardsigmoid.html",
                  kFloating, decompose_hardsigmoid_backward),
        composite("hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
                  "the gradient of hardswish: https://pytorch.org/docs/stable/generated/torch.nn.Hardswish.html",
                  kFloating, decompose_hardswish_backward),
        composite("softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
                  "the gradient of softplus: https://pytorch.org/docs/stable/generated/torch.nn.Softplus.html",
                  kFloating, decompose_softplus_backward),
        composite("silu_backward(Tensor grad_output, Tensor self) -> Tensor",
                  "the gradient of silu: https://pytorch.org/docs/stable/generated/torch.nn.SiLU.html", kFloating,
                  decompose_silu_backward),
        composite("mish_backward(Tensor grad_output, Tensor self) -> Tensor",
                  "the gradient of mish: https://pytorch.org/docs/stable/generated/torch.nn.Mish.html", kFloating,
                  decompose_mish_backward),
    };
    return ops;
}

}  // namespace whittle
