// Distances between all pairs of rows, of two tensors or of one, and their gradients.
// Definition: https://pytorch.org/docs/stable/generated/torch.cdist.html
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

/// x1 [..., P, M] and x2 [..., R, M] -> [..., P, R]; leading dimensions broadcast.
struct Distances {
    double p = 2;
    Sizes batch = {};
    std::int64_t rows1 = 0, rows2 = 0, features = 0;
    Sizes sizes = {};
};

template <class T>
Distances distances_of(const Arguments<T>& args) {
    const ValueMeta a = meta_of(args.tensor("x1")), b = meta_of(args.tensor("x2"));
    check_same_dtype("cdist", a.dtype, "x2", b.dtype);
    Distances d;
    if (args.schema().param("p")) d.p = args.number("p");
    if (a.sizes.size() < 2 || b.sizes.size() < 2 || a.sizes.back() != b.sizes.back() || !(d.p >= 0))
        throw Error("cdist: found operands of sizes " + to_string(a.sizes) + " and " + to_string(b.sizes) +
                    " with p=" + std::to_string(d.p) + ", expected [..., P, M] and [..., R, M] with p of at least 0");
    d.rows1 = a.sizes[a.sizes.size() - 2];
    d.rows2 = b.sizes[b.sizes.size() - 2];
    d.features = a.sizes.back();
    d.batch = broadcast_sizes(Sizes(a.sizes.begin(), a.sizes.end() - 2), Sizes(b.sizes.begin(), b.sizes.end() - 2));
    d.sizes = d.batch;
    d.sizes.insert(d.sizes.end(), {d.rows1, d.rows2});
    return d;
}

std::vector<ValueMeta> infer_cdist(const Arguments<ValueMeta>& args) {
    return {ValueMeta::contiguous(args.tensor("x1").dtype, distances_of(args).sizes)};
}

/// The p-norm along the last dimension, which is not empty; p = 0 counts the numbers that are not 0.
NodeValue norm_of(GraphBuilder& builder, const NodeValue& difference, double p) {
    const auto unary = [&](const char* target, const NodeValue& x) { return builder.call(target, {arg(x)}); };
    const auto sum = [&](const NodeValue& x) {
        return builder.call("aten.sum.dim_IntList", {arg(x), Arg::ints({-1})}, {{"dtype", difference.meta.dtype}});
    };
    const auto power = [&](const NodeValue& x, double exponent) {
        return builder.call("aten.pow.Tensor_Scalar", {arg(x), exponent});
    };
    const NodeValue distance = unary("aten.abs.default", difference);
    if (p == 0) return sum(builder.call("aten.ne.Scalar", {arg(distance), 0}));
    if (p == 1) return sum(distance);
    if (p == 2) return unary("aten.sqrt.default", sum(power(distance, 2)));
    if (std::isinf(p)) return builder.call("aten.amax.default", {arg(distance), Arg::ints({-1})});
    return power(sum(power(distance, p)), 1 / p);
}

/// x1 - x2 for all pairs of rows: [..., P, R, M].
NodeValue differences(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const NodeValue left = builder.call("aten.unsqueeze.default", {arg(args.tensor("x1")), -2});
    const NodeValue right = builder.call("aten.unsqueeze.default", {arg(args.tensor("x2")), -3});
    return builder.call("aten.sub.Tensor", {arg(left), arg(right)});
}

std::vector<NodeRef> decompose_cdist(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Distances d = distances_of(args);
    if (d.features == 0) return {Gradient(builder).zeros(d.sizes, args.tensor("x1").meta.dtype).ref};
    return {norm_of(builder, differences(builder, args), d.p).ref};
}

/// By one product of matrices, |x1|^2 - 2 x1 x2 + |x2|^2, which loses what is near 0.
std::vector<NodeRef> decompose_euclidean(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    distances_of(args);
    const Gradient g(builder);
    const NodeValue a = args.tensor("x1"), b = args.tensor("x2");
    const auto squares = [&](const NodeValue& x) {
        return g.sum(g.call("aten.pow.Tensor_Scalar", {arg(x), 2}), {-1}, true);
    };
    const auto beside = [&](const std::vector<NodeValue>& parts) {
        return g.call("aten.cat.default", {args_list(parts), -1});
    };
    const NodeValue squares1 = squares(a), squares2 = squares(b);
    const NodeValue left = beside({g.mul(a, Arg(-2)), squares1, g.of("aten.ones_like.default", squares1)});
    const NodeValue right = beside({b, g.of("aten.ones_like.default", squares2), squares2});
    const NodeValue product =
        g.call("aten.matmul.default", {arg(left), arg(g.call("aten.transpose.int", {arg(right), -2, -1}))});
    return {g.of("aten.sqrt.default", g.call("aten.clamp_min.default", {arg(product), 0})).ref};
}

