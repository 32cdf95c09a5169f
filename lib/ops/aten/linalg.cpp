// Linear equations, inverses and determinants of matrices and batches of them, with the names that LibTorch's autograd
// gives them. Nothing of it lowers: eager runs it. Definitions: https://pytorch.org/docs/stable/linalg.html
#include <algorithm>
#include <cmath>

#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/lu.h"
#include "ops/aten/matrices.h"

namespace whittle::matrices {
namespace {

using namespace aten;

// --- P A = L U ---

/// LibTorch gives LAPACK a contiguous matrix as it lies, and so has the factors of its transpose; not of complex
/// numbers.
template <class T>
Lu<T> as_libtorch_factors(const Tensor& whole, Matrix<T> one) {
    if (whole.is_contiguous() && !is_complex(whole.dtype())) one.transposeInPlace();
    return Lu<T>(std::move(one));
}

/// What a number is without its magnitude; of 0 it is 0.
template <class T>
T direction(const T& x) {
    if constexpr (!is_complex_type<T>)
        return static_cast<T>((T(0) < x) - (x < T(0)));
    else
        return x == T(0) ? x : x / std::abs(x);
}

Metas infer_determinant(const Arguments<ValueMeta>& a, bool with_sign) {
    const ValueMeta matrix = a.tensor("A");
    require_square(a.schema(), matrix);
    const Sizes batch = batch_of(matrix.sizes);
    Metas metas = {ValueMeta::contiguous(matrix.dtype, batch)};
    if (with_sign) metas.push_back(ValueMeta::contiguous(real_of(matrix.dtype), batch));
    metas.push_back(ValueMeta::contiguous(matrix.dtype, matrix.sizes));
    metas.push_back(ValueMeta::contiguous(DType::i32, joined(batch, {matrix.sizes.back()})));
    return metas;
}
Metas infer_det(const Arguments<ValueMeta>& a) { return infer_determinant(a, false); }
Metas infer_slogdet(const Arguments<ValueMeta>& a) { return infer_determinant(a, true); }

Tensors eval_determinant(const Arguments<Tensor>& a, bool logarithm) {
    const Tensor matrix = a.tensor("A");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        Results<T> det(matrix.dtype(), batch), factors(matrix.dtype(), matrix.sizes());
        Results<Real<T>> size(real_of(matrix.dtype()), batch);
        Results<std::int64_t> pivots(DType::i32, joined(batch, {matrix.sizes().back()}));
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            const Lu<T> lu = as_libtorch_factors(matrix, std::move(one));
            T product = lu.sign(), sign = lu.sign();
            Real<T> logs = 0;
            for (const T pivot : lu.factors.diagonal()) {
                product *= pivot;
                sign *= direction(pivot);
                logs += std::log(std::abs(pivot));
            }
            det.put(i, logarithm ? sign : product);
            size.put(i, logs);
            factors.put(i, lu.factors);
            pivots.put(i, lu.pivot_column());
        });
        if (logarithm) return {det.tensor(), size.tensor(), factors.tensor(), pivots.tensor()};
        return {det.tensor(), factors.tensor(), pivots.tensor()};
    });
}
Tensors eval_det(const Arguments<Tensor>& a) { return eval_determinant(a, false); }
Tensors eval_slogdet(const Arguments<Tensor>& a) { return eval_determinant(a, true); }

Metas infer_inverse(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("A");
    require_square(a.schema(), matrix);
    return {ValueMeta::contiguous(matrix.dtype, matrix.sizes),
            ValueMeta::contiguous(DType::i32, batch_of(matrix.sizes))};
}
Tensors eval_inverse(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        Results<T> inverse(matrix.dtype(), matrix.sizes());
        Results<std::int64_t> info(DType::i32, batch_of(matrix.sizes()));
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            const Lu<T> lu(one);
            check_info(a, lu.info, "singular");
            inverse.put(i, lu.solve(Matrix<T>::Identity(one.rows(), one.cols())));
            info.put(i, lu.info);
        });
        return {inverse.tensor(), info.tensor()};
    });
}

// --- A X = B, and X A = B where left is false ---

struct Solution {
    Sizes a, b;    ///< under the batch that both broadcast to; B with its column
    Sizes result;  ///< without the column of a vector
    bool vector = false;
};
// --- Gradients ---
// Sources: Giles, Collected Matrix Derivative Results, 2008, and
// https://github.com/pytorch/pytorch/blob/v1.13.1/torch/csrc/autograd/FunctionsManual.cpp

/// A^-H
V inverse_turned(const V& x) { return turned(linalg_inv_ex(x)[0]); }

bool solves_for_vectors(const Sizes& a, const Sizes& b) {
    return b.size() == 1 || (b.size() + 1 == a.size() && std::equal(b.begin(), b.end(), a.begin()));
}

/// d det = det tr(A^-1 dA). Of singular matrices it is not finite.
void det_grad(Gradients& c) {
    c.takes_complex();
    const V factor = c.grad() * conjugate(c.result());
    c.set("A", column(column(factor)) * inverse_turned(c.tensor("A")));
}

