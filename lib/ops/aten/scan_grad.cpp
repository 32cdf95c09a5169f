// Gradients of what picks elements along a dimension, which go where the elements were, and of running results.
#include <limits>

#include "ops/aten/reduction_grad.h"
#include "ops/core/geometry.h"

namespace whittle {

namespace {

struct AlongDim : OfSelf {
    AlongDim(GraphBuilder& builder, CallGradients& call)
        : OfSelf(builder, call),
          rank(static_cast<std::int64_t>(x.meta.sizes.size())),
          dim(wrap_dim(call.args().integer("dim"), rank)) {}
    NodeValue zeros_like_self() const { return zeros(x.meta.sizes, g.meta.dtype); }
    NodeValue reversed(const NodeValue& v) const { return call("aten.flip.default", {arg(v), Arg::ints({dim})}); }
    /// f from the other end.
    NodeValue backwards(std::string_view f, const NodeValue& v) const {
        return reversed(call(f, {arg(reversed(v)), dim}));
    }

    std::int64_t rank, dim;
};

}  // namespace

/// Of values and indices, each index once in its line.
void picked_grad(GraphBuilder& b, CallGradients& c) {
    const AlongDim r(b, c);
    NodeValue grad = r.g, at = c.result(1);
    if (grad.meta.sizes.size() < r.x.meta.sizes.size()) {  // without keepdim
        grad = r.call("aten.unsqueeze.default", {arg(grad), r.dim});
        at = r.call("aten.unsqueeze.default", {arg(at), r.dim});
    }
    r.set(r.call("aten.scatter.src", {arg(r.zeros_like_self()), r.dim, arg(at), arg(grad)}));
}
/// Of running values and indices.
void scan_picked_grad(GraphBuilder& b, CallGradients& c) {
    const AlongDim r(b, c);
    r.set(r.call("aten.scatter_add.default", {arg(r.zeros_like_self()), r.dim, arg(c.result(1)), arg(r.g)}));
}
/// Equal elements share it, and those that are NaN, if any is.
void median_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const NodeValue equal = r.call("aten.eq.Tensor", {arg(r.x), arg(r.y)});
    const NodeValue mask = r.call("aten.logical_or.default", {arg(equal), arg(r.of("aten.isnan.default", r.x))});
    r.set(r.mul(r.div(r.g, arg(r.of("aten.sum.default", mask))), mask));
}

void cumsum_grad(GraphBuilder& b, CallGradients& c) {
    const OfComplex<AlongDim> r(b, c);
    r.set(r.backwards("aten.cumsum.default", r.g));
}
/// Product j depends on element k <= j by the product of the others up to j. All of them are computed, so that zeros
/// are right: n elements for each of the n of a line.
void cumprod_grad(GraphBuilder& b, CallGradients& c) {
    const OfComplex<AlongDim> r(b, c);
    if (r.rank == 0 || r.x.meta.numel() == 0) return r.set(r.g);
    const auto d = static_cast<std::size_t>(r.dim);
    const std::int64_t n = r.x.meta.sizes[d];
    Sizes square = r.x.meta.sizes, eye(static_cast<std::size_t>(r.rank + 1), 1);  // k, then j
    square.insert(square.begin() + r.dim, n);
    eye[d] = eye[d + 1] = n;
    const NodeValue ones = b.call("aten.ones.default", {Arg::ints({n, n})}, {{"dtype", DType::boolean}});
    const NodeValue upper = r.call("aten.triu.default", {arg(ones), 0}),
                    beyond = r.call("aten.triu.default", {arg(ones), 1});
    const NodeValue same = r.call("aten.logical_xor.default", {arg(upper), arg(beyond)});
    const NodeValue x = b.convert(r.x, r.g.meta.dtype);
    const NodeValue lines =
        r.call("aten.expand.default", {arg(r.call("aten.unsqueeze.default", {arg(x), r.dim})), Arg::ints(square)});
    const NodeValue others = r.call("aten.masked_fill.Scalar", {arg(lines), arg(r.reshape(same, eye)), 1});
    const NodeValue products = r.call("aten.cumprod.default", {arg(others), r.dim + 1});
    const NodeValue slopes = r.keep(r.reshape(upper, eye), products);
    const NodeValue grad = r.call("aten.unsqueeze.default", {arg(r.g), r.dim});
    r.set(r.sum(r.mul(r.conj(slopes), grad), {r.dim + 1}));
}
/// exp(x - y) times the gradient, summed from the end, positive and negative gradients apart in logarithms.
void logcumsumexp_grad(GraphBuilder& b, CallGradients& c) {
    const AlongDim r(b, c);
    const NodeValue logs = r.of("aten.log.default", r.of("aten.abs.default", r.g));
    const auto part = [&](const char* sign) {
        const NodeValue has = r.call("aten." + std::string(sign) + ".Scalar", {arg(r.g), 0});
        const NodeValue log =
            r.call("aten.where.ScalarOther", {arg(has), arg(logs), Arg(std::numeric_limits<double>::lowest())});
        const NodeValue summed = r.backwards("aten.logcumsumexp.default", r.sub(log, r.y));
        return r.of("aten.exp.default", r.add(summed, r.x));
    };
    r.set(r.sub(part("gt"), part("lt")));
}

}  // namespace whittle
