// Products of tensors of any rank, as compositions of mm, bmm, mv, dot and mul.
// Definitions: https://pytorch.org/docs/stable/generated/torch.matmul.html and its neighbours
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/aten/families.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

NodeValue reshape(GraphBuilder& builder, const NodeValue& value, const Sizes& sizes) {
    if (value.meta.sizes == sizes) return value;
    return builder.call("aten.reshape.default", {arg(value), Arg::ints(sizes)});
}

NodeValue expand_to(GraphBuilder& builder, const NodeValue& value, const Sizes& sizes) {
    if (value.meta.sizes == sizes) return value;
    return builder.call("aten.expand.default", {arg(value), Arg::ints(sizes)});
}

NodeValue permute(GraphBuilder& builder, const NodeValue& value, const Sizes& dims) {
    if (std::ranges::is_sorted(dims)) return value;
    return builder.call("aten.permute.default", {arg(value), Arg::ints(dims)});
}

Sizes joined_sizes(Sizes a, const Sizes& b) {
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
    if (a.sizes.empty() || b.sizes.empty()) throw Error(found + ", expected operands with at least 1 dimension");
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
    if (rank_of(a) == 1 && rank_of(b) == 1) return {call("aten.dot.default", a, b).ref};
    if (rank_of(a) == 2 && rank_of(b) == 1) return {call("aten.mv.default", a, b).ref};
    const std::int64_t batch = element_count(shape.batch);
    NodeValue product;
    if (rank_of(b) <= 2) {  // all rows at once
        const NodeValue rows = reshape(builder, a, {batch * shape.m, shape.k});
        product = rank_of(b) == 1 ? call("aten.mv.default", rows, b) : call("aten.mm.default", rows, b);
    } else {
        const NodeValue matrix_a = rank_of(a) == 1 ? reshape(builder, a, {1, shape.k}) : a;
        const NodeValue all_a = expand_to(builder, matrix_a, joined_sizes(shape.batch, {shape.m, shape.k}));
        const NodeValue all_b = expand_to(builder, b, joined_sizes(shape.batch, {shape.k, shape.n}));
        product = call("aten.bmm.default", reshape(builder, all_a, {batch, shape.m, shape.k}),
                       reshape(builder, all_b, {batch, shape.k, shape.n}));
    }
    return {reshape(builder, product, shape.result).ref};
}

