// Gradients of functions of one operand.
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/aten/pointwise_grad.h"

namespace whittle {

namespace {

/// 1 / sqrt(1 - x^2)
NodeValue inverse_cosine_of_sine(const OfSelf& r) { return r.of("aten.rsqrt.default", r.complement(r.pow(r.x, 2))); }

NodeValue bell(const OfSelf& r) {
    const NodeValue curve = r.of("aten.exp.default", r.neg(r.pow(r.x, 2)));
    return r.mul(curve, Arg(2 / std::sqrt(std::numbers::pi)));
}

/// The slope of lgamma. Numbers up to 0 are reflected: psi(x) = psi(1 - x) - pi / tan(pi x); others are moved beyond
/// 10, psi(x) = psi(x + 1) - 1 / x, where the asymptotic series holds (Abramowitz and Stegun 6.3.5 to 6.3.18).
NodeValue digamma(const OfSelf& r) {
    const auto over = [&](const NodeValue& v) { return r.of("aten.reciprocal.default", v); };
    const auto where = [&](const NodeValue& condition, const NodeValue& yes, const NodeValue& no) {
        return r.call("aten.where.self", {arg(condition), arg(yes), arg(no)});
    };
    const NodeValue below = r.call("aten.le.Scalar", {arg(r.x), 0});
    const NodeValue x = where(below, r.complement(r.x), r.x);
    constexpr int kSteps = 10;
    NodeValue steps = over(x);
    for (int i = 1; i < kSteps; ++i) steps = r.add(steps, over(r.add(x, i)));
    const NodeValue far = r.add(x, kSteps), square = over(r.mul(far, far));
    NodeValue series = r.mul(square, Arg(1.0 / 12));  // -B(2k) / 2k, the last first
    constexpr double kTerms[] = {-691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
    for (const double term : kTerms) series = r.mul(r.add(series, Arg(term)), square);
    const NodeValue logarithm = r.sub(r.of("aten.log.default", far), r.mul(over(far), Arg(0.5)));
    const NodeValue psi = r.sub(r.sub(logarithm, series), steps);
    const NodeValue zero = r.call("aten.eq.Scalar", {arg(r.x), 0});  // whose sign decides
    const NodeValue part = where(zero, r.x, r.of("aten.frac.default", r.x));
    const NodeValue turned = r.of("aten.tan.default", r.mul(part, Arg(std::numbers::pi)));
    const NodeValue reflected = r.sub(psi, r.mul(over(turned), Arg(std::numbers::pi)));
    const NodeValue pole = r.call("aten.logical_and.default", {arg(r.call("aten.lt.Scalar", {arg(r.x), 0})),
                                                               arg(r.call("aten.eq.Scalar", {arg(part), 0}))});
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    return where(below, r.call("aten.masked_fill.Scalar", {arg(reflected), arg(pole), Arg(kNan)}), psi);
}

}  // namespace

void pass_gradient(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.g);
}
/// 0 at 0
void abs_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.of(is_complex(r.x.meta.dtype) ? "aten.sgn.default" : "aten.sign.default", r.x)));
}
void neg_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.neg(r.g));
}
void square_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.mul(r.x, Arg(2)))));
}
void exp_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.y)));
}
void exp2_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.mul(r.g, r.y), Arg(std::numbers::ln2)));
}
void expm1_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, r.add(r.y, 1)));
}
void log_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.div(r.g, arg(r.conj(r.x))));
}
void log1p_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.add(r.x, 1))));
}
void log2_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.div(r.g, arg(r.mul(r.x, Arg(std::numbers::ln2)))));
}
void log10_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.div(r.g, arg(r.conj(r.mul(r.x, Arg(std::numbers::ln10))))));
}
void sqrt_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.div(r.g, arg(r.conj(r.mul(r.y, Arg(2))))));
}
void rsqrt_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.mul(r.g, Arg(-0.5)), r.conj(r.pow(r.y, 3))));
}
void reciprocal_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.neg(r.g), r.conj(r.mul(r.y, r.y))));
}
void sin_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.of("aten.cos.default", r.x))));
}
void cos_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.neg(r.of("aten.sin.default", r.x)))));
}
void tan_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.add(r.pow(r.y, 2), 1))));
}
void asin_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(inverse_cosine_of_sine(r))));
}
void acos_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.neg(inverse_cosine_of_sine(r)))));
}
void atan_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.div(r.g, arg(r.conj(r.add(r.pow(r.x, 2), 1)))));
}
void sinh_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.of("aten.cosh.default", r.x))));
}
void cosh_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.of("aten.sinh.default", r.x))));
}
void tanh_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    if (is_complex(r.x.meta.dtype)) return r.set(r.mul(r.g, r.conj(r.complement(r.mul(r.y, r.y)))));
    r.set(r.call("aten.tanh_backward.default", {arg(r.g), arg(r.y)}));
}
void asinh_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.mul(r.g, r.conj(r.of("aten.rsqrt.default", r.add(r.pow(r.x, 2), 1)))));
}
void acosh_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    if (is_complex(r.x.meta.dtype)) {  // by both factors: the root of their product may have the other sign
        const auto root = [&](int by) { return r.of("aten.rsqrt.default", r.add(r.x, by)); };
        return r.set(r.mul(r.g, r.conj(r.mul(root(-1), root(1)))));
    }
    r.set(r.mul(r.g, r.of("aten.rsqrt.default", r.add(r.pow(r.x, 2), -1))));
}
void atanh_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.div(r.g, arg(r.conj(r.complement(r.pow(r.x, 2))))));
}
void erf_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.mul(bell(r), r.g));
}
void erfc_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.neg(bell(r)), r.g));
}

void lgamma_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.mul(r.g, digamma(r)));
}

}  // namespace whittle
