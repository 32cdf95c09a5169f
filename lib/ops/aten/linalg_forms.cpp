// Composites of linear algebra: the names that programs call for what linalg.cpp and factorization.cpp compute.
// Definitions: https://pytorch.org/docs/stable/linalg.html and
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/LinearAlgebra.cpp for corners.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/geometry.h"
#include "tensor/shape.h"

namespace whittle::linalg_forms {
namespace {

using namespace aten;

constexpr DTypeSet kReal = set_of(DType::f64) | set_of(DType::f32);
constexpr DTypeSet kMatrices = kReal | set_of(DType::c64) | set_of(DType::c128);

// --- Determinants, equations ---

/// NaN for a negative determinant.
CallResults decompose_logdet(const Call& c) {
    const std::array<V, 4> all = _linalg_slogdet(c.tensor("self"));
    if (is_complex(all[0].dtype())) return log(all[0]) + all[1];
    return where(eq(all[0], -1), std::nan(""), all[1]);
}

CallResults decompose_solve_ex(const Call& c) {
    const std::array<V, 4> all = _linalg_solve_ex(c.tensor("A"), c.tensor("B"), c.boolean("left"));
    return {all[0], all[3]};
}

// --- Factors ---

CallResults decompose_linalg_eigvalsh(const Call& c) {
    return _linalg_eigh(c.tensor("self"), c.text("UPLO"), false)[0];
}
CallResults decompose_linalg_svd(const Call& c) { return _linalg_svd(c.tensor("A"), c.boolean("full_matrices")); }
CallResults decompose_linalg_svdvals(const Call& c) { return _linalg_svd(c.tensor("A"), false, false)[1]; }
CallResults decompose_qr(const Call& c) {
    return linalg_qr(c.tensor("self"), c.boolean("some") ? "reduced" : "complete");
}

/// V is no V^H; without vectors there are matrices of zeros.
CallResults decompose_svd(const Call& c) {
    const V x = c.tensor("self");
    const std::array<V, 3> all = _linalg_svd(x, !c.boolean("some"), c.boolean("compute_uv"));
    if (c.boolean("compute_uv")) return {all[0], all[1], conjugate(transpose(all[2], -2, -1))};
    const auto none = [&](std::int64_t n) {
        Sizes sizes = x.sizes();
        sizes.at(sizes.size() - 1) = sizes.at(sizes.size() - 2) = n;
        return zeros(c.builder(), sizes, x.dtype());
    };
    return {none(x.size(-2)), all[1], transpose(none(x.size(-1)), -2, -1)};
}

/// Of one triangle, which may be transposed, and the matrix itself.
CallResults decompose_triangular_solve(const Call& c) {
    const V a = c.tensor("A");
    const bool turn = c.boolean("transpose"), upper = c.boolean("upper");
    const V solution = linalg_solve_triangular(turn ? transpose(a, -2, -1) : a, c.tensor("self"), upper != turn, true,
                                               c.boolean("unitriangular"));
    Sizes sizes = solution.sizes();
    sizes.back() = a.size(-1);
    return {solution, own_copy(expand(a, sizes))};
}

// --- Tensors as matrices ---

Sizes part(const Sizes& sizes, std::int64_t from, std::int64_t to) {
    return {sizes.begin() + from, sizes.begin() + to};
}

/// The first `ind` dimensions are rows, the others columns.
CallResults decompose_tensorinv(const Call& c) {
    const V x = c.tensor("self");
    const std::int64_t ind = c.integer("ind"), rank = x.rank();
    const auto fail = [&] {
        throw Error("linalg_tensorinv: found sizes " + to_string(x.sizes()) + " and ind=" + std::to_string(ind) +
                    ", expected ind of at least 1, and equal numbers of elements along the first ind dimensions and "
                    "along the other dimensions");
    };
    if (ind < 1 || ind > rank) fail();
    const Sizes rows = part(x.sizes(), 0, ind), columns = part(x.sizes(), ind, rank);
    const std::int64_t n = element_count(rows);
    if (element_count(columns) != n) fail();
    Sizes sizes = columns;
    sizes.insert(sizes.end(), rows.begin(), rows.end());
    return reshape(linalg_inv_ex(reshape(x, Ints{n, n}))[0], sizes);
}

/// `dims` of a move behind the others; the first ones, as many as b has, are rows.
CallResults decompose_tensorsolve(const Call& c) {
    V a = c.tensor("self");
    const V b = c.tensor("other");
    if (const auto dims = c.optional_integers("dims")) {
        Ints last;
        for (std::int64_t d = -static_cast<std::int64_t>(dims->size()); d < 0; ++d) last.push_back(d);
        a = movedim(a, *dims, last);
    }
    const std::int64_t n = element_count(b.sizes());
    if (a.rank() < b.rank() || element_count(a.sizes()) != (Checked(n) * n).value())
        throw Error("linalg_tensorsolve: found sizes " + to_string(a.sizes()) + " and a right-hand side of sizes " +
                    to_string(b.sizes()) +
                    ", expected N*N elements in the tensor for N elements in the right-hand side");
    const V x = _linalg_solve_ex(reshape(a, Ints{n, n}), reshape(b, Ints{n}))[0];
    return reshape(x, part(a.sizes(), b.rank(), a.rank()));
}

// --- Powers and products ---

V identity_like(const V& x) {
    const V one = eye(*x.builder, x.size(-1), x.dtype());
    return x.rank() == 2 ? one : own_copy(expand(one, x.sizes()));
}
V inverse_of(const V& x) { return linalg_inv_ex(x)[0]; }

/// By squaring, as ATen does.
V matrix_power_of(const Call& c) {
    const V x = c.tensor("self");
    const std::int64_t n = c.integer("n");
    if (x.rank() < 2 || x.size(-1) != x.size(-2))
        throw Error(c.schema().name + ": found a tensor of sizes " + to_string(x.sizes()) +
                    ", expected square matrices");
    if (n == 0) return identity_like(x);
    const V base = n < 0 ? inverse_of(x) : x;
    OptionalV result;
    V power = base;
    for (std::uint64_t left = n < 0 ? -static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n); left > 0;) {
        if (left & 1) result = result ? matmul(*result, power) : power;
        if ((left >>= 1) > 0) power = matmul(power, power);
    }
    return n == 1 ? own_copy(*result) : *result;
}
CallResults decompose_matrix_power(const Call& c) { return matrix_power_of(c); }

/// From left to right; ATen chooses the order that takes least.
CallResults decompose_multi_dot(const Call& c) {
    const Vs tensors = c.tensors(c.schema().params.front().name);
    if (tensors.empty()) throw Error(c.schema().name + ": found no tensors, expected at least 1");
    V product = tensors[0];
    for (std::size_t i = 1; i < tensors.size(); ++i) product = matmul(product, tensors[i]);
    return tensors.size() == 1 ? alias(product) : product;
}

CallResults decompose_inner(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("other");
    return x.rank() == 0 || y.rank() == 0 ? x * y : tensordot(x, y, Ints{-1}, Ints{-1});
}
CallResults decompose_int_mm(const Call& c) {
    const V x = to(c.tensor("self"), DType::i32), y = to(c.tensor("mat2"), DType::i32);
    return mm(x, y);
}
CallResults decompose_vecdot(const Call& c) {
    return sum(conjugate(c.tensor("x")) * c.tensor("y"), Ints{c.integer("dim")});
}
CallResults decompose_vdot(const Call& c) { return dot(conjugate(c.tensor("self")), c.tensor("other")); }

/// Along the first dimension of size 3 where none is named.
CallResults decompose_cross(const Call& c) {
    const V x = c.tensor("self");
    if (const auto dim = c.optional_integer("dim")) return linalg_cross(x, c.tensor("other"), *dim);
    for (std::int64_t dim = 0; dim < x.rank(); ++dim)
        if (x.size(dim) == 3) return linalg_cross(x, c.tensor("other"), dim);
    throw Error("cross: found a tensor of sizes " + to_string(x.sizes()) + ", expected a dimension of size 3");
}

/// x A y for each of A's matrices, and a bias.
CallResults decompose_bilinear(const Call& c) {
    const V x = c.tensor("input1"), y = c.tensor("input2"), weight = c.tensor("weight");
    if (x.rank() == 0 || y.rank() == 0 || weight.rank() != 3)
        throw Error("bilinear: found operands of " + std::to_string(x.rank()) + " and " + std::to_string(y.rank()) +
                    " dimensions and a weight of " + std::to_string(weight.rank()) +
                    " dimensions, expected operands of at least 1 dimension and a weight of 3 dimensions");
    Sizes sizes = x.sizes();
    sizes.back() = weight.size(0);
    const V flat = _trilinear(reshape(x, Ints{-1, x.size(-1)}), weight, reshape(y, Ints{-1, y.size(-1)}), Ints{1, 3},
                              Ints{0}, Ints{1, 2}, Ints{2, 3});
    const V result = reshaped(flat, sizes);
    const OptionalV bias = c.optional_tensor("bias");
    return bias ? result + *bias : result;
}

// --- Norms ---

V as_given(const Call& c, const V& x) {
    const auto dtype = c.schema().param("dtype") ? c.dtype("dtype") : std::nullopt;
    return dtype ? as(x, *dtype) : x;
}

/// Of matrices that lie along two dimensions, which come last.
V last_dims(const V& x, const Ints& dims) {
    Ints order;
    for (std::int64_t d = 0; d < x.rank(); ++d)
        if (d != dims[0] && d != dims[1]) order.push_back(d);
    order.insert(order.end(), dims.begin(), dims.end());
    return permute(x, order);
}
V keeping(const V& norm, const Ints& dims, bool keep) {
    if (!keep) return norm;
    return unsqueeze(unsqueeze(norm, std::min(dims[0], dims[1])), std::max(dims[0], dims[1]));
}

Ints two_dims(const Call& c, const V& x, const Ints& given) {
    if (given.size() != 2)
        throw Error(c.schema().name + ": found dim=" + to_string(given) + ", expected two dimensions");
    const Ints dims = wrap_dims(given, x.rank(), c.schema().name);
    return dims;
}

/// 1 and infinity: the largest sum of magnitudes of a column, of a row; negative ones the least. 2: the largest
/// singular value.
V matrix_norm(const Call& c, const V& given, double ord, const Ints& at, bool keep) {
    const V x = as_given(c, given);
    const Ints dims = two_dims(c, x, at);
    const double kind = std::fabs(ord);
    if (kind == 2) {
        const V values = _linalg_svd(last_dims(x, dims), false, false)[1];
        return keeping(ord > 0 ? amax(values, Ints{-1}) : amin(values, Ints{-1}), dims, keep);
    }
    if (kind != 1 && !std::isinf(kind))
        throw Error(c.schema().name + ": found ord=" + std::to_string(ord) + ", expected 1, -1, 2, -2, inf or -inf");
    const std::int64_t summed_dim = dims[kind == 1 ? 0 : 1], other = dims[kind == 1 ? 1 : 0];
    const V sums = linalg_vector_norm(x, 1, Ints{summed_dim}, true);
    const V best = ord > 0 ? amax(sums, Ints{other}, true) : amin(sums, Ints{other}, true);
    return keep ? best : squeeze(best, dims);
}
V matrix_norm_by_name(const Call& c, const V& given, const std::string& ord, const Ints& at, bool keep) {
    const V x = as_given(c, given);
    const Ints dims = two_dims(c, x, at);
    if (ord == "fro") return linalg_vector_norm(x, 2, dims, keep);
    if (ord != "nuc") throw Error(c.schema().name + ": found ord='" + ord + "', expected 'fro' or 'nuc'");
    return keeping(sum(_linalg_svd(last_dims(x, dims), false, false)[1], Ints{-1}), dims, keep);
}

CallResults decompose_matrix_norm(const Call& c) {
    return matrix_norm(c, c.tensor("self"), c.number("ord"), c.integers("dim"), c.boolean("keepdim"));
}
CallResults decompose_matrix_norm_by_name(const Call& c) {
    return matrix_norm_by_name(c, c.tensor("self"), c.text("ord"), c.integers("dim"), c.boolean("keepdim"));
}

/// Of matrices where an order is given and there are two dimensions, else of vectors; of all elements without either.
CallResults decompose_linalg_norm(const Call& c) {
    const V x = c.tensor("self");
    const auto dims = c.optional_integers("dim");
    const auto ord = c.optional_scalar("ord");
    const bool keep = c.boolean("keepdim");
    const bool matrices = ord && (dims ? dims->size() == 2 : x.rank() == 2);
    if (matrices) return matrix_norm(c, x, ord->to_double(), dims.value_or(Ints{0, 1}), keep);
    return linalg_vector_norm(x, ord.value_or(Scalar(2)), dims, keep, c.dtype("dtype"));
}
CallResults decompose_linalg_norm_by_name(const Call& c) {
    const auto dims = c.optional_integers("dim");
    return matrix_norm_by_name(c, c.tensor("self"), c.text("ord"), dims.value_or(Ints{0, 1}), c.boolean("keepdim"));
}
CallResults decompose_norm_of_dtype(const Call& c) {
    const auto p = c.optional_scalar("p");
    const bool dims = c.schema().param("dim") != nullptr;
    return linalg_vector_norm(c.tensor("self"), p.value_or(Scalar(2)),
                              dims ? std::optional(c.integers("dim")) : std::nullopt, dims && c.boolean("keepdim"),
                              c.dtype("dtype"));
}
CallResults decompose_frobenius(const Call& c) {
    return linalg_vector_norm(c.tensor("self"), 2, c.integers("dim"), c.boolean("keepdim"));
}
CallResults decompose_frobenius_of_all(const Call& c) { return linalg_vector_norm(c.tensor("self")); }
CallResults decompose_nuclear(const Call& c) {
    return matrix_norm_by_name(c, c.tensor("self"), "nuc", Ints{0, 1}, c.boolean("keepdim"));
}
CallResults decompose_nuclear_along(const Call& c) {
    return matrix_norm_by_name(c, c.tensor("self"), "nuc", c.integers("dim"), c.boolean("keepdim"));
}
CallResults decompose_dist(const Call& c) { return norm(c.tensor("self") - c.tensor("other"), c.scalar("p")); }

/// Of each index of one dimension, as sizes that broadcast; of everything for -1.
V norm_except(const V& v, const Scalar& p, std::int64_t dim) {
    if (dim < -1 || dim >= v.rank())
        throw Error("norm_except_dim: found dim=" + std::to_string(dim) + " for a tensor of " +
                    std::to_string(v.rank()) + " dimensions, expected -1 or one of these dimensions");
    if (dim == -1) return norm(v, p);
    Ints others;
    for (std::int64_t d = 0; d < v.rank(); ++d)
        if (d != dim) others.push_back(d);
    return norm(v, p, others, true);
}
CallResults decompose_norm_except_dim(const Call& c) {
    return norm_except(c.tensor("v"), c.integer("pow"), c.integer("dim"));
}
CallResults decompose_weight_norm(const Call& c) {
    const V v = c.tensor("v"), g = c.tensor("g");
    const std::int64_t dim = c.integer("dim");
    if (!is_reduced(v.dtype()) && (dim == 0 || dim == v.rank() - 1))
        return _weight_norm_interface(contiguous(v), contiguous(g), dim)[0];
    return v * (g / norm_except(v, 2, dim));
}

constexpr OpDef kLinalgForms[] = {
    composite("logdet(Tensor self) -> Tensor", "the logarithm of the determinant", kMatrices, decompose_logdet),
    composite("linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
              "Tensor info)",
              "the solution X of A X = B, and the position of a zero pivot", kMatrices, decompose_solve_ex),
    composite("linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor", "eigenvalues, ascending", kMatrices,
              decompose_linalg_eigvalsh),
    composite("linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
              "singular values, descending, and vectors", kMatrices, decompose_linalg_svd),
    composite("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", "singular values, descending", kMatrices,
              decompose_linalg_svdvals),
    composite("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
              "QR decomposition into an orthogonal and an upper triangular matrix", kMatrices, decompose_qr),
    composite("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
              "singular values, descending, and vectors", kMatrices, decompose_svd),
    composite("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
              "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
              "the solution X of A X = self for a triangular A, and a copy of A", kMatrices,
              decompose_triangular_solve),
    composite("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", "the inverse of a tensor as a matrix", kMatrices,
              decompose_tensorinv),
    composite("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
              "the solution X of tensordot(self, X) = other", kMatrices, decompose_tensorsolve),
    composite("{|linalg_}matrix_power(Tensor self, int n) -> Tensor", "an integer power of a matrix", kMatrices,
              decompose_matrix_power),
    composite("linalg_multi_dot(Tensor[] tensors) -> Tensor", "the product of matrices", kMatrices,
              decompose_multi_dot),
    composite("chain_matmul(Tensor[] matrices) -> Tensor", "the product of matrices", kMatrices, decompose_multi_dot),
    composite("inner(Tensor self, Tensor other) -> Tensor", "sums of products along the last dimensions", kMatrices,
              decompose_inner),
    composite("_int_mm(Tensor self, Tensor mat2) -> Tensor", "the product of matrices of i8, in i32", set_of(DType::i8),
              decompose_int_mm, no_gradient),
    composite("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "sums of products along a dimension",
              kMatrices, decompose_vecdot),
    composite("vdot(Tensor self, Tensor other) -> Tensor", "the sum of products with the conjugate of the first vector",
              kMatrices, decompose_vdot),
    composite("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", "cross products", kMatrices,
              decompose_cross),
    composite("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
              "input1 * weight * input2 + bias", kFloating, decompose_bilinear),
    composite("linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? "
              "dtype=None) -> Tensor",
              "norms of matrices", kReal, decompose_matrix_norm),
    composite("linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, "
              "ScalarType? dtype=None) -> Tensor",
              "norms of matrices, where the norm is given by name", kReal, decompose_matrix_norm_by_name),
    composite("linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
              "dtype=None) -> Tensor",
              "norms of vectors or matrices", kReal, decompose_linalg_norm),
    composite("linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
              "dtype=None) -> Tensor",
              "norms of matrices, where the norm is given by name", kReal, decompose_linalg_norm_by_name),
    composite("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", "the p-norm, in a dtype",
              kFloating, decompose_norm_of_dtype),
    composite(
        "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
        "p-norms along dimensions, in a dtype", kFloating, decompose_norm_of_dtype),
    composite("frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
              "the root of the sum of squares", kFloating, decompose_frobenius),
    composite("frobenius_norm(Tensor self) -> Tensor", "the root of the sum of all squares", kFloating,
              decompose_frobenius_of_all),
    composite("nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", "the sum of the singular values", kReal,
              decompose_nuclear),
    composite("nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", "sums of singular values",
              kReal, decompose_nuclear_along),
    composite("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", "the p-norm of the difference", kFloating,
              decompose_dist),
    composite("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", "the norm of each slice along a dimension",
              kFloating, decompose_norm_except_dim),
    composite("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", "v * g / norm(v)", kFloating,
              decompose_weight_norm),
};

}  // namespace
}  // namespace whittle::linalg_forms

namespace whittle {

std::span<const OpDef> linalg_form_ops() { return linalg_forms::kLinalgForms; }

}  // namespace whittle