/// d log|det| = Re tr(A^-1 dA), and d sign = i sign Im tr(A^-1 dA), which real numbers do not have.
void slogdet_grad(Gradients& c) {
    c.takes_complex();
    const V a = c.tensor("A");
    V factor = c.grad(1);
    if (is_complex(a.dtype())) {
        const V turn = imag(conjugate(c.result()) * c.grad(0));
        factor = complex(factor, turn);
    }
    c.set("A", column(column(factor)) * inverse_turned(a));
}

/// d A^-1 = -A^-1 dA A^-1
void inverse_grad(Gradients& c) {
    c.takes_complex();
    const V y = turned(c.result());
    c.set("A", -matmul(matmul(y, c.grad()), y));
}

/// A X = B: B's is A^-H G, A's -A^-H G X^H; X A = B likewise.
void solve_grad(Gradients& c) {
    c.takes_complex();
    const bool left = c.boolean("left");
    const V a = c.tensor("A"), right = c.tensor("B");
    V g = c.grad(), x = c.result();
    const bool vector = solves_for_vectors(a.sizes(), right.sizes());
    if (vector) g = column(g), x = column(x);
    const V of_right = _linalg_solve_ex(turned(a), g, left)[0];
    if (c.needed("B")) c.set("B", vector ? reshaped(of_right, c.grad().sizes()) : of_right);
    if (c.needed("A")) c.set("A", -(left ? matmul(of_right, turned(x)) : matmul(turned(x), of_right)));
}

/// As solve_grad(), of the triangle that is read.
void triangular_grad(Gradients& c) {
    c.takes_complex();
    const bool upper = c.boolean("upper"), left = c.boolean("left"), unit = c.boolean("unitriangular");
    const V a = c.tensor("self"), x = c.result();
    const V of_right = linalg_solve_triangular(turned(a), c.grad(), !upper, left, unit);
    c.set("B", of_right);
    if (!c.needed("self")) return;
    const V whole = -(left ? matmul(of_right, turned(x)) : matmul(turned(x), of_right));
    c.set("self", triangle(whole, upper, unit ? (upper ? 1 : -1) : 0));
}

Solution plan_solution(const Schema& schema, const ValueMeta& a, const ValueMeta& b, bool left, bool may_be_vector) {
    require_square(schema, a);
    Solution plan;
    plan.vector = may_be_vector && solves_for_vectors(a.sizes, b.sizes);
    Sizes sizes = b.sizes;
    if (plan.vector) sizes.push_back(1);
    const auto fail = [&] {
        throw Error(schema.name + ": found matrices of " + std::string(name(a.dtype)) + to_string(a.sizes) +
                    " and right-hand sides of " + std::string(name(b.dtype)) + to_string(b.sizes) +
                    ", expected equal numbers of " + (left ? "rows" : "columns") + " and equal dtypes");
    };
    if (sizes.size() < 2 || a.dtype != b.dtype) fail();
    if ((left ? rows_of(sizes) : sizes.back()) != a.sizes.back()) fail();
    const Sizes batch = broadcast_sizes(batch_of(a.sizes), batch_of(sizes));
    plan.a = joined(batch, {a.sizes.back(), a.sizes.back()});
    plan.b = joined(batch, {rows_of(sizes), sizes.back()});
    plan.result = plan.b;
    if (plan.vector) plan.result.pop_back();
    return plan;
}
Metas infer_solve(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("A");
    const bool left = a.boolean("left");
    const Solution plan = plan_solution(a.schema(), matrix, a.tensor("B"), left, true);
    const Sizes batch = batch_of(matrix.sizes);
    return {ValueMeta::contiguous(matrix.dtype, plan.result), ValueMeta::contiguous(matrix.dtype, matrix.sizes),
            ValueMeta::contiguous(DType::i32, joined(batch, {matrix.sizes.back()})),
            ValueMeta::contiguous(DType::i32, batch)};
}
Tensors eval_solve(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A"), b = a.tensor("B");
    const bool left = a.boolean("left");
    const Solution plan = plan_solution(a.schema(), ValueMeta::of(matrix), ValueMeta::of(b), left, true);
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        Results<T> x(matrix.dtype(), plan.b), factors(matrix.dtype(), matrix.sizes());
        Results<std::int64_t> pivots(DType::i32, joined(batch, {matrix.sizes().back()})), info(DType::i32, batch);
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            const Lu<T> lu = as_libtorch_factors(matrix, std::move(one));
            check_info(a, lu.info, "singular");
            factors.put(i, lu.factors);
            pivots.put(i, lu.pivot_column());
            info.put(i, lu.info);
        });
        Sizes given = b.sizes();
        if (plan.vector) given.push_back(1);
        std::vector<Matrix<T>> right;
        each_matrix<T>(under(b, given, plan.b), [&](std::int64_t, Matrix<T> one) { right.push_back(std::move(one)); });
        each_matrix<T>(under(matrix, matrix.sizes(), plan.a), [&](std::int64_t i, Matrix<T> one) {
            const Matrix<T>& side = right[static_cast<std::size_t>(i)];
            if (left)
                x.put(i, Lu<T>(std::move(one)).solve(side));
            else
                x.put(i, Lu<T>(one.transpose()).solve(side.transpose()).transpose());
        });
        Tensor result = x.tensor();
        if (plan.vector) result = result.as_strided(plan.result, contiguous_strides(plan.result), result.offset());
        return {result, factors.tensor(), pivots.tensor(), info.tensor()};
    });
}