// ---- distances within one tensor ----

/// How many pairs the rows of pdist's operand make. Throws Error for operands and p that ATen refuses.
std::int64_t pairs_of(const NodeValue& self, double p) {
    if (self.meta.sizes.size() != 2 || !(p >= 0))
        throw Error("pdist: found an operand of sizes " + to_string(self.meta.sizes) + " and p=" + std::to_string(p) +
                    ", expected sizes [N, M] and p of at least 0");
    const Checked n = self.meta.sizes[0];
    return (n * (n - 1) / 2).value();
}

/// The rows i < j of all pairs, in order of i. Those of row i begin at k = i n - i (i + 1) / 2, which is solved for i;
/// 1 less beneath the root keeps the solution off whole numbers, where rounding would decide.
struct Pairs {
    NodeValue first, second;
};

Pairs pair_rows(GraphBuilder& b, std::int64_t n, std::int64_t count) {
    const Gradient g(b);
    const NodeValue k = b.call("aten.arange.default", {count}, {{"dtype", DType::i64}});
    const double middle = static_cast<double>(n) - 0.5;
    const NodeValue square = g.add(g.mul(b.convert(k, DType::f64), Arg(-2.0)), Arg(middle * middle - 1));
    const NodeValue i = b.convert(g.add(g.neg(g.of("aten.sqrt.default", square)), Arg(middle)), DType::i64);
    const NodeValue triangle = g.call("aten.bitwise_right_shift.Tensor_Scalar", {arg(g.mul(i, g.add(i, 1))), 1});
    const NodeValue begin = g.sub(g.mul(i, Arg(n)), triangle);
    return {i, g.add(g.add(g.sub(k, begin), i), 1)};
}

NodeValue differences(const Gradient& g, const NodeValue& self, const NodeValue& first, const NodeValue& second) {
    const auto rows = [&](const NodeValue& at) { return g.call("aten.index_select.default", {arg(self), 0, arg(at)}); };
    return g.sub(rows(first), rows(second));
}

std::vector<NodeRef> decompose_pdist(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Gradient g(builder);
    const NodeValue self = args.tensor("self");
    const std::int64_t count = pairs_of(self, args.number("p"));
    if (self.meta.sizes[1] == 0 || count == 0) return {g.zeros({count}, self.meta.dtype).ref};
    const Pairs pairs = pair_rows(builder, self.meta.sizes[0], count);
    const NodeValue apart = differences(g, self, pairs.first, pairs.second);
    return {norm_of(builder, apart, args.number("p")).ref};
}

// ---- gradients ----

/// 1 where the condition holds, else x.
NodeValue or_one(const Gradient& g, const NodeValue& condition, const NodeValue& x) {
    return g.call("aten.masked_fill.Scalar", {arg(x), arg(condition), 1});
}

/// grad * d distance / d difference, of norm_of(); 0 where rows, or with p < 2 coordinates of theirs, are equal.
NodeValue norm_gradient(const Gradient& g, const NodeValue& difference, const NodeValue& grad,
                        const NodeValue& distance, double p) {
    const auto wide = [&](const NodeValue& x) { return g.call("aten.unsqueeze.default", {arg(x), -1}); };
    const auto power = [&](const NodeValue& x, double exponent) {
        return g.call("aten.pow.Tensor_Scalar", {arg(x), exponent});
    };
    const NodeValue sign = g.of("aten.sign.default", difference), size = g.of("aten.abs.default", difference);
    const NodeValue own = wide(grad), far = wide(distance);
    if (p == 0) return g.of("aten.zeros_like.default", difference);
    if (p == 1) return g.mul(own, sign);
    if (std::isinf(p)) {
        const NodeValue largest = g.call("aten.eq.Tensor", {arg(size), arg(far)});
        return g.keep(largest, g.mul(own, sign));
    }
    // 1 stands for 0 where a power of 0 is infinite, so that what is left out here is finite, and its gradient, too.
    const NodeValue equal = g.when("eq", far, 0), divisor = or_one(g, equal, far);
    const NodeValue apart = p < 2 ? or_one(g, g.when("eq", size, 0), size) : size;  // whose sign is 0
    NodeValue result = p == 2  ? g.div(g.mul(own, difference), arg(divisor))
                       : p < 2 ? g.div(g.mul(g.mul(sign, power(apart, p - 1)), own), arg(power(divisor, p - 1)))
                               : g.div(g.mul(g.mul(difference, power(size, p - 2)), own), arg(power(divisor, p - 1)));
    return g.drop(equal, result);
}

