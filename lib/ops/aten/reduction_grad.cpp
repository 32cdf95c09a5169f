// Gradients of reductions: a result's gradient goes to each element that it was made of.
#include "ops/aten/reduction_grad.h"

#include <cmath>
#include <limits>

#include "ops/core/reduce.h"

namespace whittle {

namespace {

/// A rule of a reduction of "self" by the parameters "dim" and "keepdim", as far as the op has them.
struct OfReduction : OfSelf {
    OfReduction(GraphBuilder& builder, CallGradients& call) : OfSelf(builder, call), plan(reduction_of(call.args())) {
        for (std::size_t d = 0; d < plan.reduced.size(); ++d)
            if (plan.reduced[d]) dims.push_back(static_cast<std::int64_t>(d));
    }
    /// With size 1 where dimensions went.
    NodeValue kept(NodeValue result) const {
        if (plan.keepdim) return result;
        for (const std::int64_t dim : dims) result = call("aten.unsqueeze.default", {arg(result), dim});
        return result;
    }
    NodeValue expanded(const NodeValue& result) const {
        const NodeValue value = kept(result);
        return value.meta.sizes == x.meta.sizes ? value
                                                : call("aten.expand.default", {arg(value), Arg::ints(x.meta.sizes)});
    }
    double count() const { return static_cast<double>(plan.count()); }
    /// Shared by the elements for which the mask holds.
    NodeValue shared(const NodeValue& mask) const {
        const NodeValue each = div(kept(g), arg(sum(mask, dims, true)));
        return mul(each, mask);
    }
    NodeValue sign() const { return of("aten.sign.default", x); }
    NodeValue magnitude() const { return of("aten.abs.default", x); }
    /// Where the mask holds, and where the operand is NaN, as the extreme then is.
    NodeValue or_nan(const NodeValue& mask) const {
        return call("aten.logical_or.default", {arg(mask), arg(of("aten.isnan.default", x))});
    }
    NodeValue is_zero(const NodeValue& value) const { return call("aten.eq.Scalar", {arg(value), 0}); }