Metas infer_triangular(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("self");
    const bool left = a.boolean("left");
    const Solution plan = plan_solution(a.schema(), matrix, a.tensor("B"), left, false);
    return {ValueMeta::contiguous(matrix.dtype, plan.b)};
}
Tensors eval_triangular(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("self"), b = a.tensor("B");
    const bool left = a.boolean("left"), upper = a.boolean("upper"), unit = a.boolean("unitriangular");
    const Solution plan = plan_solution(a.schema(), ValueMeta::of(matrix), ValueMeta::of(b), left, false);
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        Results<T> x(matrix.dtype(), plan.b);
        std::vector<Matrix<T>> right;
        each_matrix<T>(under(b, b.sizes(), plan.b),
                       [&](std::int64_t, Matrix<T> one) { right.push_back(std::move(one)); });
        each_matrix<T>(under(matrix, matrix.sizes(), plan.a), [&](std::int64_t i, Matrix<T> one) {
            if (unit) one.diagonal().setOnes();
            Matrix<T> side = right[static_cast<std::size_t>(i)];
            if (!left) {
                one.transposeInPlace();
                side.transposeInPlace();
            }
            if (upper == left)
                one.template triangularView<Eigen::Upper>().solveInPlace(side);
            else
                one.template triangularView<Eigen::Lower>().solveInPlace(side);
            if (left)
                x.put(i, side);
            else
                x.put(i, side.transpose());
        });
        return {x.tensor()};
    });
}

/// L L^H X = B, one triangle after the other.
CallResults decompose_cholesky_solve(const Call& c) {
    const V factor = c.tensor("input2");
    const bool upper = c.boolean("upper");
    V turned = transpose(factor, -2, -1);
    if (is_complex(factor.dtype())) turned = conj_physical(turned);
    const auto solve = [&](const V& matrix, const V& right, bool is_upper) {
        return linalg_solve_triangular(matrix, right, is_upper);
    };
    const V half = solve(upper ? turned : factor, c.tensor("self"), false);
    return solve(upper ? factor : turned, half, true);
}

CallResults decompose_cholesky_solve_helper(const Call& c) {
    return cholesky_solve(c.tensor("self"), c.tensor("A"), c.boolean("upper"));
}

/// The inverse of what was factorized.
CallResults decompose_cholesky_inverse(const Call& c) {
    const V factor = c.tensor("self");
    require_square(c.schema(), factor.meta);
    const V one = eye(c.builder(), factor.size(-1), factor.dtype());
    return cholesky_solve(expand(one, factor.sizes()), factor, c.boolean("upper"));
}

constexpr OpDef kLinalg[] = {
    primitive("_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
              "the determinant, by LU: https://pytorch.org/docs/stable/generated/torch.linalg.det.html", kDTypes,
              {infer_det, eval_det}, det_grad),
    primitive("_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
              "the sign of the determinant, and the logarithm of its magnitude: "
              "https://pytorch.org/docs/stable/generated/torch.linalg.slogdet.html",
              kDTypes, {infer_slogdet, eval_slogdet}, slogdet_grad),
    primitive("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
              "the inverse: https://pytorch.org/docs/stable/generated/torch.linalg.inv_ex.html", kDTypes,
              {infer_inverse, eval_inverse}, inverse_grad),
    primitive("_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
              "Tensor LU, Tensor pivots, Tensor info)",
              "the solution X of A X = B: https://pytorch.org/docs/stable/generated/torch.linalg.solve_ex.html",
              kDTypes, {infer_solve, eval_solve}, solve_grad),
    primitive(
        "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> "
        "Tensor",
        "the solution X of A X = B for a triangular A: "
        "https://pytorch.org/docs/stable/generated/torch.linalg.solve_triangular.html",
        kDTypes, {infer_triangular, eval_triangular}, triangular_grad),
    composite("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
              "the solution X of A X = B, from the Cholesky factor of A", kDTypes, decompose_cholesky_solve),
    composite("_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor",
              "the solution X of A X = B, from the Cholesky factor of A", kDTypes, decompose_cholesky_solve_helper),
    composite("cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
              "the inverse of a matrix, from its Cholesky factor", kDTypes, decompose_cholesky_inverse),
};

}  // namespace
}  // namespace whittle::matrices

namespace whittle {

std::span<const OpDef> linalg_ops() { return matrices::kLinalg; }

}  // namespace whittle
