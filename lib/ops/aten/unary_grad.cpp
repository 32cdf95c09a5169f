// Gradients of functions of one operand.
#include <cmath>
#include <numbers>

#include "ops/aten/pointwise_grad.h"

namespace whittle {

namespace {

using B = GraphBuilder;
using C = CallGradients;

/// 1 / sqrt(1 - x^2)
NodeValue inverse_cosine_of_sine(const OfSelf& r) { return r.of("aten.rsqrt.default", r.complement(r.pow(r.x, 2))); }

NodeValue bell(const OfSelf& r) {
    const NodeValue curve = r.of("aten.exp.default", r.neg(r.pow(r.x, 2)));
    return r.mul(curve, Arg(2 / std::sqrt(std::numbers::pi)));
}

}  // namespace

void pass_gradient(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.g);
}
/// 0 at 0
void abs_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.of("aten.sign.default", r.x)));
}
void neg_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.neg(r.g));
}
void square_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.mul(r.x, Arg(2))));
}
void exp_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.y));
}
void exp2_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.mul(r.g, r.y), Arg(std::numbers::ln2)));
}
void expm1_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.add(r.y, 1)));
}
void log_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.x)));
}
void log1p_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.add(r.x, 1))));
}
void log2_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.mul(r.x, Arg(std::numbers::ln2)))));
}
void log10_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.mul(r.x, Arg(std::numbers::ln10)))));
}
void sqrt_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.mul(r.y, Arg(2)))));
}
void rsqrt_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.mul(r.g, Arg(-0.5)), r.pow(r.y, 3)));
}
void reciprocal_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.neg(r.g), r.mul(r.y, r.y)));
}
void sin_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.of("aten.cos.default", r.x)));
}
void cos_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.neg(r.of("aten.sin.default", r.x))));
}
void tan_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.add(r.pow(r.y, 2), 1)));
}
void asin_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, inverse_cosine_of_sine(r)));
}
void acos_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.neg(inverse_cosine_of_sine(r))));
}
void atan_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.add(r.pow(r.x, 2), 1))));
}
void sinh_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.of("aten.cosh.default", r.x)));
}
void cosh_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.of("aten.sinh.default", r.x)));
}
void tanh_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.tanh_backward.default", {arg(r.g), arg(r.y)}));
}
void asinh_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.of("aten.rsqrt.default", r.add(r.pow(r.x, 2), 1))));
}
void acosh_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.of("aten.rsqrt.default", r.add(r.pow(r.x, 2), -1))));
}
void atanh_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.complement(r.pow(r.x, 2)))));
}
void erf_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(bell(r), r.g));
}
void erfc_grad(B& b, C& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.neg(bell(r)), r.g));
}

}  // namespace whittle
