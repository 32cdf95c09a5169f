// Products of tensors of any rank, as compositions of mm, bmm, mv, dot and mul.
// Definitions: https://pytorch.org/docs/stable/generated/torch.matmul.html and its neighbours
#include <algorithm>

#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

V expand_to(const V& value, const Sizes& sizes) {
    if (value.sizes() == sizes) return value;
    return expand(value, sizes);
}

V in_order(const V& value, const Sizes& dims) { return std::ranges::is_sorted(dims) ? value : permute(value, dims); }

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

CallResults decompose_matmul(const Call& c) {
    const V a = c.tensor("self"), b = c.tensor("other");
    const MatmulShape shape = matmul_shape("matmul", a.meta, b.meta);
    if (a.rank() == 1 && b.rank() == 1) return dot(a, b);
    if (a.rank() == 2 && b.rank() == 1) return mv(a, b);
    const std::int64_t batch = element_count(shape.batch);
    V product;
    if (b.rank() <= 2) {  // all rows at once
        const V rows = reshaped(a, {batch * shape.m, shape.k});
        product = b.rank() == 1 ? mv(rows, b) : mm(rows, b);
    } else {
        const V matrix_a = a.rank() == 1 ? reshaped(a, {1, shape.k}) : a;
        const V all_a = expand_to(matrix_a, joined(shape.batch, {shape.m, shape.k}));
        const V all_b = expand_to(b, joined(shape.batch, {shape.k, shape.n}));
        product = bmm(reshaped(all_a, {batch, shape.m, shape.k}), reshaped(all_b, {batch, shape.k, shape.n}));
    }
    return reshaped(product, shape.result);
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

LinearShape linear_shape(const AnyArguments auto& args) {
    std::optional<ValueMeta> bias;
    if (const auto given = args.optional_tensor("bias")) bias = meta_of(*given);
    return linear_shape(meta_of(args.tensor("input")), meta_of(args.tensor("weight")), bias);
}

CallResults decompose_linear(const Call& c) {
    const LinearShape shape = linear_shape(c);
    const V rows = reshaped(c.tensor("input"), {shape.rows, shape.k});
    const V weight = t(c.tensor("weight"));
    const auto bias = c.optional_tensor("bias");
    const V product = bias ? addmm(*bias, rows, weight) : mm(rows, weight);
    return reshaped(product, shape.result);
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

CallResults decompose_outer(const Call& c) {
    const V a = c.tensor("self"), b = c.tensor("vec2");
    if (a.rank() != 1 || b.rank() != 1)
        throw Error("outer: found operands of sizes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) +
                    ", expected two vectors");
    return reshaped(a, {a.sizes()[0], 1}) * b;
}

/// The dimensions of a value that are not in `dims`, in order.
Sizes other_dims(const V& value, const Sizes& dims) {
    Sizes result;
    for (std::int64_t d = 0; d < value.rank(); d++)
        if (std::ranges::find(dims, d) == dims.end()) result.push_back(d);
    return result;
}

Sizes sizes_of(const V& value, const Sizes& dims) {
    Sizes result;
    for (const std::int64_t d : dims) result.push_back(value.sizes()[static_cast<std::size_t>(d)]);
    return result;
}

CallResults decompose_tensordot(const Call& c) {
    const V a = c.tensor("self"), b = c.tensor("other");
    Sizes dims_a = c.integers("dims_self"), dims_b = c.integers("dims_other");
    for (std::int64_t& d : dims_a) d = wrap_dim(d, a.rank());
    for (std::int64_t& d : dims_b) d = wrap_dim(d, b.rank());
    const Sizes free_a = other_dims(a, dims_a), free_b = other_dims(b, dims_b);
    if (sizes_of(a, dims_a) != sizes_of(b, dims_b) || free_a.size() + dims_a.size() != a.sizes().size() ||
        free_b.size() + dims_b.size() != b.sizes().size())
        throw Error(
            "tensordot: found operands of sizes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) +
            " with dims_self=" + to_string(dims_a) + " and dims_other=" + to_string(dims_b) +
            ", expected as many entries in dims_self as in dims_other, no dimension twice, and equal sizes in the "
            "dimensions of each pair");
    const Sizes sizes_a = sizes_of(a, free_a), sizes_b = sizes_of(b, free_b);
    const std::int64_t m = element_count(sizes_a), n = element_count(sizes_b), k = element_count(sizes_of(a, dims_a));
    const V left = reshaped(in_order(a, joined(free_a, dims_a)), {m, k});
    const V right = reshaped(in_order(b, joined(dims_b, free_b)), {k, n});
    const V product = mm(left, right);
    return reshaped(product, joined(sizes_a, sizes_b));
}

/// Every element of self times all of other: self's dimensions step over whole copies of other's.
CallResults decompose_kron(const Call& c) {
    const V a = c.tensor("self"), b = c.tensor("other");
    const std::size_t dims = std::max(a.sizes().size(), b.sizes().size());
    const auto size = [&](const V& value, std::size_t d) {
        const std::size_t missing = dims - value.sizes().size();
        return d < missing ? 1 : value.sizes()[d - missing];
    };
    Sizes sizes_a, sizes_b, result;
    for (std::size_t d = 0; d < dims; d++) {
        sizes_a.insert(sizes_a.end(), {size(a, d), 1});
        sizes_b.insert(sizes_b.end(), {1, size(b, d)});
        result.push_back(size(a, d) * size(b, d));
    }
    const V left = reshaped(a, sizes_a), right = reshaped(b, sizes_b);
    return reshaped(left * right, result);
}

// ---- addr, addbmm: beta self + alpha (a product) ----

/// beta self + alpha product, where factors of 1 are left out and a beta of 0 ignores self, NaN and all.
V scaled_sum(const Call& args, const V& product) {
    const V self = args.tensor("self");
    const Scalar beta = args.scalar("beta"), alpha = args.scalar("alpha");
    if (beta.to_double() == 0) return expand_to(scaled(product, alpha), product.sizes());
    return scaled(self, beta) + scaled(product, alpha);
}

CallResults decompose_addr(const Call& c) { return scaled_sum(c, outer(c.tensor("vec1"), c.tensor("vec2"))); }

/// The batch's products are one: that of all columns by all rows.
CallResults decompose_addbmm(const Call& c) {
    const V products = bmm(c.tensor("batch1"), c.tensor("batch2"));
    return scaled_sum(c, sum(products, Ints{0}, false, products.dtype()));
}

// ---- trace, linalg_cross ----

CallResults decompose_trace(const Call& c) {
    const V self = c.tensor("self");
    if (self.rank() != 2)
        throw Error("trace: found an operand of sizes " + to_string(self.sizes()) + ", expected a matrix");
    return sum(diagonal(self));
}

/// a x b = roll(a, -1) roll(b, -2) - roll(a, -2) roll(b, -1) along a dimension of 3
CallResults decompose_cross(const Call& c) {
    V a = c.tensor("self"), b = c.tensor("other");
    if (a.rank() != b.rank())
        throw Error("linalg_cross: found operands of sizes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) +
                    ", expected equal ranks");
    const Sizes sizes = broadcast_sizes(a.sizes(), b.sizes());
    const std::int64_t dim = wrap_dim(c.integer("dim"), a.rank());
    for (const V& operand : {a, b})
        if (operand.rank() == 0 || operand.sizes()[static_cast<std::size_t>(dim)] != 3)
            throw Error("linalg_cross: found an operand of sizes " + to_string(operand.sizes()) +
                        ", expected 3 elements in dimension " + std::to_string(dim));
    a = expand_to(a, sizes), b = expand_to(b, sizes);
    const auto rolled = [&](const V& value, std::int64_t by) { return roll(value, Ints{by}, Ints{dim}); };
    const V left = rolled(a, -1) * rolled(b, -2);
    const V right = rolled(a, -2) * rolled(b, -1);
    return left - right;
}

/// The sum of i1 * i2 * i3 over `sumdim`, each with dimensions of size 1 put in first, which count in the result.
CallResults decompose_trilinear(const Call& c) {
    const auto wide = [&](const char* name, const char* dims) {
        V x = c.tensor(name);
        std::vector<std::int64_t> added = c.integers(dims);
        const std::int64_t whole = x.rank() + static_cast<std::int64_t>(added.size());
        for (std::int64_t& dim : added) dim = wrap_dim(dim, whole);
        std::ranges::sort(added);
        if (std::ranges::adjacent_find(added) != added.end())
            throw Error("_trilinear: found " + std::string(dims) + "=" + to_string(c.integers(dims)) +
                        ", expected each dimension at most once");
        for (const std::int64_t dim : added) x = unsqueeze(x, dim);
        return x;
    };
    const V first = wide("i1", "expand1") * wide("i2", "expand2");
    const V product = first * wide("i3", "expand3");
    const std::vector<std::int64_t> summed = c.integers("sumdim");
    if (summed.empty()) return product;
    return sum(product, summed);
}

constexpr OpDef kLinearOps[] = {
    composite("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              "beta self + alpha (vec1 outer vec2)", kNumbers | kComplex, decompose_addr),
    composite("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              "beta self + alpha (the sum of the batch's products)", kNumbers | kComplex, decompose_addbmm),
    composite("trace(Tensor self) -> Tensor", "the sum of the diagonal", kAnyDType | kComplex, decompose_trace),
    composite("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
              "cross product; pytorch.org/docs/stable/generated/torch.linalg.cross.html", kNumbers | kComplex,
              decompose_cross),
    composite("matmul(Tensor self, Tensor other) -> Tensor", "Product of tensors of any rank, batches broadcast",
              kNumbers | kComplex, decompose_matmul, {.eval = eval_matmul}),
    composite("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
              "input weight^T + bias; pytorch.org/docs/stable/generated/torch.nn.functional.linear.html",
              kNumbers | kComplex, decompose_linear, {.eval = eval_linear}),
    composite("outer(Tensor self, Tensor vec2) -> Tensor", "Products of all pairs of two vectors", kAnyDType | kComplex,
              decompose_outer),
    composite("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
              "Sum of products over given dimensions", kNumbers | kComplex, decompose_tensordot),
    composite("kron(Tensor self, Tensor other) -> Tensor", "Kronecker product", kAnyDType | kComplex, decompose_kron),
    composite(
        "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int "
        "unroll_dim=1) -> Tensor",
        "summed products of three tensors, for bilinear(); pytorch.org/docs/stable/generated/torch.nn.Bilinear.html",
        kFloating, decompose_trilinear),
};

}  // namespace

std::span<const OpDef> linear_ops() { return kLinearOps; }

}  // namespace whittle
