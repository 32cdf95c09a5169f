// Gradients of activation functions. Where they have corners, a gradient is that of the branch that computes the value
// there, except that hardtanh and hardsigmoid are flat at their bounds.
#include "ops/aten/pointwise_grad.h"

namespace whittle {

namespace {

using B = GraphBuilder;
using C = CallGradients;

NodeValue sigmoid_of(const OfSelf& r, const NodeValue& x) { return r.of("aten.sigmoid.default", x); }
/// A condition on x, x <= 0 as ("le", 0).
NodeValue when(const OfSelf& r, const std::string& comparison, const NodeValue& x, const Arg& bound) {
    return r.call("aten." + comparison + ".Scalar", {arg(x), bound});
}
NodeValue either(const OfSelf& r, const NodeValue& condition, const NodeValue& yes, const NodeValue& no) {
    return r.call("aten.where.self", {arg(condition), arg(yes), arg(no)});
}

}  // namespace

/// 0 at 0
void relu_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.threshold_backward.default", {arg(r.g), arg(r.y), 0}));
}
void sigmoid_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.sigmoid_backward.default", {arg(r.g), arg(r.y)}));
}
void log_sigmoid_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, sigmoid_of(r, r.neg(r.x))));
}
/// s (1 + x (1 - s))
void silu_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const NodeValue s = sigmoid_of(r, r.x);
    r.set(r.mul(r.mul(r.g, s), r.add(r.mul(r.x, r.complement(s)), 1)));
}
/// t + x s (1 - t^2), t = tanh(softplus(x))
void mish_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const NodeValue s = sigmoid_of(r, r.x), t = r.of("aten.tanh.default", r.of("aten.softplus.default", r.x));
    r.set(r.mul(r.g, r.add(t, r.mul(r.mul(r.x, s), r.complement(r.mul(t, t))))));
}
/// 0 below -3, 1 from 3 on, between them x / 3 + 1 / 2
void hardswish_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const NodeValue between = r.mul(r.g, r.add(r.div(r.x, Arg(3)), Arg(0.5)));
    const NodeValue lower = either(r, when(r, "ge", r.x, 3), r.g, between);
    r.set(r.drop(when(r, "lt", r.x, -3), lower));
}
void hardsigmoid_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const NodeValue inside =
        r.call("aten.logical_and.default", {arg(when(r, "gt", r.x, -3)), arg(when(r, "lt", r.x, 3))});
    r.set(r.keep(inside, r.div(r.g, Arg(6))));
}
void gelu_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(b.call("aten.gelu_backward.default", {arg(r.g), arg(r.x)}, {{"approximate", c.args().text("approximate")}}));
}
void elu_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const double scale = c.args().number("scale"), input = c.args().number("input_scale");
    const double below = c.args().number("alpha") * scale * input;
    const NodeValue curve = r.of("aten.exp.default", r.scaled(r.x, Scalar(input)));
    r.set(either(r, when(r, "gt", r.x, 0), r.scaled(r.g, Scalar(scale)), r.mul(r.scaled(r.g, Scalar(below)), curve)));
}
void leaky_relu_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const NodeValue below = r.mul(r.g, Arg(c.args().number("negative_slope")));
    r.set(either(r, when(r, "gt", r.x, 0), r.g, below));
}
/// z / (z + 1), z = exp(beta x); 1 above the threshold
void softplus_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const NodeValue scaled = r.scaled(r.x, Scalar(c.args().number("beta")));
    const NodeValue z = r.of("aten.exp.default", scaled);
    const NodeValue below = r.div(r.mul(r.g, z), arg(r.add(z, 1)));
    r.set(either(r, when(r, "gt", scaled, Arg(c.args().number("threshold"))), r.g, below));
}
void hardtanh_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const NodeValue above = when(r, "gt", r.x, Arg(c.args().scalar("min_val")));
    const NodeValue below = when(r, "lt", r.x, Arg(c.args().scalar("max_val")));
    r.set(r.keep(r.call("aten.logical_and.default", {arg(above), arg(below)}), r.g));
}

}  // namespace whittle