/// Matrix by matrix under broadcast strides: nothing is expanded or reshaped.
std::vector<Tensor> eval_matmul(const Arguments<Tensor>& args) {
    const Tensor a = args.tensor("self"), b = args.tensor("other");
    const MatmulShape shape = matmul_shape("matmul", meta_of(a), meta_of(b));
    return visit_product(a.dtype(), [&](auto zero) -> std::vector<Tensor> {
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
        throw Error("linear: found input of sizes " + to_string(input.sizes) + " and weight of sizes " +
                    to_string(weight.sizes) + ", expected [..., K] and [N, K]");
    check_same_dtype("linear", input.dtype, "weight", weight.dtype);
    LinearShape shape{1, weight.sizes[1], weight.sizes[0], input.sizes};
    shape.result.pop_back();
    shape.rows = element_count(shape.result);
    shape.result.push_back(shape.n);
    if (!bias) return shape;
    check_same_dtype("linear", input.dtype, "bias", bias->dtype);
    if (!expands_to(bias->sizes, {shape.n}))
        throw Error("linear: found a bias of sizes " + to_string(bias->sizes) + ", expected " +
                    to_string(Sizes{shape.n}));
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
    return visit_product(input.dtype(), [&](auto zero) -> std::vector<Tensor> {
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
    if (rank_of(a) != 1 || rank_of(b) != 1)
        throw Error("outer: found operands of sizes " + to_string(a.meta.sizes) + " and " + to_string(b.meta.sizes) +
                    ", expected two vectors");
    return {builder.call("aten.mul.Tensor", {arg(reshape(builder, a, {a.meta.sizes[0], 1})), arg(b)}).ref};
}

/// The dimensions of a value that are not in `dims`, in order.
Sizes other_dims(const NodeValue& value, const Sizes& dims) {
    Sizes result;
    for (std::int64_t d = 0; d < rank_of(value); d++)
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
    for (std::int64_t& d : dims_a) d = wrap_dim(d, rank_of(a));
    for (std::int64_t& d : dims_b) d = wrap_dim(d, rank_of(b));
    const Sizes free_a = other_dims(a, dims_a), free_b = other_dims(b, dims_b);
    if (sizes_of(a, dims_a) != sizes_of(b, dims_b) || free_a.size() + dims_a.size() != a.meta.sizes.size() ||
        free_b.size() + dims_b.size() != b.meta.sizes.size())
        throw Error("tensordot: found operands of sizes " + to_string(a.meta.sizes) + " and " +
                    to_string(b.meta.sizes) + " with dims_self=" + to_string(dims_a) + " and dims_other=" +
                    to_string(dims_b) + ", expected equal numbers of distinct dimensions, with equal sizes");
    const Sizes sizes_a = sizes_of(a, free_a), sizes_b = sizes_of(b, free_b);
    const std::int64_t m = element_count(sizes_a), n = element_count(sizes_b), k = element_count(sizes_of(a, dims_a));
    const NodeValue left = reshape(builder, permute(builder, a, joined_sizes(free_a, dims_a)), {m, k});
    const NodeValue right = reshape(builder, permute(builder, b, joined_sizes(dims_b, free_b)), {k, n});
    const NodeValue product = builder.call("aten.mm.default", {arg(left), arg(right)});
    return {reshape(builder, product, joined_sizes(sizes_a, sizes_b)).ref};
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

// ---- addr, addbmm: beta self + alpha (a product) ----

/// beta self + alpha product, where factors of 1 are left out and a beta of 0 ignores self, NaN and all.
std::vector<NodeRef> scaled_sum(GraphBuilder& builder, const Arguments<NodeValue>& args, const NodeValue& product) {
    const NodeValue self = args.tensor("self");
    const Scalar beta = args.scalar("beta"), alpha = args.scalar("alpha");
    const auto times = [&](const NodeValue& value, const Scalar& by) {
        return by.to_double() == 1 ? value : builder.call("aten.mul.Scalar", {arg(value), Arg(by)});
    };
    if (beta.to_double() == 0) return {expand_to(builder, times(product, alpha), product.meta.sizes).ref};
    return {builder.call("aten.add.Tensor", {arg(times(self, beta)), arg(times(product, alpha))}).ref};
}

std::vector<NodeRef> decompose_addr(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    return scaled_sum(builder, args,
                      builder.call("aten.outer.default", {arg(args.tensor("vec1")), arg(args.tensor("vec2"))}));
}

/// The batch's products are one: that of all columns by all rows.
std::vector<NodeRef> decompose_addbmm(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const NodeValue products =
        builder.call("aten.bmm.default", {arg(args.tensor("batch1")), arg(args.tensor("batch2"))});
    return scaled_sum(
        builder, args,
        builder.call("aten.sum.dim_IntList", {arg(products), Arg::ints({0})}, {{"dtype", products.meta.dtype}}));
}

// ---- trace, linalg_cross ----

std::vector<NodeRef> decompose_trace(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const NodeValue self = args.tensor("self");
    if (rank_of(self) != 2)
        throw Error("trace: found an operand of sizes " + to_string(self.meta.sizes) + ", expected a matrix");
    return {builder.call("aten.sum.default", {arg(builder.call("aten.diagonal.default", {arg(self)}))}).ref};
}

/// a x b = roll(a, -1) roll(b, -2) - roll(a, -2) roll(b, -1) along a dimension of 3
std::vector<NodeRef> decompose_cross(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    NodeValue a = args.tensor("self"), b = args.tensor("other");
    if (rank_of(a) != rank_of(b))
        throw Error("linalg_cross: found operands of sizes " + to_string(a.meta.sizes) + " and " +
                    to_string(b.meta.sizes) + ", expected equal ranks");
    const Sizes sizes = broadcast_sizes(a.meta.sizes, b.meta.sizes);
    const std::int64_t dim = wrap_dim(args.integer("dim"), rank_of(a));
    for (const NodeValue& operand : {a, b})
        if (rank_of(operand) == 0 || operand.meta.sizes[static_cast<std::size_t>(dim)] != 3)
            throw Error("linalg_cross: found an operand of sizes " + to_string(operand.meta.sizes) +
                        ", expected 3 elements in dimension " + std::to_string(dim));
    a = expand_to(builder, a, sizes), b = expand_to(builder, b, sizes);
    const auto rolled = [&](const NodeValue& value, std::int64_t by) {
        return builder.call("aten.roll.default", {arg(value), Arg::ints({by}), Arg::ints({dim})});
    };
    const NodeValue left = builder.call("aten.mul.Tensor", {arg(rolled(a, -1)), arg(rolled(b, -2))});
    const NodeValue right = builder.call("aten.mul.Tensor", {arg(rolled(a, -2)), arg(rolled(b, -1))});
    return {builder.call("aten.sub.Tensor", {arg(left), arg(right)}).ref};
}

/// The sum of i1 * i2 * i3 over `sumdim`, each with dimensions of size 1 put in first, which count in the result.
std::vector<NodeRef> decompose_trilinear(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const auto wide = [&](const char* name, const char* dims) {
        NodeValue x = args.tensor(name);
        std::vector<std::int64_t> added = args.integers(dims);
        const std::int64_t whole = rank_of(x) + static_cast<std::int64_t>(added.size());
        for (std::int64_t& dim : added) dim = wrap_dim(dim, whole);
        std::ranges::sort(added);
        if (std::ranges::adjacent_find(added) != added.end())
            throw Error("_trilinear: found " + std::string(dims) + "=" + to_string(args.integers(dims)) +
                        ", expected each dimension at most once");
        for (const std::int64_t dim : added) x = builder.call("aten.unsqueeze.default", {arg(x), dim});
        return x;
    };
    const NodeValue first = builder.call("aten.mul.Tensor", {arg(wide("i1", "expand1")), arg(wide("i2", "expand2"))});
    const NodeValue product = builder.call("aten.mul.Tensor", {arg(first), arg(wide("i3", "expand3"))});
    const std::vector<std::int64_t> summed = args.integers("sumdim");
    if (summed.empty()) return {product.ref};
    return {builder.call("aten.sum.dim_IntList", {arg(product), Arg::ints(summed)}).ref};
}

// ---- records ----

constexpr OpDef kLinearOps[] = {
    {.name = "aten.addr.default",
     .doc = "beta self + alpha (vec1 outer vec2); pytorch.org/docs/stable/generated/torch.addr.html",
     .schema = "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     .dtypes = kNumbers | kComplex,
     .decompose = decompose_addr},
    {.name = "aten.addbmm.default",
     .doc = "beta self + alpha (the sum of the batch's products); pytorch.org/docs/stable/generated/torch.addbmm.html",
     .schema = "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     .dtypes = kNumbers | kComplex,
     .decompose = decompose_addbmm},
    {.name = "aten.trace.default",
     .doc = "the sum of the diagonal; pytorch.org/docs/stable/generated/torch.trace.html",
     .schema = "trace(Tensor self) -> Tensor",
     .dtypes = kAnyDType | kComplex,
     .decompose = decompose_trace},
    {.name = "aten.linalg_cross.default",
     .doc = "cross product; pytorch.org/docs/stable/generated/torch.linalg.cross.html",
     .schema = "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
     .dtypes = kNumbers | kComplex,
     .decompose = decompose_cross},
    {.name = "aten.matmul.default",
     .doc = "Product of tensors of any rank, batches broadcast; pytorch.org/docs/stable/generated/torch.matmul.html",
     .schema = "matmul(Tensor self, Tensor other) -> Tensor",
     .dtypes = kNumbers | kComplex,
     .eval = eval_matmul,
     .decompose = decompose_matmul},
    {.name = "aten.linear.default",
     .doc = "input weight^T + bias; pytorch.org/docs/stable/generated/torch.nn.functional.linear.html",
     .schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
     .dtypes = kNumbers | kComplex,
     .eval = eval_linear,
     .decompose = decompose_linear},
    {.name = "aten.outer.default",
     .doc = "Products of all pairs of two vectors; pytorch.org/docs/stable/generated/torch.outer.html",
     .schema = "outer(Tensor self, Tensor vec2) -> Tensor",
     .dtypes = kAnyDType | kComplex,
     .decompose = decompose_outer},
    {.name = "aten.tensordot.default",
     .doc = "Sum of products over given dimensions; pytorch.org/docs/stable/generated/torch.tensordot.html",
     .schema = "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
     .dtypes = kNumbers | kComplex,
     .decompose = decompose_tensordot},
    {.name = "aten.kron.default",
     .doc = "Kronecker product; pytorch.org/docs/stable/generated/torch.kron.html",
     .schema = "kron(Tensor self, Tensor other) -> Tensor",
     .dtypes = kAnyDType | kComplex,
     .decompose = decompose_kron},
    {.name = "aten._trilinear.default",
     .doc =
         "summed products of three tensors, for bilinear(); pytorch.org/docs/stable/generated/torch.nn.Bilinear.html",
     .schema = "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, "
               "int unroll_dim=1) -> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_trilinear},
};

}  // namespace

std::span<const OpDef> linear_ops() { return kLinearOps; }

}  // namespace whittle
