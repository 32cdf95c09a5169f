// Gradients of activations with parameters or corners, as LibTorch's autograd computes them, with its names. All are
// composites. At a corner a gradient is that of the branch that computes the value there, except that hardtanh and
// hardsigmoid are flat at their bounds.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml

#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"

namespace whittle {
namespace {

/// A gradient and the operand that its function was called with, or what that gave.
struct OfValue : Gradient {
    OfValue(GraphBuilder& builder, const Arguments<NodeValue>& a, std::string_view value = "self")
        : Gradient(builder), grad(a.tensor("grad_output")), x(a.tensor(value)) {}

    using Gradient::when;
    NodeValue when(const std::string& comparison, const Arg& bound) const { return when(comparison, x, bound); }
    NodeValue both(const NodeValue& a, const NodeValue& b) const {
        return call("aten.logical_and.default", {arg(a), arg(b)});
    }
    /// By a number, which may be 1.
    NodeValue scaled(const NodeValue& value, double by) const { return by == 1 ? value : mul(value, Arg(by)); }

    NodeValue grad, x;
};

Refs leaky_relu_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a);
    const double slope = a.number("negative_slope");
    if (a.boolean("self_is_result") && slope < 0)
        throw Error("leaky_relu_backward: found negative_slope=" + std::to_string(slope) +
                    " with self_is_result=true, expected at least 0");
    return {g.either(g.when("gt", 0), g.grad, g.mul(g.grad, Arg(slope))).ref};
}

/// Below 0 the slope of the curve: from its result, which is negative * (exp(x) - 1), or from x.
Refs elu_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a, "self_or_result");
    const double scale = a.number("scale"), input = a.number("input_scale"), negative = a.number("alpha") * scale;
    const bool is_result = a.boolean("is_result");
    if (is_result && a.number("alpha") < 0)
        throw Error("elu_backward: found alpha=" + std::to_string(a.number("alpha")) +
                    " with is_result=true, expected at least 0");
    const NodeValue falling = g.scaled(g.grad, input);
    const NodeValue below = is_result
                                ? g.mul(falling, g.add(g.x, Arg(negative)))
                                : g.mul(g.scaled(falling, negative), g.of("aten.exp.default", g.scaled(g.x, input)));
    return {g.either(g.when("gt", 0), g.scaled(g.grad, scale), below).ref};
}

Refs hardtanh_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a);
    const NodeValue above = g.when("gt", Arg(a.scalar("min_val"))), below = g.when("lt", Arg(a.scalar("max_val")));
    return {g.keep(g.both(above, below), g.grad).ref};
}

Refs hardsigmoid_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a);
    return {g.keep(g.both(g.when("gt", -3), g.when("lt", 3)), g.div(g.grad, Arg(6))).ref};
}

/// 0 below -3, 1 from 3 on, between them x / 3 + 1 / 2
Refs hardswish_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a);
    const NodeValue between = g.mul(g.grad, g.add(g.div(g.x, Arg(3)), Arg(0.5)));
    const NodeValue from_below = g.either(g.when("ge", 3), g.grad, between);
    return {g.call("aten.masked_fill.Scalar", {arg(from_below), arg(g.when("lt", -3)), 0}).ref};
}

/// z / (z + 1), z = exp(beta x); 1 above the threshold
Refs softplus_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a);
    const NodeValue scaled = g.scaled(g.x, a.number("beta")), z = g.of("aten.exp.default", scaled);
    const NodeValue below = g.div(g.mul(g.grad, z), arg(g.add(z, 1)));
    return {g.either(g.when("gt", scaled, Arg(a.number("threshold"))), g.grad, below).ref};
}

/// s (1 + x (1 - s))
Refs silu_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a);
    const NodeValue s = g.of("aten.sigmoid.default", g.x);
    return {g.mul(g.mul(g.grad, s), g.add(g.mul(g.x, g.complement(s)), 1)).ref};
}

/// t + x s (1 - t^2), t = tanh(softplus(x))
Refs mish_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const OfValue g(b, a);
    const NodeValue s = g.of("aten.sigmoid.default", g.x),
                    t = g.of("aten.tanh.default", g.of("aten.softplus.default", g.x));
    return {g.mul(g.grad, g.add(t, g.mul(g.mul(g.x, s), g.complement(g.mul(t, t))))).ref};
}

}  // namespace

std::span<const OpDef> unary_backward_ops() {
    static const OpDef ops[] = {
        {.name = "aten.leaky_relu_backward.default",
         .doc = "the gradient of leaky_relu: https://pytorch.org/docs/stable/generated/torch.nn.LeakyReLU.html",
         .schema = "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) "
                   "-> Tensor",
         .dtypes = kFloating,
         .decompose = leaky_relu_backward},
        {.name = "aten.elu_backward.default",
         .doc = "the gradient of elu, selu and celu: https://pytorch.org/docs/stable/generated/torch.nn.ELU.html",
         .schema = "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
                   "Tensor self_or_result) -> Tensor",
         .dtypes = kFloating,
         .decompose = elu_backward},
        {.name = "aten.hardtanh_backward.default",
         .doc = "the gradient between the bounds: https://pytorch.org/docs/stable/generated/torch.nn.Hardtanh.html",
         .schema = "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
         .dtypes = kFloating,
         .decompose = hardtanh_backward},
        {.name = "aten.hardsigmoid_backward.default",
         .doc = "a sixth of the gradient between -3 and 3: "
                "https://pytorch.org/docs/stable/generated/torch.nn.Hardsigmoid.html",
         .schema = "hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
         .dtypes = kFloating,
         .decompose = hardsigmoid_backward},
        {.name = "aten.hardswish_backward.default",
         .doc = "the gradient of hardswish: https://pytorch.org/docs/stable/generated/torch.nn.Hardswish.html",
         .schema = "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
         .dtypes = kFloating,
         .decompose = hardswish_backward},
        {.name = "aten.softplus_backward.default",
         .doc = "the gradient of softplus: https://pytorch.org/docs/stable/generated/torch.nn.Softplus.html",
         .schema = "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
         .dtypes = kFloating,
         .decompose = softplus_backward},
        {.name = "aten.silu_backward.default",
         .doc = "the gradient of silu: https://pytorch.org/docs/stable/generated/torch.nn.SiLU.html",
         .schema = "silu_backward(Tensor grad_output, Tensor self) -> Tensor",
         .dtypes = kFloating,
         .decompose = silu_backward},
        {.name = "aten.mish_backward.default",
         .doc = "the gradient of mish: https://pytorch.org/docs/stable/generated/torch.nn.Mish.html",
         .schema = "mish_backward(Tensor grad_output, Tensor self) -> Tensor",
         .dtypes = kFloating,
         .decompose = mish_backward},
    };
    return ops;
}

}  // namespace whittle
