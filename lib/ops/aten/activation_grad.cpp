// Gradients of activation functions: calls of the backward ops that LibTorch's autograd calls.
#include "ops/aten/pointwise_grad.h"

namespace whittle {

namespace {}  // namespace

/// 0 at 0
void relu_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.threshold_backward.default", {arg(r.g), arg(r.y), 0}));
}
void sigmoid_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.sigmoid_backward.default", {arg(r.g), arg(r.y)}));
}
void log_sigmoid_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.of("aten.sigmoid.default", r.neg(r.x))));
}
void silu_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.silu_backward.default", {arg(r.g), arg(r.x)}));
}
void mish_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.mish_backward.default", {arg(r.g), arg(r.x)}));
}
void hardswish_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.hardswish_backward.default", {arg(r.g), arg(r.x)}));
}
void hardsigmoid_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.hardsigmoid_backward.default", {arg(r.g), arg(r.x)}));
}
void gelu_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(b.call("aten.gelu_backward.default", {arg(r.g), arg(r.x)}, {{"approximate", c.args().text("approximate")}}));
}
void elu_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.elu_backward.default", {arg(r.g), Arg(c.args().scalar("alpha")), Arg(c.args().scalar("scale")),
                                               Arg(c.args().scalar("input_scale")), false, arg(r.x)}));
}
void leaky_relu_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.leaky_relu_backward.default",
                 {arg(r.g), arg(r.x), Arg(c.args().scalar("negative_slope")), false}));
}
void softplus_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.softplus_backward.default",
                 {arg(r.g), arg(r.x), Arg(c.args().scalar("beta")), Arg(c.args().scalar("threshold"))}));
}
void hardtanh_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.hardtanh_backward.default",
                 {arg(r.g), arg(r.x), Arg(c.args().scalar("min_val")), Arg(c.args().scalar("max_val"))}));
}

}  // namespace whittle
