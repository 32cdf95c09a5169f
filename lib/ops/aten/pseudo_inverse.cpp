// Of matrices that may be singular: pseudoinverses, ranks and condition numbers, by singular values; matrix
// exponentials; and matrices of powers. https://pytorch.org/docs/stable/linalg.html
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/matrices.h"

namespace whittle::pseudo_inverse {
namespace {

using namespace aten;

V adjoint(const V& x) { return conjugate(transpose(x, -2, -1)); }

// --- Singular values that count as 0 ---

void require(const Call& c, const V& x) { matrices::require_matrix(c.schema(), x.meta); }

/// Of the sizes, for the dtype of the singular values.
double default_tolerance(const V& x) {
    const bool wide = real_of(x.dtype()) == DType::f64;
    const double epsilon = wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    return epsilon * static_cast<double>(std::max(x.size(-2), x.size(-1)));
}

/// A tolerance as a column for each matrix.
V for_each_matrix(const V& tolerance) { return unsqueeze(tolerance, -1); }

/// The limit up to which singular values (…, descending in the last dimension) are 0: the larger one of an absolute
/// tolerance and a relative one, whose default is 0 beside a positive absolute one.
V limit_of(const Call& c, const V& x, const V& greatest) {
    const double otherwise = default_tolerance(x);
    const bool tensors = c.schema().param("atol") && c.schema().param("atol")->type == ParamType::tensor;
    if (c.schema().param("rcond")) {
        const bool tensor = c.schema().param("rcond")->type == ParamType::tensor;
        return tensor ? for_each_matrix(c.tensor("rcond")) * greatest : greatest * c.number("rcond");
    }
    if (c.schema().param("tol")) {
        if (c.schema().param("tol")->type == ParamType::tensor)
            return for_each_matrix(as(c.tensor("tol"), greatest.dtype())) + zeros_like(greatest);
        return full_like(greatest, c.number("tol"));
    }
    if (!tensors) {
        const double absolute = c.optional_number("atol").value_or(0);
        const double relative = c.optional_number("rtol").value_or(absolute > 0 ? 0 : otherwise);
        return clamp_min(greatest * relative, absolute);
    }
    const OptionalV atol = c.optional_tensor("atol"), rtol = c.optional_tensor("rtol");
    if (!atol) return rtol ? for_each_matrix(*rtol) * greatest : greatest * otherwise;
    const V absolute = for_each_matrix(as(*atol, greatest.dtype()));
    const V relative = rtol ? for_each_matrix(as(*rtol, greatest.dtype()))
                            : masked_fill(full_like(absolute, otherwise), gt(absolute, 0), 0);
    return maximum(absolute, relative * greatest);
}

CallResults decompose_pinv(const Call& c) {
    const V x = c.tensor("self");
    require(c, x);
    if (c.boolean("hermitian")) {
        const std::array<V, 2> factors = _linalg_eigh(x);
        const V sizes = abs(factors[0]), limit = limit_of(c, x, amax(sizes, Ints{-1}, true));
        const V inverses = keep(gt(sizes, limit), reciprocal(factors[0]));
        return matmul(factors[1] * unsqueeze(inverses, -2), adjoint(factors[1]));
    }
    const std::array<V, 3> factors = _linalg_svd(x, false);
    const V limit = limit_of(c, x, slice(factors[1], -1, 0, 1));
    const V inverses = keep(gt(factors[1], limit), reciprocal(factors[1]));
    return matmul(adjoint(factors[2]) * unsqueeze(inverses, -2), adjoint(factors[0]));
}
void pinv_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", matrices::of_pseudo_inverse(c.tensor("self"), c.result(), c.grad()));
}

CallResults decompose_rank(const Call& c) {
    const V x = c.tensor(c.schema().params.front().name);
    require(c, x);
    const V values = c.boolean("hermitian") ? abs(_linalg_eigh(x, "L", false)[0]) : _linalg_svd(x, false, false)[1];
    return sum(gt(values, limit_of(c, x, amax(values, Ints{-1}, true))), Ints{-1});
}

// --- Condition numbers ---

/// The norm of a matrix by that of its inverse; infinite without one. 2, which is the default: by singular values.
CallResults decompose_cond(const Call& c) {
    const V x = c.tensor("self");
    require(c, x);
    const Scalar p = c.optional_scalar("p").value_or(Scalar(2));
    if (std::fabs(p.to_double()) == 2) {
        const V values = _linalg_svd(x, false, false)[1];
        const V greatest = select(values, -1, 0), least = select(values, -1, -1);
        return p.to_double() > 0 ? greatest / least : least / greatest;
    }
    const std::array<V, 2> inverse = linalg_inv_ex(x);
    const V product = linalg_matrix_norm(x, p) * linalg_matrix_norm(inverse[0], p);
    return masked_fill(product, ne(inverse[1], 0), std::numeric_limits<double>::infinity());
}
CallResults decompose_cond_by_name(const Call& c) {
    const V x = c.tensor("self");
    require(c, x);
    const std::string p = c.text("p");
    const std::array<V, 2> inverse = linalg_inv_ex(x);
    const V product = linalg_matrix_norm(x, p) * linalg_matrix_norm(inverse[0], p);
    return masked_fill(product, ne(inverse[1], 0), std::numeric_limits<double>::infinity());
}

// --- Powers ---

/// [1, x, x^2 …] along a new last dimension.
V powers(const V& x, std::int64_t count) {
    const V wide = is_floating(x.dtype()) || is_complex(x.dtype()) ? x : as(x, DType::i64);
    Sizes sizes = x.sizes();
    sizes.push_back(1);
    const V first = ones(*x.builder, sizes, wide.dtype());
    if (count == 1) return first;
    sizes.back() = count - 1;
    return cat(Vs{first, cumprod(expand(unsqueeze(wide, -1), sizes), -1)}, -1);
}
std::int64_t count_of(const Call& c, const V& x, std::int64_t least) {
    const std::int64_t count = c.optional_integer("N").value_or(x.rank() > 0 ? x.size(-1) : 0);
    if (x.rank() < 1 || count < least)
        throw Error(c.schema().name + ": found sizes " + to_string(x.sizes()) + " and N=" + std::to_string(count) +
                    ", expected one dimension or more, and N of at least " + std::to_string(least));
    return count;
}
CallResults decompose_linalg_vander(const Call& c) {
    const V x = c.tensor("x");
    return powers(x, count_of(c, x, 2));
}
CallResults decompose_vander(const Call& c) {
    const V x = c.tensor("x");
    const V rising = powers(x, count_of(c, x, 1));
    return c.boolean("increasing") ? rising : flip(rising, Ints{-1});
}

// --- Exponentials ---

/// The series of a matrix that is halved until its norm is at most 1, then squared as often, which adds up errors.
template <class T>
matrices::Matrix<T> exponential(const matrices::Matrix<T>& x) {
    const double norm = x.cwiseAbs().colwise().sum().maxCoeff();
    if (!std::isfinite(norm)) return matrices::Matrix<T>::Constant(x.rows(), x.cols(), T(std::nan("")));
    const int halvings = norm > 1 ? static_cast<int>(std::ceil(std::log2(norm))) : 0;
    const matrices::Matrix<T> small = x * T(std::ldexp(1.0, -halvings));
    matrices::Matrix<T> sum = matrices::Matrix<T>::Identity(x.rows(), x.cols()), term = sum;
    for (int k = 1; k <= 18; ++k) {
        term = (term * small / T(k)).eval();
        sum += term;
    }
    for (int i = 0; i < halvings; ++i) sum = (sum * sum).eval();
    return sum;
}
std::vector<ValueMeta> infer_exponential(const Arguments<ValueMeta>& a) {
    const ValueMeta x = a.tensor("self");
    matrices::require_square(a.schema(), x);
    return {ValueMeta::contiguous(x.dtype, x.sizes)};
}
std::vector<Tensor> eval_exponential(const Arguments<Tensor>& a) {
    const Tensor x = a.tensor("self");
    return matrices::in_double(x, [&]<class T>(T) -> std::vector<Tensor> {
        matrices::Results<T> results(x.dtype(), x.sizes());
        if (x.numel() > 0)
            matrices::each_matrix<T>(
                x, [&](std::int64_t i, const matrices::Matrix<T>& one) { results.put(i, exponential<T>(one)); });
        return {results.tensor()};
    });
}
/// The exponential of [[A, G], [0, A]] has the derivative in its corner, A being the adjoint and G the gradient.
void exponential_grad(Gradients& c) {
    c.takes_complex();
    const V a = adjoint(c.tensor("self"));
    const std::int64_t n = a.size(-1);
    const V upper = cat(Vs{a, c.grad()}, -1), lower = cat(Vs{zeros_like(a), a}, -1);
    const V whole = linalg_matrix_exp(cat(Vs{upper, lower}, -2));
    c.set("self", slice(slice(whole, -2, 0, n), -1, n, 2 * n));
}

// --- Records ---

constexpr DTypeSet kReal = set_of(DType::f64) | set_of(DType::f32);

constexpr OpDef kOps[] = {
    composite("linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", "the pseudoinverse", kReal,
              decompose_pinv, pinv_grad),
    composite("linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
              "the pseudoinverse", kReal, decompose_pinv, pinv_grad),
    composite(
        "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> "
        "Tensor",
        "the pseudoinverse", kReal, decompose_pinv, pinv_grad),
    composite(
        "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> "
        "Tensor",
        "the pseudoinverse", kReal, decompose_pinv, pinv_grad),
    composite("linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
              "singular values above a limit", kReal, decompose_rank, no_gradient),
    composite("linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
              "singular values above a limit", kReal, decompose_rank, no_gradient),
    composite("linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
              "hermitian=False) -> Tensor",
              "singular values above a limit", kReal, decompose_rank, no_gradient),
    composite("linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
              "hermitian=False) -> Tensor",
              "singular values above a limit", kReal, decompose_rank, no_gradient),
    composite("linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
              "the norm of the matrix times the norm of the inverse", kReal, decompose_cond),
    composite("linalg_cond.p_str(Tensor self, str p) -> Tensor", "the norm of the matrix times the norm of the inverse",
              kReal, decompose_cond_by_name),
    composite("linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", "powers from 0 up", kReal | kIntegers,
              decompose_linalg_vander),
    composite("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", "powers down to 0", kReal | kIntegers,
              decompose_vander),
    {.doc = "the exponential of a matrix",
     .schema = "linalg_matrix_exp(Tensor self) -> Tensor",
     .dtypes = matrices::kDTypes,
     .infer = infer_exponential,
     .eval = eval_exponential,
     .grad = exponential_grad},
};

}  // namespace
}  // namespace whittle::pseudo_inverse

namespace whittle {

/// https://pytorch.org/cppdocs: pinv_backward in torch/csrc/autograd/FunctionsManual.cpp
V matrices::of_pseudo_inverse(const V& x, const V& y, const V& of_inverse) {
    const V z = turned(y), g = turned(of_inverse);
    if (x.size(-2) <= x.size(-1)) {
        const V k = aten::matmul(g, y), kz = aten::matmul(k, z);
        return -turned(aten::matmul(y, k)) + kz - aten::matmul(aten::matmul(x, y), kz) +
               aten::matmul(aten::matmul(z, y), g - aten::matmul(k, x));
    }
    const V k = aten::matmul(y, g), zk = aten::matmul(z, k);
    return -turned(aten::matmul(k, y)) + aten::matmul(aten::matmul(g - aten::matmul(x, k), y), z) + zk -
           aten::matmul(aten::matmul(zk, y), x);
}

std::span<const OpDef> pseudo_inverse_ops() { return pseudo_inverse::kOps; }

}  // namespace whittle