    Reduction plan;
    Ints dims;
};

/// 2 (x - mean) / (n - correction), of the gradient of a variance.
NodeValue of_variance(const OfReduction& r, CallGradients& c, const NodeValue& grad) {
    double correction = 1;
    if (c.args().schema().param("unbiased"))
        correction = c.args().boolean("unbiased") ? 1 : 0;
    else if (c.args().has("correction"))
        correction = c.args().number("correction");
    // LibTorch's answer to a variance of everything that divides by nothing.
    const bool whole = r.x.meta.sizes.empty() || !c.args().schema().param("dim") || !c.args().has("dim");
    if (whole && r.count() == correction) return r.expanded(r.mul(grad, Arg(std::numeric_limits<double>::infinity())));
    const NodeValue mean = r.call("aten.mean.dim", {arg(r.x), Arg::ints(r.dims), true});
    return r.mul(r.mul(r.kept(grad), Arg(2 / (r.count() - correction))), r.sub(r.x, mean));
}
/// Of result 0, and of result 1, the mean.
NodeValue with_mean(const OfReduction& r, CallGradients& c, NodeValue gradient) {
    if (c.result_count() < 2 || !c.grad_if_any(1)) return gradient;
    const NodeValue mean = r.div(r.expanded(*c.grad_if_any(1)), Arg(r.count()));
    return r.add(gradient, mean);
}

/// Slopes x |x|^(p - 2) / norm^(p - 1), with nothing where they are not defined.
NodeValue of_power_norm(const OfReduction& r, double p, const NodeValue& grad, const NodeValue& norm) {
    if (p < 1) {
        const NodeValue power = r.drop(r.is_zero(r.x), r.pow(r.magnitude(), Arg(p - 1)));
        return r.mul(r.mul(r.mul(r.sign(), power), grad), r.pow(norm, Arg(1 - p)));
    }
    const NodeValue scale = r.drop(r.is_zero(norm), r.div(grad, arg(r.pow(norm, Arg(p - 1)))));
    const NodeValue scaled =
        p < 2 ? r.mul(r.sign(), r.pow(r.magnitude(), Arg(p - 1))) : r.mul(r.x, r.pow(r.magnitude(), Arg(p - 2)));
    return r.mul(scaled, scale);
}

}  // namespace

void sum_grad(GraphBuilder& b, CallGradients& c) {
    const OfComplex<OfReduction> r(b, c);
    r.set(r.expanded(r.g));
}
void mean_grad(GraphBuilder& b, CallGradients& c) {
    const OfComplex<OfReduction> r(b, c);
    r.set(r.div(r.expanded(r.g), Arg(r.count())));
}
/// The product of the other elements, from both ends: right where elements are zero, too.
void prod_grad(GraphBuilder& b, CallGradients& c) {
    const OfComplex<OfReduction> r(b, c);
    const bool whole = !c.args().schema().param("dim");
    // What "dtype" takes of complex numbers, their real parts, is multiplied.
    const bool parts = is_complex(r.x.meta.dtype) && !is_complex(r.y.meta.dtype);
    const NodeValue factors = parts ? b.convert(r.x, r.y.meta.dtype) : r.x;
    const NodeValue x = whole ? r.reshape(factors, {r.x.meta.numel()}) : factors;
    const NodeValue grad = whole ? r.g : r.kept(r.g);
    if (x.meta.sizes.empty() || x.meta.numel() == 0) return r.set(r.expanded(r.g));
    const std::int64_t dim = whole ? 0 : r.dims.at(0), size = x.meta.sizes[static_cast<std::size_t>(dim)];
    Sizes edge = x.meta.sizes;
    edge[static_cast<std::size_t>(dim)] = 1;
    const NodeValue one = b.call("aten.ones.default", {Arg::ints(edge)}, {{"dtype", x.meta.dtype}});
    const auto reversed = [&](const NodeValue& v) { return r.call("aten.flip.default", {arg(v), Arg::ints({dim})}); };
    const auto before = [&](const NodeValue& v) {
        const NodeValue shifted = r.call("aten.cat.default", {args_list({one, r.slice(v, dim, 0, size - 1)}), dim});
        return r.call("aten.cumprod.default", {arg(shifted), dim});
    };
    const NodeValue others = r.mul(before(x), reversed(before(reversed(x))));
    r.set(r.reshape(r.mul(grad, r.conj(others)), r.x.meta.sizes));
}
void extremum_value_grad(GraphBuilder& b, CallGradients& c) {
    const OfReduction r(b, c);
    const NodeValue mask = r.call("aten.eq.Tensor", {arg(r.kept(r.y)), arg(r.x)});
    r.set(r.shared(c.args().schema().param("dim") ? mask : r.or_nan(mask)));
}
void variance_grad(GraphBuilder& b, CallGradients& c) {
    const OfReduction r(b, c);
    r.set(with_mean(r, c, of_variance(r, c, r.g)));
}
/// No slope where all elements are equal.
void deviation_grad(GraphBuilder& b, CallGradients& c) {
    const OfReduction r(b, c);
    const NodeValue slope = r.drop(r.is_zero(r.y), r.div(r.g, arg(r.mul(r.y, Arg(2)))));
    r.set(with_mean(r, c, of_variance(r, c, slope)));
}
void logsumexp_grad(GraphBuilder& b, CallGradients& c) {
    const OfReduction r(b, c);
    const NodeValue shares = r.of("aten.exp.default", r.sub(r.x, r.kept(r.y)));
    r.set(r.mul(r.kept(r.g), shares));
}
void vector_norm_grad(GraphBuilder& b, CallGradients& c) {
    const OfReduction r(b, c);
    const double p = c.args().scalar("ord").to_double();
    const NodeValue grad = r.kept(r.g), norm = r.kept(r.y);
    if (p == 0) return r.set(r.zeros_like(r.x));
    if (p == 1) return r.set(r.mul(r.sign(), grad));
    if (p == 2) return r.set(r.mul(grad, r.drop(r.is_zero(norm), r.div(r.x, arg(norm)))));
    if (!std::isinf(p)) return r.set(of_power_norm(r, p, grad, norm));
    const NodeValue extreme = r.call("aten.eq.Tensor", {arg(r.magnitude()), arg(norm)});
    r.set(r.mul(r.sign(), r.shared(r.or_nan(extreme))));
}
void softmax_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten._softmax_backward_data.default",
                 {arg(r.g), arg(r.y), c.args().integer("dim"), Arg(r.x.meta.dtype)}));
}
void log_softmax_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten._log_softmax_backward_data.default",
                 {arg(r.g), arg(r.y), c.args().integer("dim"), Arg(r.x.meta.dtype)}));
}

}  // namespace whittle
