// Factorizations of matrices and batches of them: Cholesky's, QR, eigenvalues of symmetric ones, singular values. The
// kernels of the last three are Eigen's. Nothing of it lowers: eager runs it.
// Definitions: https://pytorch.org/docs/stable/linalg.html
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/linalg_grad.h"
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
    return {plan.q ? ValueMeta::contiguous(matrix.dtype, with(batch, {rows_of(matrix.sizes), plan.columns}))
                   : ValueMeta::contiguous(matrix.dtype, {0}),
            ValueMeta::contiguous(matrix.dtype, with(batch, {plan.rows, matrix.sizes.back()}))};
}
Tensors eval_qr(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A");
    const QrPlan plan = plan_qr(a.schema(), ValueMeta::of(matrix), a.text("mode"));
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        const std::int64_t m = rows_of(matrix.sizes()), n = matrix.sizes().back();
        Results<T> q(matrix.dtype(), with(batch, {m, plan.columns})), r(matrix.dtype(), with(batch, {plan.rows, n}));
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
    return {ValueMeta::contiguous(real_of(matrix.dtype), with(batch, {matrix.sizes.back()})),
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
        Results<Real<T>> values(real_of(matrix.dtype()), with(batch_of(matrix.sizes()), {matrix.sizes().back()}));
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

Metas infer_svd(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("A");
    require_matrix(a.schema(), matrix);
    const Sizes batch = batch_of(matrix.sizes);
    const std::int64_t m = rows_of(matrix.sizes), n = matrix.sizes.back(), k = std::min(m, n);
    const ValueMeta values = ValueMeta::contiguous(real_of(matrix.dtype), with(batch, {k}));
    const ValueMeta none = ValueMeta::contiguous(matrix.dtype, {0});
    if (!a.boolean("compute_uv")) return {none, values, none};
    const bool full = a.boolean("full_matrices");
    return {ValueMeta::contiguous(matrix.dtype, with(batch, {m, full ? m : k})), values,
            ValueMeta::contiguous(matrix.dtype, with(batch, {full ? n : k, n}))};
}
Tensors eval_svd(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A");
    const bool vectors = a.boolean("compute_uv"), full = a.boolean("full_matrices");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        const std::int64_t m = rows_of(matrix.sizes()), n = matrix.sizes().back(), k = std::min(m, n);
        Results<T> u(matrix.dtype(), with(batch, {m, full ? m : k})),
            vh(matrix.dtype(), with(batch, {full ? n : k, n}));
        Results<Real<T>> s(real_of(matrix.dtype()), with(batch, {k}));
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

// --- Records ---

constexpr OpDef kFactorizations[] = {
    {.doc = "L with L L^T = self, which is positive definite: "
            "https://pytorch.org/docs/stable/generated/torch.linalg.cholesky_ex.html",
     .schema =
         "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
     .dtypes = kDTypes,
     .infer = infer_cholesky,
     .eval = eval_cholesky,
     .grad = cholesky_grad},
    {.doc = "orthogonal times upper triangular: https://pytorch.org/docs/stable/generated/torch.linalg.qr.html",
     .schema = "linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
     .dtypes = kDTypes,
     .infer = infer_qr,
     .eval = eval_qr,
     .grad = qr_grad},
    {.doc = "eigenvalues, ascending, and vectors: https://pytorch.org/docs/stable/generated/torch.linalg.eigh.html",
     .schema =
         "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
     .dtypes = kDTypes,
     .infer = infer_eigh,
     .eval = eval_eigh,
     .grad = eigh_grad},
    {.doc = "singular values, descending, and vectors: https://pytorch.org/docs/stable/generated/torch.linalg.svd.html",
     .schema = "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor "
               "U, Tensor S, Tensor Vh)",
     .dtypes = kDTypes,
     .infer = infer_svd,
     .eval = eval_svd,
     .grad = svd_grad},
};

}  // namespace
}  // namespace whittle::matrices

namespace whittle {

std::span<const OpDef> factorization_ops() { return matrices::kFactorizations; }

}  // namespace whittle
