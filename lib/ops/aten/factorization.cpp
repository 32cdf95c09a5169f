// Factorizations of matrices and batches of them: Cholesky's, QR, eigenvalues, singular values. The kernels are
// Eigen's, but of Cholesky's. Nothing of it lowers: eager runs it. Definitions:
// https://pytorch.org/docs/stable/linalg.html
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/matrices.h"

namespace whittle::matrices {
namespace {

// --- Kernels ---

Metas infer_cholesky(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("self");
    require_square(a.schema(), matrix);
    return {ValueMeta::contiguous(matrix.dtype, matrix.sizes),
            ValueMeta::contiguous(DType::i32, batch_of(matrix.sizes))};
}
/// Of one triangle; the other one is not read. What is not positive definite has the order of the first minor that is
/// not, and what was computed until there.
Tensors eval_cholesky(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("self");
    const bool upper = a.boolean("upper");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        Results<T> result(matrix.dtype(), matrix.sizes());
        Results<std::int64_t> info(DType::i32, batch_of(matrix.sizes()));
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            if (upper) one.adjointInPlace();
            std::int64_t failed = 0;
            for (Eigen::Index k = 0; k < one.rows() && failed == 0; ++k) {
                const Real<T> pivot = std::real(one(k, k)) - one.row(k).head(k).squaredNorm();
                if (!(pivot > 0)) {
                    failed = k + 1;
                    break;
                }
                one(k, k) = std::sqrt(pivot);
                for (Eigen::Index j = k + 1; j < one.rows(); ++j)
                    one(j, k) = (one(j, k) - one.row(k).head(k).dot(one.row(j).head(k))) / one(k, k);
            }
            check_info(a, failed, "not positive definite");
            const Matrix<T> lower = one.template triangularView<Eigen::Lower>();
            if (upper)
                result.put(i, lower.adjoint());
            else
                result.put(i, lower);
            info.put(i, failed);
        });
        return {result.tensor(), info.tensor()};
    });
}

/// Columns of Q and rows of R; "r" has no Q.
struct QrPlan {
    std::int64_t columns = 0, rows = 0;
    bool q = true;
};
QrPlan plan_qr(const Schema& schema, const ValueMeta& a, const std::string& mode) {
    require_matrix(schema, a);
    const std::int64_t m = rows_of(a.sizes), k = std::min(m, a.sizes.back());
    if (mode == "reduced") return {k, k, true};
    if (mode == "complete") return {m, m, true};
    if (mode == "r") return {0, k, false};
    throw Error(schema.name + ": found mode='" + mode + "', expected 'reduced', 'complete' or 'r'");
}
Metas infer_qr(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("A");
    const QrPlan plan = plan_qr(a.schema(), matrix, a.text("mode"));
    const Sizes batch = batch_of(matrix.sizes);
    return {plan.q ? ValueMeta::contiguous(matrix.dtype, joined(batch, {rows_of(matrix.sizes), plan.columns}))
                   : ValueMeta::contiguous(matrix.dtype, {0}),
            ValueMeta::contiguous(matrix.dtype, joined(batch, {plan.rows, matrix.sizes.back()}))};
}
Tensors eval_qr(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A");
    const QrPlan plan = plan_qr(a.schema(), ValueMeta::of(matrix), a.text("mode"));
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        const std::int64_t m = rows_of(matrix.sizes()), n = matrix.sizes().back();
        Results<T> q(matrix.dtype(), joined(batch, {m, plan.columns})),
            r(matrix.dtype(), joined(batch, {plan.rows, n}));
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            const Eigen::HouseholderQR<Matrix<T>> qr(one);
            if (plan.q) q.put(i, Matrix<T>(qr.householderQ() * Matrix<T>::Identity(m, plan.columns)));
            r.put(i, Matrix<T>(qr.matrixQR().topRows(plan.rows).template triangularView<Eigen::Upper>()));
        });
        return {plan.q ? q.tensor() : Tensor(matrix.dtype(), {0}), r.tensor()};
    });
}

