// Products of tensors of any rank, as compositions of mm, bmm, mv, dot and mul.
// Definitions: https://pytorch.org/docs/stable/generated/torch.matmul.html and its neighbours
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/aten/families.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"
#include "ops/core/samples.h"

namespace whittle {
namespace {

std::int64_t rank(const NodeValue& value) { return static_cast<std::int64_t>(value.meta.sizes.size()); }

NodeValue reshape(GraphBuilder& builder, const NodeValue& value, const Sizes& sizes) {
    if (value.meta.sizes == sizes) return value;
    return builder.call("aten.reshape.default", {arg(value), Arg::ints(sizes)});
}

NodeValue expand(GraphBuilder& builder, const NodeValue& value, const Sizes& sizes) {
    if (value.meta.sizes == sizes) return value;
    return builder.call("aten.expand.default", {arg(value), Arg::ints(sizes)});
}

NodeValue permute(GraphBuilder& builder, const NodeValue& value, const Sizes& dims) {
    if (std::ranges::is_sorted(dims)) return value;
    return builder.call("aten.permute.default", {arg(value), Arg::ints(dims)});
}

Sizes concat(Sizes a, const Sizes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// ---- matmul ----

/// Sizes of a product of operands of any rank: batches broadcast, a vector is a row on the left, a column on the right.
struct MatmulShape {
    Sizes batch = {};
    std::int64_t m = 1, k = 0, n = 1;
    Sizes result = {};
};

MatmulShape matmul_shape(const std::string& op, const ValueMeta& a, const ValueMeta& b) {
    const std::string found = op + ": found " + to_string(a.sizes) + " times " + to_string(b.sizes);
    if (a.sizes.empty() || b.sizes.empty()) throw Error(found + ", expected operands of at least one dimension");
    check_same_dtype(op, a.dtype, "the second operand", b.dtype);
    MatmulShape shape;
    const bool vector_a = a.sizes.size() == 1, vector_b = b.sizes.size() == 1;
    shape.k = a.sizes.back();
    if (!vector_a) shape.m = a.sizes[a.sizes.size() - 2];
    if (!vector_b) shape.n = b.sizes.back();
    if ((vector_b ? b.sizes[0] : b.sizes[b.sizes.size() - 2]) != shape.k)
        throw Error(found + ", expected equal inner sizes");
    const auto batch = [](const Sizes& sizes) {
        return sizes.size() < 2 ? Sizes() : Sizes(sizes.begin(), sizes.end() - 2);
    };
    shape.batch = broadcast_sizes(batch(a.sizes), batch(b.sizes));
    shape.result = shape.batch;
    if (!vector_a) shape.result.push_back(shape.m);
    if (!vector_b) shape.result.push_back(shape.n);
    return shape;
}

std::vector<NodeRef> decompose_matmul(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const NodeValue a = args.tensor("self"), b = args.tensor("other");
    const MatmulShape shape = matmul_shape("matmul", a.meta, b.meta);
    const auto call = [&](std::string_view target, const NodeValue& left, const NodeValue& right) {
        return builder.call(target, {arg(left), arg(right)});
    };
    if (rank(a) == 1 && rank(b) == 1) return {call("aten.dot.default", a, b).ref};
    if (rank(a) == 2 && rank(b) == 1) return {call("aten.mv.default", a, b).ref};
    const std::int64_t batch = element_count(shape.batch);
    NodeValue product;
    if (rank(b) <= 2) {  // all rows at once
        const NodeValue rows = reshape(builder, a, {batch * shape.m, shape.k});
        product = rank(b) == 1 ? call("aten.mv.default", rows, b) : call("aten.mm.default", rows, b);
    } else {
        const NodeValue matrix_a = rank(a) == 1 ? reshape(builder, a, {1, shape.k}) : a;
        const NodeValue all_a = expand(builder, matrix_a, concat(shape.batch, {shape.m, shape.k}));
        const NodeValue all_b = expand(builder, b, concat(shape.batch, {shape.k, shape.n}));
        product = call("aten.bmm.default", reshape(builder, all_a, {batch, shape.m, shape.k}),
                       reshape(builder, all_b, {batch, shape.k, shape.n}));
    }
    return {reshape(builder, product, shape.result).ref};
}

/// Matrix by matrix under broadcast strides: nothing is expanded or reshaped.
std::vector<Tensor> eval_matmul(const Arguments<Tensor>& args) {
    const Tensor a = args.tensor("self"), b = args.tensor("other");
    const MatmulShape shape = matmul_shape("matmul", meta_of(a), meta_of(b));
    return visit_accumulator(a.dtype(), [&](auto zero) -> std::vector<Tensor> {
        using T = decltype(zero);
        const Elements<T> left(a), right(b);
        const auto batch_strides = [&](const Tensor& operand, const Elements<T>& elements) {
            const std::int64_t dims = std::max<std::int64_t>(operand.rank() - 2, 0);
            Strides strides;
            for (std::int64_t d = 0; d < dims; d++) strides.push_back(elements.stride(d));
            const Sizes sizes(operand.sizes().begin(), operand.sizes().begin() + dims);
            return broadcast_strides(sizes, strides, shape.batch);
        };
        const Strides steps_a = batch_strides(a, left), steps_b = batch_strides(b, right);
        const std::int64_t last_a = a.rank() - 1, last_b = b.rank() - 1;
        std::vector<T> result(static_cast<std::size_t>(element_count(shape.result)));
        const bool empty = a.numel() == 0 || b.numel() == 0;  // then the results, if any, are sums of nothing
        const std::int64_t count = empty ? 0 : element_count(shape.batch);
        for (std::int64_t i = 0; i < count; i++) {
            std::int64_t at_a = 0, at_b = 0, rest = i;
            for (std::size_t d = shape.batch.size(); d-- > 0; rest /= shape.batch[d]) {
                at_a += rest % shape.batch[d] * steps_a[d];
                at_b += rest % shape.batch[d] * steps_b[d];
            }
            gemm({left.data() + at_a, shape.m, shape.k, last_a > 0 ? left.stride(last_a - 1) : 0, left.stride(last_a)},
                 {right.data() + at_b, shape.k, shape.n, right.stride(std::max<std::int64_t>(last_b - 1, 0)),
                  last_b > 0 ? right.stride(last_b) : 0},
                 result.data() + i * shape.m * shape.n, shape.n);
        }
        return {store(result, a.dtype(), shape.result)};
    });
}

// ---- linear ----

struct LinearShape {
    std::int64_t rows = 1, k = 0, n = 0;
    Sizes result = {};
};

LinearShape linear_shape(const ValueMeta& input, const ValueMeta& weight, const std::optional<ValueMeta>& bias) {
    if (input.sizes.empty() || weight.sizes.size() != 2 || input.sizes.back() != weight.sizes[1])
        throw Error("linear: found input " + to_string(input.sizes) + " and weight " + to_string(weight.sizes) +
                    ", expected [..., K] and [N, K]");
    check_same_dtype("linear", input.dtype, "weight", weight.dtype);
    LinearShape shape{1, weight.sizes[1], weight.sizes[0], input.sizes};
    shape.result.pop_back();
    shape.rows = element_count(shape.result);
    shape.result.push_back(shape.n);
    if (!bias) return shape;
    check_same_dtype("linear", input.dtype, "bias", bias->dtype);
    if (!expands_to(bias->sizes, {shape.n}))
        throw Error("linear: found bias " + to_string(bias->sizes) + ", expected " + to_string(Sizes{shape.n}));
    return shape;
}

template <class T>
LinearShape linear_shape(const Arguments<T>& args) {
    std::optional<ValueMeta> bias;
    if (const auto given = args.optional_tensor("bias")) bias = meta_of(*given);
    return linear_shape(meta_of(args.tensor("input")), meta_of(args.tensor("weight")), bias);
}

std::vector<NodeRef> decompose_linear(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const LinearShape shape = linear_shape(args);
    const NodeValue rows = reshape(builder, args.tensor("input"), {shape.rows, shape.k});
    const NodeValue weight = builder.call("aten.t.default", {arg(args.tensor("weight"))});
    const auto bias = args.optional_tensor("bias");
    const NodeValue product = bias ? builder.call("aten.addmm.default", {arg(*bias), arg(rows), arg(weight)})
                                   : builder.call("aten.mm.default", {arg(rows), arg(weight)});
    return {reshape(builder, product, shape.result).ref};
}

std::vector<Tensor> eval_linear(const Arguments<Tensor>& args) {
    const LinearShape shape = linear_shape(args);
    const Tensor input = args.tensor("input");
    return visit_accumulator(input.dtype(), [&](auto zero) -> std::vector<Tensor> {
        using T = decltype(zero);
        const auto rows = Elements<T>::contiguous(input);
        const Elements<T> weight(args.tensor("weight"));
        std::vector<T> result(static_cast<std::size_t>(shape.rows * shape.n), T{0});
        const auto bias = args.optional_tensor("bias");
        if (bias) result = load_broadcast<T>(*bias, {shape.rows, shape.n});
        gemm({rows.data(), shape.rows, shape.k, shape.k, 1},
             {weight.data(), shape.k, shape.n, weight.stride(1), weight.stride(0)}, result.data(), shape.n, true);
        return {store(result, input.dtype(), shape.result)};
    });
}

// ---- outer, tensordot, kron ----

std::vector<NodeRef> decompose_outer(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const NodeValue a = args.tensor("self"), b = args.tensor("vec2");
    if (rank(a) != 1 || rank(b) != 1)
        throw Error("outer: found operands of sizes " + to_string(a.meta.sizes) + " and " + to_string(b.meta.sizes) +
                    ", expected vectors");
    return {builder.call("aten.mul.Tensor", {arg(reshape(builder, a, {a.meta.sizes[0], 1})), arg(b)}).ref};
}

/// The dimensions of a value that are not in `dims`, in order.
Sizes other_dims(const NodeValue& value, const Sizes& dims) {
    Sizes result;
    for (std::int64_t d = 0; d < rank(value); d++)
        if (std::ranges::find(dims, d) == dims.end()) result.push_back(d);
    return result;
}

Sizes sizes_of(const NodeValue& value, const Sizes& dims) {
    Sizes result;
    for (const std::int64_t d : dims) result.push_back(value.meta.sizes[static_cast<std::size_t>(d)]);
    return result;
}

std::vector<NodeRef> decompose_tensordot(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const NodeValue a = args.tensor("self"), b = args.tensor("other");
    Sizes dims_a = args.integers("dims_self"), dims_b = args.integers("dims_other");
    for (std::int64_t& d : dims_a) d = wrap_dim(d, rank(a));
    for (std::int64_t& d : dims_b) d = wrap_dim(d, rank(b));
    const Sizes free_a = other_dims(a, dims_a), free_b = other_dims(b, dims_b);
    if (sizes_of(a, dims_a) != sizes_of(b, dims_b) || free_a.size() + dims_a.size() != a.meta.sizes.size() ||
        free_b.size() + dims_b.size() != b.meta.sizes.size())
        throw Error("tensordot: found operands " + to_string(a.meta.sizes) + " over " + to_string(dims_a) + " and " +
                    to_string(b.meta.sizes) + " over " + to_string(dims_b) +
                    ", expected as many dimensions of equal sizes, none twice");
    const Sizes sizes_a = sizes_of(a, free_a), sizes_b = sizes_of(b, free_b);
    const std::int64_t m = element_count(sizes_a), n = element_count(sizes_b), k = element_count(sizes_of(a, dims_a));
    const NodeValue left = reshape(builder, permute(builder, a, concat(free_a, dims_a)), {m, k});
    const NodeValue right = reshape(builder, permute(builder, b, concat(dims_b, free_b)), {k, n});
    const NodeValue product = builder.call("aten.mm.default", {arg(left), arg(right)});
    return {reshape(builder, product, concat(sizes_a, sizes_b)).ref};
}

/// Every element of self times all of other: self's dimensions step over whole copies of other's.
std::vector<NodeRef> decompose_kron(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const NodeValue a = args.tensor("self"), b = args.tensor("other");
    const std::size_t dims = std::max(a.meta.sizes.size(), b.meta.sizes.size());
    const auto size = [&](const NodeValue& value, std::size_t d) {
        const std::size_t missing = dims - value.meta.sizes.size();
        return d < missing ? 1 : value.meta.sizes[d - missing];
    };
    Sizes sizes_a, sizes_b, result;
    for (std::size_t d = 0; d < dims; d++) {
        sizes_a.insert(sizes_a.end(), {size(a, d), 1});
        sizes_b.insert(sizes_b.end(), {1, size(b, d)});
        result.push_back(size(a, d) * size(b, d));
    }
    const NodeValue left = reshape(builder, a, sizes_a), right = reshape(builder, b, sizes_b);
    return {reshape(builder, builder.call("aten.mul.Tensor", {arg(left), arg(right)}), result).ref};
}

// ---- samples ----

using samples::t;

Sample pair(DType dtype, const Sizes& a, const Sizes& b, const ArgList& rest = {}) {
    Sample sample{to_string(a) + " and " + to_string(b),
                  {samples::random(dtype, a, 1), samples::random(dtype, b, 2)},
                  {t(0), t(1)}};
    sample.args.insert(sample.args.end(), rest.begin(), rest.end());
    return sample;
}

std::vector<Sample> sample_matmul(DType dtype) {
    std::vector<Sample> result;
    const std::pair<Sizes, Sizes> shapes[] = {{{4}, {4}},
                                              {{3, 4}, {4}},
                                              {{4}, {4, 5}},
                                              {{3, 4}, {4, 5}},
                                              {{2, 3, 4}, {4}},
                                              {{2, 3, 4}, {4, 5}},
                                              {{4}, {2, 4, 5}},
                                              {{3, 4}, {2, 4, 5}},
                                              {{2, 3, 4}, {2, 4, 5}},
                                              {{1, 3, 4}, {2, 4, 5}},
                                              {{2, 1, 3, 4}, {3, 4, 2}},
                                              {{2, 2, 3, 4}, {2, 2, 4, 1}},
                                              {{0, 3, 4}, {4, 5}},
                                              {{2, 3, 0}, {2, 0, 5}},
                                              {{3, 0}, {0, 2}},
                                              {{0}, {0}}};
    for (const auto& [a, b] : shapes) result.push_back(pair(dtype, a, b));
    const auto left = samples::layouts(samples::random(dtype, {2, 3, 4}, 3));
    const auto right = samples::layouts(samples::random(dtype, {2, 4, 5}, 4));
    for (std::size_t i = 0; i < left.size(); i++)
        result.push_back({left[i].first + " times its opposite",
                          {left[i].second, right[right.size() - 1 - i].second},
                          {t(0), t(1)}});
    return result;
}

std::vector<Sample> sample_linear(DType dtype) {
    std::vector<Sample> result = {pair(dtype, {3, 4}, {5, 4}), pair(dtype, {4}, {5, 4}), pair(dtype, {2, 3, 4}, {5, 4}),
                                  pair(dtype, {2, 0, 4}, {5, 4}), pair(dtype, {3, 0}, {2, 0})};
    for (const Sizes& input : {Sizes{3, 4}, Sizes{4}, Sizes{2, 1, 3, 4}, Sizes{0, 4}}) {
        Sample sample = pair(dtype, input, {5, 4}, {t(2)});
        sample.label += ", bias";
        sample.tensors.push_back(samples::random(dtype, {5}, 3));
        result.push_back(std::move(sample));
    }
    for (const auto& [label, weight] : samples::layouts(samples::random(dtype, {5, 4}, 4)))
        result.push_back({"weight " + label,
                          {samples::transposed(samples::random(dtype, {3, 4})), weight, samples::random(dtype, {5})},
                          {t(0), t(1), t(2)}});
    return result;
}

std::vector<Sample> sample_outer(DType dtype) {
    return {
        pair(dtype, {3}, {4}),
        pair(dtype, {0}, {2}),
        pair(dtype, {1}, {1}),
        {"negative stride", {samples::negative(samples::random(dtype, {3})), samples::special(dtype)}, {t(0), t(1)}}};
}

std::vector<Sample> sample_tensordot(DType dtype) {
    const auto dims = [](const Sizes& a, const Sizes& b) { return ArgList{Arg::ints(a), Arg::ints(b)}; };
    return {pair(dtype, {3, 4}, {4, 5}, dims({1}, {0})), pair(dtype, {2, 3, 4}, {4, 5, 3}, dims({1, -1}, {-1, 0})),
            pair(dtype, {2, 3}, {2, 2}, dims({}, {})), pair(dtype, {3, 4}, {3, 4}, dims({0, 1}, {0, 1})),
            pair(dtype, {2, 0}, {0, 3}, dims({1}, {0}))};
}

std::vector<Sample> sample_kron(DType dtype) {
    return {pair(dtype, {2, 3}, {3, 2}), pair(dtype, {2}, {2, 1, 3}), pair(dtype, {}, {2, 2}), pair(dtype, {0}, {2})};
}

constexpr OpDef kOps[] = {
    {.name = "aten.matmul.default",
     .doc = "Product of tensors of any rank, batches broadcast; pytorch.org/docs/stable/generated/torch.matmul.html",
     .schema = "matmul(Tensor self, Tensor other) -> Tensor",
     .dtypes = kNumbers,
     .eval = eval_matmul,
     .decompose = decompose_matmul,
     .samples = sample_matmul},
    {.name = "aten.linear.default",
     .doc = "input weight^T + bias; pytorch.org/docs/stable/generated/torch.nn.functional.linear.html",
     .schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
     .dtypes = kNumbers,
     .eval = eval_linear,
     .decompose = decompose_linear,
     .samples = sample_linear},
    {.name = "aten.outer.default",
     .doc = "Products of all pairs of two vectors; pytorch.org/docs/stable/generated/torch.outer.html",
     .schema = "outer(Tensor self, Tensor vec2) -> Tensor",
     .decompose = decompose_outer,
     .samples = sample_outer},
    {.name = "aten.tensordot.default",
     .doc = "Sum of products over given dimensions; pytorch.org/docs/stable/generated/torch.tensordot.html",
     .schema = "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
     .dtypes = kNumbers,
     .decompose = decompose_tensordot,
     .samples = sample_tensordot},
    {.name = "aten.kron.default",
     .doc = "Kronecker product; pytorch.org/docs/stable/generated/torch.kron.html",
     .schema = "kron(Tensor self, Tensor other) -> Tensor",
     .decompose = decompose_kron,
     .samples = sample_kron},
};

}  // namespace

std::span<const OpDef> linear_ops() { return kOps; }

}  // namespace whittle
