// Gradients of what picks elements along a dimension, which go where the elements were, and of running results.
#include <limits>

#include "ops/aten/formulas.h"
#include "ops/aten/reduction_grad.h"
#include "ops/core/geometry.h"

namespace whittle {

namespace {

using namespace aten;

struct AlongDim : OfSelf {
    explicit AlongDim(const OfSelf& of) : OfSelf(of), dim(wrap_dim(call.integer("dim"), x.rank())) {}
    V zeros_like_self() const { return zeros(call.builder(), x.sizes(), g.dtype()); }
    V reversed(const V& v) const { return flip(v, Ints{dim}); }

    std::int64_t dim;
};

}  // namespace

/// Of values and indices, each index once in its line.
V picked_grad(const OfSelf& of) {
    const AlongDim r(of);
    V grad = r.g, at = r.call.result(1);
    if (grad.rank() < r.x.rank()) {  // without keepdim
        grad = unsqueeze(grad, r.dim);
        at = unsqueeze(at, r.dim);
    }
    return scatter(r.zeros_like_self(), r.dim, at, grad);
}
/// Of running values and indices.
V scan_picked_grad(const OfSelf& of) {
    const AlongDim r(of);
    return scatter_add(r.zeros_like_self(), r.dim, r.call.result(1), r.g);
}
/// Equal elements share it, and those that are NaN, if any is.
V median_grad(const OfSelf& r) {
    const V mask = logical_or(eq(r.x, r.y), isnan(r.x));
    return r.g / sum(mask) * mask;
}

V cumsum_grad(const OfSelf& of) {
    const AlongDim r(of);
    return r.reversed(cumsum(r.reversed(r.g), r.dim));
}
/// Product j depends on element k <= j by the product of the others up to j. All of them are computed, so that zeros
/// are right: n elements for each of the n of a line.
V cumprod_grad(const OfSelf& of) {
    const AlongDim r(of);
    if (r.x.rank() == 0 || r.x.numel() == 0) return r.g;
    const auto d = static_cast<std::size_t>(r.dim);
    const std::int64_t n = r.x.sizes()[d];
    Sizes square = r.x.sizes(), eye(static_cast<std::size_t>(r.x.rank() + 1), 1);  // k, then j
    square.insert(square.begin() + r.dim, n);
    eye[d] = eye[d + 1] = n;
    const V ones = aten::ones(r.call.builder(), Ints{n, n}, DType::boolean);
    const V upper = triu(ones), beyond = triu(ones, 1);
    const V same = logical_xor(upper, beyond);
    const V x = r.call.builder().convert(r.x, r.g.dtype());
    const V lines = expand(unsqueeze(x, r.dim), square);
    const V others = masked_fill(lines, reshaped(same, eye), 1);
    const V products = cumprod(others, r.dim + 1);
    const V slopes = keep(reshaped(upper, eye), products);
    const V grad = unsqueeze(r.g, r.dim);
    return summed(conjugate(slopes) * grad, Ints{r.dim + 1});
}
/// exp(x - y) times the gradient, summed from the end, positive and negative gradients apart in logarithms.
void logcumsumexp_grad(Gradients& c) {
    const AlongDim r(of_self(c));
    const V logs = log(abs(r.g));
    const auto part = [&](const V& has) {
        const V size = where(has, logs, std::numeric_limits<double>::lowest());
        return exp(r.reversed(logcumsumexp(r.reversed(size - r.y), r.dim)) + r.x);
    };
    const V positive = part(gt(r.g, 0));
    c.set("self", positive - part(lt(r.g, 0)));
}

}  // namespace whittle