/// Of x1 alone, with the leading dimensions that it was broadcast to.
std::vector<NodeRef> decompose_cdist_backward(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Gradient g(builder);
    const Distances d = distances_of(args);
    const NodeValue grad = args.tensor("grad"), distance = args.tensor("cdist"), x1 = args.tensor("x1");
    if (grad.meta.sizes != d.sizes || distance.meta.sizes != d.sizes)
        throw Error("_cdist_backward: found a gradient of sizes " + to_string(grad.meta.sizes) + " and distances of " +
                    to_string(distance.meta.sizes) + ", expected " + to_string(d.sizes));
    if (element_count(d.sizes) == 0 || d.features == 0) return {g.zeros(x1.meta.sizes, x1.meta.dtype).ref};
    return {g.sum(norm_gradient(g, differences(builder, args), grad, distance, d.p), {-2}).ref};
}

std::vector<NodeRef> decompose_pdist_backward(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Gradient g(builder);
    const NodeValue self = args.tensor("self"), grad = args.tensor("grad"), distance = args.tensor("pdist");
    const double p = args.number("p");
    const std::int64_t count = pairs_of(self, p);
    const Sizes expected = {count};
    if (grad.meta.sizes != expected || distance.meta.sizes != expected)
        throw Error("_pdist_backward: found a gradient of sizes " + to_string(grad.meta.sizes) + " and distances of " +
                    to_string(distance.meta.sizes) + ", expected " + to_string(expected));
    const NodeValue zeros = g.of("aten.zeros_like.default", self);
    if (count == 0 || self.meta.sizes[1] == 0) return {zeros.ref};
    const auto [first, second] = pair_rows(builder, self.meta.sizes[0], count);
    const NodeValue gradient = norm_gradient(g, differences(g, self, first, second), grad, distance, p);
    const NodeValue added = g.call("aten.index_add.default", {arg(zeros), 0, arg(first), arg(gradient)});
    return {g.call("aten.index_add.default", {arg(added), 0, arg(second), arg(g.neg(gradient))}).ref};
}

void cdist_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const Arg p(c.args().number("p"));
    const auto swapped = [&](const NodeValue& x) { return r.call("aten.transpose.int", {arg(x), -2, -1}); };
    const NodeValue x1 = r.tensor("x1"), x2 = r.tensor("x2");
    if (r.needed("x1"))
        r.set("x1", r.call("aten._cdist_backward.default", {arg(r.grad()), arg(x1), arg(x2), p, arg(r.result())}));
    if (r.needed("x2"))
        r.set("x2", r.call("aten._cdist_backward.default",
                           {arg(swapped(r.grad())), arg(x2), arg(x1), p, arg(swapped(r.result()))}));
}

void pdist_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten._pdist_backward.default", {arg(r.g), arg(r.x), Arg(c.args().number("p")), arg(r.y)}));
}

/// With the ratio of gradient and distance: x1 * sum(ratio) - ratio x2, and the other way round.
void euclidean_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const auto swapped = [&](const NodeValue& x) { return r.call("aten.transpose.int", {arg(x), -2, -1}); };
    const NodeValue equal = r.when("eq", r.result(), 0);
    const NodeValue ratio = r.drop(equal, r.div(r.grad(), arg(or_one(r, equal, r.result()))));
    const auto of = [&](const NodeValue& x, const NodeValue& other, const NodeValue& weights) {
        return r.sub(r.mul(x, r.sum(weights, {-1}, true)), r.call("aten.matmul.default", {arg(weights), arg(other)}));
    };
    const NodeValue x1 = r.tensor("x1"), x2 = r.tensor("x2");
    if (r.needed("x1")) r.set("x1", of(x1, x2, ratio));
    if (r.needed("x2")) r.set("x2", of(x2, x1, swapped(ratio)));
}

