// Distances between all pairs of rows.
// Definition: https://pytorch.org/docs/stable/generated/torch.cdist.html
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"
#include "ops/core/samples.h"

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
    if (a.sizes.size() < 2 || b.sizes.size() < 2 || a.sizes.back() != b.sizes.back() || !(args.number("p") >= 0))
        throw Error("cdist: found " + to_string(a.sizes) + ", " + to_string(b.sizes) + " and p=" +
                    std::to_string(args.number("p")) + ", expected [..., P, M], [..., R, M] and p of at least 0");
    Distances d;
    d.p = args.number("p");
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

/// The p-norm of all differences; p = 0 counts the features that differ.
std::vector<NodeRef> decompose_cdist(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Distances d = distances_of(args);
    const DType dtype = args.tensor("x1").meta.dtype;
    if (d.features == 0) return {builder.call("aten.full.default", {Arg::ints(d.sizes), 0}, {{"dtype", dtype}}).ref};
    const auto unary = [&](const char* target, const NodeValue& x) { return builder.call(target, {arg(x)}); };
    const auto sum = [&](const NodeValue& x) {
        return builder.call("aten.sum.dim_IntList", {arg(x), Arg::ints({-1})}, {{"dtype", dtype}});
    };
    const auto power = [&](const NodeValue& x, double exponent) {
        return builder.call("aten.pow.Tensor_Scalar", {arg(x), exponent});
    };
    const NodeValue left = builder.call("aten.unsqueeze.default", {arg(args.tensor("x1")), -2});
    const NodeValue right = builder.call("aten.unsqueeze.default", {arg(args.tensor("x2")), -3});
    const NodeValue difference = unary("aten.abs.default", builder.call("aten.sub.Tensor", {arg(left), arg(right)}));
    if (d.p == 0) return {sum(builder.call("aten.ne.Scalar", {arg(difference), 0})).ref};
    if (d.p == 1) return {sum(difference).ref};
    if (d.p == 2) return {unary("aten.sqrt.default", sum(power(difference, 2))).ref};
    if (std::isinf(d.p)) return {builder.call("aten.amax.default", {arg(difference), Arg::ints({-1})}).ref};
    return {power(sum(power(difference, d.p)), 1 / d.p).ref};
}

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

std::vector<Sample> sample_cdist(DType dtype) {
    using samples::t;
    std::vector<Sample> result;
    const auto add = [&](const std::string& label, const Sizes& a, const Sizes& b, double p) {
        result.push_back({label, {samples::random(dtype, a, 1), samples::random(dtype, b, 2)}, {t(0), t(1), p}});
    };
    for (const double p : {0.0, 1.0, 2.0, 3.0, 0.5, std::numeric_limits<double>::infinity()})
        add("p " + std::to_string(p), {2, 3, 4}, {2, 5, 4}, p);
    add("broadcast", {2, 1, 3, 4}, {3, 2, 4}, 2);
    add("no features", {2, 0}, {3, 0}, 2);
    add("no rows", {0, 4}, {3, 4}, 2);
    const Tensor special = samples::special(dtype);
    const Tensor column = special.as_strided({special.numel(), 1}, {1, 1}, special.offset());
    for (const double p : {0.0, 1.0, std::numeric_limits<double>::infinity()})
        result.push_back({"special, p " + std::to_string(p), {column, column}, {t(0), t(1), p}});
    return result;
}

constexpr OpDef kOps[] = {
    {.name = "aten.cdist.default",
     .doc = "p-norms of the differences of all pairs of rows; pytorch.org/docs/stable/generated/torch.cdist.html",
     .schema = "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
     .dtypes = set_of(DType::f32) | set_of(DType::f64),
     .infer = infer_cdist,
     .eval = eval_cdist,
     .decompose = decompose_cdist,
     .samples = sample_cdist},
};

}  // namespace

std::span<const OpDef> distance_ops() { return kOps; }

}  // namespace whittle
