// Distances between all pairs of rows, of two tensors or of one, and their gradients.
// Definition: https://pytorch.org/docs/stable/generated/torch.cdist.html
#include <cmath>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

/// x1 [..., P, M] and x2 [..., R, M] -> [..., P, R]; leading dimensions broadcast.
struct Distances {
    double p = 2;
    Sizes batch = {};
    std::int64_t rows1 = 0, rows2 = 0, features = 0;
    Sizes sizes = {};
};

Distances distances_of(const AnyArguments auto& args) {
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
V norm_of(const V& difference, double p) {
    const auto total = [&](const V& x) { return sum(x, Ints{-1}, false, difference.dtype()); };
    const V distance = abs(difference);
    if (p == 0) return total(ne(distance, 0));
    if (p == 1) return total(distance);
    if (p == 2) return sqrt(total(pow(distance, 2)));
    if (std::isinf(p)) return amax(distance, Ints{-1});
    return pow(total(pow(distance, p)), 1 / p);
}

/// x1 - x2 for all pairs of rows: [..., P, R, M].
V differences(const Call& args) {
    const V left = unsqueeze(args.tensor("x1"), -2);
    const V right = unsqueeze(args.tensor("x2"), -3);
    return left - right;
}

CallResults decompose_cdist(const Call& c) {
    const Distances d = distances_of(c);
    if (d.features == 0) return zeros(c.builder(), d.sizes, c.tensor("x1").dtype());
    return norm_of(differences(c), d.p);
}

/// By one product of matrices, |x1|^2 - 2 x1 x2 + |x2|^2, which loses what is near 0.
CallResults decompose_euclidean(const Call& c) {
    distances_of(c);
    const V a = c.tensor("x1"), b = c.tensor("x2");
    const auto squares = [&](const V& x) { return summed(pow(x, 2), Ints{-1}, true); };
    const auto beside = [&](const Vs& parts) { return cat(parts, -1); };
    const V squares1 = squares(a), squares2 = squares(b);
    const V left = beside({a * -2, squares1, ones_like(squares1)});
    const V right = beside({b, ones_like(squares2), squares2});
    const V product = matmul(left, transpose(right, -2, -1));
    return sqrt(clamp_min(product, 0));
}

// ---- distances within one tensor ----

/// How many pairs the rows of pdist's operand make. Throws Error for operands and p that ATen refuses.
std::int64_t pairs_of(const V& self, double p) {
    if (self.sizes().size() != 2 || !(p >= 0))
        throw Error("pdist: found an operand of sizes " + to_string(self.sizes()) + " and p=" + std::to_string(p) +
                    ", expected sizes [N, M] and p of at least 0");
    const Checked n = self.sizes()[0];
    return (n * (n - 1) / 2).value();
}

/// The rows i < j of all pairs, in order of i. Those of row i begin at k = i n - i (i + 1) / 2, which is solved for i;
/// 1 less beneath the root keeps the solution off whole numbers, where rounding would decide.
struct Pairs {
    V first, second;
};

Pairs pair_rows(GraphBuilder& b, std::int64_t n, std::int64_t count) {
    const V k = arange(b, count, DType::i64);
    const double middle = static_cast<double>(n) - 0.5;
    const V square = b.convert(k, DType::f64) * -2.0 + (middle * middle - 1);
    const V i = b.convert(-sqrt(square) + middle, DType::i64);
    const V triangle = bitwise_right_shift(i * (i + 1), 1);
    const V begin = i * n - triangle;
    return {i, k - begin + i + 1};
}

V differences(const V& self, const V& first, const V& second) {
    const auto rows = [&](const V& at) { return index_select(self, 0, at); };
    return rows(first) - rows(second);
}

CallResults decompose_pdist(const Call& c) {
    const V self = c.tensor("self");
    const std::int64_t count = pairs_of(self, c.number("p"));
    if (self.sizes()[1] == 0 || count == 0) return zeros(c.builder(), Ints{count}, self.dtype());
    const Pairs pairs = pair_rows(c.builder(), self.sizes()[0], count);
    const V apart = differences(self, pairs.first, pairs.second);
    return norm_of(apart, c.number("p"));
}

// ---- gradients ----

/// 1 where the condition holds, else x.
V or_one(const V& condition, const V& x) { return masked_fill(x, condition, 1); }

/// grad * d distance / d difference, of norm_of(); 0 where rows, or with p < 2 coordinates of theirs, are equal.
V norm_gradient(const V& difference, const V& grad, const V& distance, double p) {
    const auto wide = [&](const V& x) { return unsqueeze(x, -1); };
    const V sign = aten::sign(difference), size = abs(difference);
    const V own = wide(grad), far = wide(distance);
    if (p == 0) return zeros_like(difference);
    if (p == 1) return own * sign;
    if (std::isinf(p)) {
        const V largest = eq(size, far);
        return keep(largest, own * sign);
    }
    // 1 stands for 0 where a power of 0 is infinite, so that what is left out here is finite, and its gradient, too.
    const V equal = eq(far, 0), divisor = or_one(equal, far);
    const V apart = p < 2 ? or_one(eq(size, 0), size) : size;  // whose sign is 0
    V result = p == 2  ? own * difference / divisor
               : p < 2 ? sign * pow(apart, p - 1) * own / pow(divisor, p - 1)
                       : difference * pow(size, p - 2) * own / pow(divisor, p - 1);
    return drop(equal, result);
}

/// Of x1 alone, with the leading dimensions that it was broadcast to.
CallResults decompose_cdist_backward(const Call& c) {
    const Distances d = distances_of(c);
    const V grad = c.tensor("grad"), distance = c.tensor("cdist"), x1 = c.tensor("x1");
    if (grad.sizes() != d.sizes || distance.sizes() != d.sizes)
        throw Error("_cdist_backward: found a gradient of sizes " + to_string(grad.sizes()) + " and distances of " +
                    to_string(distance.sizes()) + ", expected " + to_string(d.sizes));
    if (element_count(d.sizes) == 0 || d.features == 0) return zeros(c.builder(), x1.sizes(), x1.dtype());
    return summed(norm_gradient(differences(c), grad, distance, d.p), Ints{-2});
}

CallResults decompose_pdist_backward(const Call& c) {
    const V self = c.tensor("self"), grad = c.tensor("grad"), distance = c.tensor("pdist");
    const double p = c.number("p");
    const std::int64_t count = pairs_of(self, p);
    const Sizes expected = {count};
    if (grad.sizes() != expected || distance.sizes() != expected)
        throw Error("_pdist_backward: found a gradient of sizes " + to_string(grad.sizes()) + " and distances of " +
                    to_string(distance.sizes()) + ", expected " + to_string(expected));
    const V zeros = zeros_like(self);
    if (count == 0 || self.sizes()[1] == 0) return zeros;
    const auto [first, second] = pair_rows(c.builder(), self.sizes()[0], count);
    const V gradient = norm_gradient(differences(self, first, second), grad, distance, p);
    const V added = index_add(zeros, 0, first, gradient);
    return index_add(added, 0, second, -gradient);
}

void cdist_grad(Gradients& c) {
    const double p = c.number("p");
    const auto swapped = [&](const V& x) { return transpose(x, -2, -1); };
    const V x1 = c.tensor("x1"), x2 = c.tensor("x2");
    if (c.needed("x1")) c.set("x1", _cdist_backward(c.grad(), x1, x2, p, c.result()));
    if (c.needed("x2")) c.set("x2", _cdist_backward(swapped(c.grad()), x2, x1, p, swapped(c.result())));
}

V pdist_grad(const OfSelf& r) { return _pdist_backward(r.g, r.x, r.call.number("p"), r.y); }

/// With the ratio of gradient and distance: x1 * sum(ratio) - ratio x2, and the other way round.
void euclidean_grad(Gradients& c) {
    const auto swapped = [&](const V& x) { return transpose(x, -2, -1); };
    const V equal = eq(c.result(), 0);
    const V ratio = drop(equal, c.grad() / or_one(equal, c.result()));
    const auto of = [&](const V& x, const V& other, const V& weights) {
        return x * summed(weights, Ints{-1}, true) - matmul(weights, other);
    };
    const V x1 = c.tensor("x1"), x2 = c.tensor("x2");
    if (c.needed("x1")) c.set("x1", of(x1, x2, ratio));
    if (c.needed("x2")) c.set("x2", of(x2, x1, swapped(ratio)));
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
    composite("cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
              "p-norms of the differences of all pairs of rows", kMeasured, decompose_cdist,
              {.infer = infer_cdist, .eval = eval_cdist}),
    composite("_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
              "cdist, computed from the differences of the rows; pytorch.org/docs/stable/generated/torch.cdist.html",
              kMeasured, decompose_cdist, {.infer = infer_cdist, .eval = eval_cdist}, cdist_grad),
    composite(
        "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
        "cdist with p = 2, computed with a product of matrices; pytorch.org/docs/stable/generated/torch.cdist.html",
        kMeasured, decompose_euclidean, {.infer = infer_cdist}, euclidean_grad),
    composite("_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
              "the gradient of cdist's first operand: https://pytorch.org/docs/stable/generated/torch.cdist.html",
              kMeasured, decompose_cdist_backward),
    composite("_pdist_forward(Tensor self, float p=2) -> Tensor",
              "p-norms of the differences of all pairs of rows of one tensor; "
              "pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html",
              kMeasured, decompose_pdist, pdist_grad),
    composite("_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
              "the gradient of pdist: https://pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html",
              kMeasured, decompose_pdist_backward),
};

}  // namespace

std::span<const OpDef> distance_ops() { return kDistanceOps; }

}  // namespace whittle