Metas infer_eigh(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("A");
    require_square(a.schema(), matrix);
    const Sizes batch = batch_of(matrix.sizes);
    return {ValueMeta::contiguous(real_of(matrix.dtype), joined(batch, {matrix.sizes.back()})),
            a.boolean("compute_v") ? ValueMeta::contiguous(matrix.dtype, matrix.sizes)
                                   : ValueMeta::contiguous(matrix.dtype, {0})};
}
/// Of the triangle that UPLO names.
Tensors eval_eigh(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A");
    const bool vectors = a.boolean("compute_v");
    const std::string triangle = a.text("UPLO");
    if (triangle != "L" && triangle != "U" && triangle != "l" && triangle != "u")
        throw Error(a.schema().name + ": found UPLO='" + triangle + "', expected 'L' or 'U'");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        Results<Real<T>> values(real_of(matrix.dtype()), joined(batch_of(matrix.sizes()), {matrix.sizes().back()}));
        Results<T> columns_of(matrix.dtype(), matrix.sizes());
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            if (triangle == "U" || triangle == "u") one.adjointInPlace();
            const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(
                one, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
            values.put(i, solver.eigenvalues());
            if (vectors) columns_of.put(i, solver.eigenvectors());
        });
        return {values.tensor(), vectors ? columns_of.tensor() : Tensor(matrix.dtype(), {0})};
    });
}

Metas infer_eig(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("self");
    require_square(a.schema(), matrix);
    const DType dtype = complex_of(matrix.dtype);
    return {ValueMeta::contiguous(dtype, joined(batch_of(matrix.sizes), {matrix.sizes.back()})),
            ValueMeta::contiguous(dtype, matrix.sizes)};
}
/// Vectors of length 1, which have a sign that each library chooses where they are real; of others the largest element
/// is real and positive, as LAPACK has it.
template <class Solver, class T>
void put_eigen(const std::string& op, const Matrix<T>& matrix, std::int64_t i, Results<Complex128>& values,
               Results<Complex128>& vectors) {
    if (matrix.rows() == 0) return;
    const auto fail = [&](const char* what) {
        throw Error(op + ": found a matrix " + what + ", expected one that has eigenvalues");
    };
    if (!matrix.allFinite()) fail("with infinities or NaN");
    const Solver solver(matrix);
    if (solver.info() != Eigen::Success) fail("for which the algorithm does not converge");
    Matrix<Complex128> columns_of = solver.eigenvectors().colwise().normalized();
    for (Eigen::Index k = 0; k < columns_of.cols(); ++k) {
        if (!is_complex_type<T> && std::imag(solver.eigenvalues()(k)) == 0) continue;
        Eigen::Index largest = 0;
        columns_of.col(k).cwiseAbs2().maxCoeff(&largest);
        columns_of.col(k) *= std::conj(columns_of(largest, k)) / std::abs(columns_of(largest, k));
    }
    values.put(i, solver.eigenvalues());
    vectors.put(i, columns_of);
}
Tensors eval_eig(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("self");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const DType dtype = complex_of(matrix.dtype());
        Results<Complex128> values(dtype, joined(batch_of(matrix.sizes()), {matrix.sizes().back()})),
            vectors(dtype, matrix.sizes());
        using Solver = std::conditional_t<is_complex_type<T>, Eigen::ComplexEigenSolver<Matrix<Complex128>>,
                                          Eigen::EigenSolver<Matrix<double>>>;
        each_matrix<T>(matrix, [&](std::int64_t i, const Matrix<T>& one) {
            put_eigen<Solver>(a.schema().name, one, i, values, vectors);
        });
        return {values.tensor(), vectors.tensor()};
    });
}