// ---- eval ----

template <class T>
T distance(const T* a, const T* b, std::int64_t features, double p) {
    T result = 0;
    for (std::int64_t i = 0; i < features; i++) {
        const T difference = std::fabs(a[i] - b[i]);
        if (std::isinf(p))
            result = difference > result || std::isnan(difference) ? difference : result;
        else
            result += p == 0 ? T(difference != 0) : std::pow(difference, static_cast<T>(p));
    }
    return p == 0 || std::isinf(p) ? result : std::pow(result, static_cast<T>(1 / p));
}

template <class T>
Tensor all_distances(const Distances& d, const Tensor& x1, const Tensor& x2) {
    const auto rows = [&](std::int64_t count) {
        Sizes sizes = d.batch;
        sizes.insert(sizes.end(), {count, d.features});
        return sizes;
    };
    const std::vector<T> a = load_broadcast<T>(x1, rows(d.rows1)), b = load_broadcast<T>(x2, rows(d.rows2));
    std::vector<T> result;
    for (std::int64_t i = 0; i < element_count(d.batch) * d.rows1; i++)
        for (std::int64_t j = 0; j < d.rows2; j++)
            result.push_back(distance(a.data() + i * d.features, b.data() + (i / d.rows1 * d.rows2 + j) * d.features,
                                      d.features, d.p));
    return store(result, x1.dtype(), d.sizes);
}

std::vector<Tensor> eval_cdist(const Arguments<Tensor>& args) {
    const Distances d = distances_of(args);
    const Tensor x1 = args.tensor("x1"), x2 = args.tensor("x2");
    if (x1.dtype() == DType::f64) return {all_distances<double>(d, x1, x2)};
    return {all_distances<float>(d, x1, x2)};
}

constexpr DTypeSet kMeasured = set_of(DType::f32) | set_of(DType::f64);  // as ATen's CPU kernels

constexpr OpDef kDistanceOps[] = {
    {.name = "aten.cdist.default",
     .doc = "p-norms of the differences of all pairs of rows; pytorch.org/docs/stable/generated/torch.cdist.html",
     .schema = "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
     .dtypes = kMeasured,
     .infer = infer_cdist,
     .eval = eval_cdist,
     .decompose = decompose_cdist},
    {.name = "aten._cdist_forward.default",
     .doc = "cdist by the rows' differences; pytorch.org/docs/stable/generated/torch.cdist.html",
     .schema = "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
     .dtypes = kMeasured,
     .infer = infer_cdist,
     .eval = eval_cdist,
     .decompose = decompose_cdist,
     .grad = cdist_grad},
    {.name = "aten._euclidean_dist.default",
     .doc = "cdist with p = 2 by a product of matrices; pytorch.org/docs/stable/generated/torch.cdist.html",
     .schema = "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
     .dtypes = kMeasured,
     .infer = infer_cdist,
     .decompose = decompose_euclidean,
     .grad = euclidean_grad},
    {.name = "aten._cdist_backward.default",
     .doc = "the gradient of cdist's first operand: https://pytorch.org/docs/stable/generated/torch.cdist.html",
     .schema = "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
     .dtypes = kMeasured,
     .decompose = decompose_cdist_backward},
    {.name = "aten._pdist_forward.default",
     .doc = "p-norms of the differences of all pairs of rows of one tensor; "
            "pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html",
     .schema = "_pdist_forward(Tensor self, float p=2) -> Tensor",
     .dtypes = kMeasured,
     .decompose = decompose_pdist,
     .grad = pdist_grad},
    {.name = "aten._pdist_backward.default",
     .doc = "the gradient of pdist: https://pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html",
     .schema = "_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
     .dtypes = kMeasured,
     .decompose = decompose_pdist_backward},
};

}  // namespace

std::span<const OpDef> distance_ops() { return kDistanceOps; }

}  // namespace whittle
