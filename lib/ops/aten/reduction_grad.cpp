// Gradients of reductions: a result's gradient goes to each element that it was made of.
#include "ops/aten/reduction_grad.h"
#include "ops/aten/formulas.h"

#include <cmath>
#include <limits>

#include "ops/core/reduce.h"

namespace whittle {

namespace {

using namespace aten;

/// A rule of a reduction of "self" by the parameters "dim" and "keepdim", as far as the op has them.
struct OfReduction : OfSelf {
    explicit OfReduction(const OfSelf& of) : OfSelf(of), plan(reduction_of(call)) {
        for (std::size_t d = 0; d < plan.reduced.size(); ++d)
            if (plan.reduced[d]) dims.push_back(static_cast<std::int64_t>(d));
    }
    explicit OfReduction(const Gradients& call) : OfReduction(of_self(call)) {}

    /// With size 1 where dimensions went.
    V kept(V result) const {
        if (plan.keepdim) return result;
        for (const std::int64_t dim : dims) result = unsqueeze(result, dim);
        return result;
    }
    V expanded(const V& result) const {
        const V value = kept(result);
        return value.sizes() == x.sizes() ? value : expand(value, x.sizes());
    }
    double count() const { return static_cast<double>(plan.count()); }
    /// Shared by the elements for which the mask holds.
    V shared(const V& mask) const { return kept(g) / summed(mask, dims, true) * mask; }
    /// Where the mask holds, and where the operand is NaN, as the extreme then is.
    V or_nan(const V& mask) const { return logical_or(mask, isnan(x)); }

    Reduction plan;
    Ints dims;
};

/// 2 (x - mean) / (n - correction), of the gradient of a variance.
V of_variance(const OfReduction& r, const V& grad) {
    double correction = 1;
    if (r.call.schema().param("unbiased"))
        correction = r.call.boolean("unbiased") ? 1 : 0;
    else if (r.call.has("correction"))
        correction = r.call.number("correction");
    // LibTorch's answer to a variance of everything that divides by nothing.
    const bool whole = r.x.sizes().empty() || !r.call.schema().param("dim") || !r.call.has("dim");
    if (whole && r.count() == correction) return r.expanded(grad * std::numeric_limits<double>::infinity());
    const V mean = aten::mean(r.x, r.dims, true);
    return r.kept(grad) * (2 / (r.count() - correction)) * (r.x - mean);
}
/// Of result 0, and of result 1, the mean.
V with_mean(const OfReduction& r, V gradient) {
    if (r.call.result_count() < 2 || !r.call.grad_if_any(1)) return gradient;
    const V mean = r.expanded(*r.call.grad_if_any(1)) / r.count();
    return gradient + mean;
}

/// Slopes x |x|^(p - 2) / norm^(p - 1), with nothing where they are not defined.
V of_power_norm(const OfReduction& r, double p, const V& grad, const V& norm) {
    if (p < 1) {
        const V power = drop(eq(r.x, 0), pow(abs(r.x), p - 1));
        return sign(r.x) * power * grad * pow(norm, 1 - p);
    }
    const V scale = drop(eq(norm, 0), grad / pow(norm, p - 1));
    const V scaled = p < 2 ? sign(r.x) * pow(abs(r.x), p - 1) : r.x * pow(abs(r.x), p - 2);
    return scaled * scale;
}

}  // namespace

V sum_grad(const OfSelf& of) {
    const OfReduction r(of);
    return r.expanded(r.g);
}
V mean_grad(const OfSelf& of) {
    const OfReduction r(of);
    return r.expanded(r.g) / r.count();
}
/// The product of the other elements, from both ends: right where elements are zero, too.
V prod_grad(const OfSelf& of) {
    const OfReduction r(of);
    const bool whole = !r.call.schema().param("dim");
    // What "dtype" takes of complex numbers, their real parts, is multiplied.
    const bool parts = is_complex(r.x.dtype()) && !is_complex(r.y.dtype());
    const V factors = parts ? r.call.builder().convert(r.x, r.y.dtype()) : r.x;
    const V x = whole ? reshaped(factors, Ints{r.x.numel()}) : factors;
    const V grad = whole ? r.g : r.kept(r.g);
    if (x.sizes().empty() || x.numel() == 0) return r.expanded(r.g);
    const std::int64_t dim = whole ? 0 : r.dims.at(0), size = x.sizes()[static_cast<std::size_t>(dim)];
    Sizes edge = x.sizes();
    edge[static_cast<std::size_t>(dim)] = 1;
    const V one = ones(r.call.builder(), edge, x.dtype());
    const auto reversed = [&](const V& v) { return flip(v, Ints{dim}); };
    const auto before = [&](const V& v) {
        const V shifted = cat(Vs{one, sliced(v, dim, 0, size - 1)}, dim);
        return cumprod(shifted, dim);
    };
    const V others = before(x) * reversed(before(reversed(x)));
    return reshaped(grad * conjugate(others), r.x.sizes());
}
void extremum_value_grad(Gradients& c) {
    const OfReduction r(c);
    const V mask = eq(r.kept(r.y), r.x);
    c.set("self", r.shared(c.schema().param("dim") ? mask : r.or_nan(mask)));
}
void variance_grad(Gradients& c) {
    const OfReduction r(c);
    c.set("self", with_mean(r, of_variance(r, r.g)));
}
/// No slope where all elements are equal.
void deviation_grad(Gradients& c) {
    const OfReduction r(c);
    const V slope = drop(eq(r.y, 0), r.g / (r.y * 2));
    c.set("self", with_mean(r, of_variance(r, slope)));
}
void logsumexp_grad(Gradients& c) {
    const OfReduction r(c);
    const V shares = exp(r.x - r.kept(r.y));
    c.set("self", r.kept(r.g) * shares);
}
void vector_norm_grad(Gradients& c) {
    const OfReduction r(c);
    const double p = c.scalar("ord").to_double();
    const V grad = r.kept(r.g), norm = r.kept(r.y);
    if (p == 0) return c.set("self", zeros_like(r.x));
    if (p == 1) return c.set("self", sign(r.x) * grad);
    if (p == 2) return c.set("self", grad * drop(eq(norm, 0), r.x / norm));
    if (!std::isinf(p)) return c.set("self", of_power_norm(r, p, grad, norm));
    const V extreme = eq(abs(r.x), norm);
    c.set("self", sign(r.x) * r.shared(r.or_nan(extreme)));
}
V softmax_grad(const OfSelf& r) { return _softmax_backward_data(r.g, r.y, r.call.integer("dim"), r.x.dtype()); }
V log_softmax_grad(const OfSelf& r) { return _log_softmax_backward_data(r.g, r.y, r.call.integer("dim"), r.x.dtype()); }

}  // namespace whittle