Metas infer_svd(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("A");
    require_matrix(a.schema(), matrix);
    const Sizes batch = batch_of(matrix.sizes);
    const std::int64_t m = rows_of(matrix.sizes), n = matrix.sizes.back(), k = std::min(m, n);
    const ValueMeta values = ValueMeta::contiguous(real_of(matrix.dtype), joined(batch, {k}));
    const ValueMeta none = ValueMeta::contiguous(matrix.dtype, {0});
    if (!a.boolean("compute_uv")) return {none, values, none};
    const bool full = a.boolean("full_matrices");
    return {ValueMeta::contiguous(matrix.dtype, joined(batch, {m, full ? m : k})), values,
            ValueMeta::contiguous(matrix.dtype, joined(batch, {full ? n : k, n}))};
}
Tensors eval_svd(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A");
    const bool vectors = a.boolean("compute_uv"), full = a.boolean("full_matrices");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        const std::int64_t m = rows_of(matrix.sizes()), n = matrix.sizes().back(), k = std::min(m, n);
        Results<T> u(matrix.dtype(), joined(batch, {m, full ? m : k})),
            vh(matrix.dtype(), joined(batch, {full ? n : k, n}));
        Results<Real<T>> s(real_of(matrix.dtype()), joined(batch, {k}));
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            const unsigned parts =
                full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
            const Eigen::JacobiSVD<Matrix<T>> svd(one, vectors ? parts : 0U);
            s.put(i, svd.singularValues());
            if (!vectors) return;
            u.put(i, svd.matrixU());
            vh.put(i, svd.matrixV().adjoint());
        });
        const Tensor none(matrix.dtype(), {0});
        return {vectors ? u.tensor() : none, s.tensor(), vectors ? vh.tensor() : none};
    });
}

// --- Gradients ---
// Sources: Giles, Collected Matrix Derivative Results, 2008, and
// https://github.com/pytorch/pytorch/blob/v1.13.1/torch/csrc/autograd/FunctionsManual.cpp

using namespace aten;

/// A symmetric gradient: L^-H P(L^H G) L^-1, P the lower triangle with half the diagonal; Murray 2016.
void cholesky_grad(Gradients& c) {
    c.takes_complex();
    const bool upper = c.boolean("upper");
    const V l = upper ? turned(c.result()) : c.result(), g = upper ? turned(c.grad()) : c.grad();
    const V both_sides = matmul(turned(l), g);
    const V below = triangle(both_sides, false, -1);
    const V half = (triangle(both_sides, false, 0) + below) * 0.5;
    const V left = linalg_solve_triangular(turned(l), half, true, true);
    const V both = linalg_solve_triangular(l, left, false, false);
    c.set("self", (both + turned(both)) * 0.5);
}

/// V (diag(g) + (V^H G) / E) V^H with E[i, j] = value[j] - value[i]; where values are equal it is not finite.
void eigh_grad(Gradients& c) {
    c.takes_complex();
    V v = c.result(1);
    if (!c.boolean("compute_v")) {
        const auto all = _linalg_eigh(c.tensor("A"), c.text("UPLO"));
        v = all[1];
    }
    const auto row = [&](const V& x) { return unsqueeze(x, -2); };
    V middle = v * row(c.grad(0));
    if (c.boolean("compute_v") && c.grad_if_any(1)) {
        const V values = c.result(0);
        const V ones = eye(c.builder(), values.sizes().back(), values.dtype());
        const V gaps = row(values) - column(values) + ones;
        const V moved = matmul(turned(v), c.grad(1));  // vectors keep their length: no diagonal
        const V between = triangle(moved, false, -1) + triangle(moved, true, 1);
        middle = middle + matmul(v, between / gaps);
    }
    c.set("A", matmul(middle, turned(v)));
}

/// V^-H (diag(g) + (V^H G - V^H V diag(Re(V^H G))) / E) V^H with E[i, j] = conj(value[j] - value[i]), as vectors keep
/// their length; where values are equal it is not finite.
void eig_grad(Gradients& c) {
    c.takes_complex();
    const V values = c.result(0), v = c.result(1), back = turned(v);
    const auto row = [&](const V& x) { return unsqueeze(x, -2); };
    const V one = eye(c.builder(), values.sizes().back(), values.dtype());
    V middle = one * row(c.grad(0));
    if (c.grad_if_any(1)) {
        const V moved = matmul(back, c.grad(1));
        const V along = real(diagonal(moved, 0, -2, -1));
        const V between = moved - matmul(back, v * row(along));
        const V others = between - one * between;
        middle = middle + others / (conjugate(row(values) - column(values)) + one);
    }
    c.set("self", _linalg_solve_ex(back, matmul(middle, back))[0]);
}

/// (G_Q + Q S(R G_R^T - G_Q^T Q)) R^-T, S the lower triangle copied to the upper one; Walter and Lehmann 2010.
void qr_grad(Gradients& c) {
    c.takes_complex();
    const Sizes& sizes = c.tensor("A").sizes();
    if (is_complex(c.tensor("A").dtype()))
        throw Error("found a gradient that goes through complex numbers, for which aten.linalg_qr has no rule",
                    "call detach() on the input of linalg_qr");
    if (c.text("mode") != "reduced" || sizes[sizes.size() - 2] < sizes.back())
        throw Error(
            "linalg_qr has a gradient rule only with mode='reduced', and only for matrices with at least as many rows "
            "as "
            "columns");
    const V q = c.result(0), upper = c.result(1), of_q = c.grad(0), of_upper = c.grad(1);
    const V m = matmul(upper, turned(of_upper)) - matmul(turned(of_q), q);
    const V both = triangle(m, false, 0) + turned(triangle(m, false, -1));
    const V side = of_q + matmul(q, both);
    c.set("A", linalg_solve_triangular(turned(upper), side, false, false));
}

/// U diag(g) V^H, of the values alone.
void svd_grad(Gradients& c) {
    c.takes_complex();
    if (c.boolean("compute_uv") && (c.grad_if_any(0) || c.grad_if_any(2)))
        throw Error("_linalg_svd has no gradient rule for the singular vectors",
                    "use only the singular values, or call detach() on the singular vectors");
    const auto parts = _linalg_svd(c.tensor("A"));
    const V g = unsqueeze(c.grad(1), -2);
    c.set("A", matmul(parts[0] * g, parts[2]));
}

constexpr OpDef kFactorizations[] = {
    primitive(
        "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
        "L with L L^T = self, for a positive definite self: "
        "https://pytorch.org/docs/stable/generated/torch.linalg.cholesky_ex.html",
        kDTypes, {infer_cholesky, eval_cholesky}, cholesky_grad),
    primitive("linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
              "QR decomposition into an orthogonal and an upper triangular matrix: "
              "https://pytorch.org/docs/stable/generated/torch.linalg.qr.html",
              kDTypes, {infer_qr, eval_qr}, qr_grad),
    primitive(
        "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
        "eigenvalues, ascending, and vectors: https://pytorch.org/docs/stable/generated/torch.linalg.eigh.html",
        kDTypes, {infer_eigh, eval_eigh}, eigh_grad),
    primitive("linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
              "eigenvalues and vectors: https://pytorch.org/docs/stable/generated/torch.linalg.eig.html", kDTypes,
              {infer_eig, eval_eig}, eig_grad),
    primitive(
        "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, "
        "Tensor S, Tensor Vh)",
        "singular values, descending, and vectors: https://pytorch.org/docs/stable/generated/torch.linalg.svd.html",
        kDTypes, {infer_svd, eval_svd}, svd_grad),
};

}  // namespace
}  // namespace whittle::matrices

namespace whittle {

std::span<const OpDef> factorization_ops() { return matrices::kFactorizations; }

}  // namespace whittle
