// P A = L U as programs have it: the factors in one matrix, unpacked, and equations solved by them.
// Definitions: https://pytorch.org/docs/stable/linalg.html
#include "ops/aten/lu.h"

#include <algorithm>

#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

namespace whittle::matrices {
namespace {

using namespace aten;

// --- Kernels ---

Metas infer_factor(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("A");
    require_matrix(a.schema(), matrix);
    const Sizes batch = batch_of(matrix.sizes);
    const std::int64_t k = std::min(rows_of(matrix.sizes), matrix.sizes.back());
    return {ValueMeta::contiguous(matrix.dtype, matrix.sizes), ValueMeta::contiguous(DType::i32, joined(batch, {k})),
            ValueMeta::contiguous(DType::i32, batch)};
}
Tensors eval_factor(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("A");
    const bool exchange = a.boolean("pivot");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        const std::int64_t k = std::min(rows_of(matrix.sizes()), matrix.sizes().back());
        Results<T> factors(matrix.dtype(), matrix.sizes());
        Results<std::int64_t> pivots(DType::i32, joined(batch, {k})), info(DType::i32, batch);
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            const Lu<T> lu(std::move(one), exchange);
            check_info(a, lu.info, "singular");
            factors.put(i, lu.factors);
            pivots.put(i, lu.pivot_column());
            info.put(i, lu.info);
        });
        return {factors.tensor(), pivots.tensor(), info.tensor()};
    });
}

Metas infer_unpack(const Arguments<ValueMeta>& a) {
    const ValueMeta factors = a.tensor("LU_data"), pivots = a.tensor("LU_pivots");
    require_matrix(a.schema(), factors);
    const Sizes batch = batch_of(factors.sizes);
    const std::int64_t m = rows_of(factors.sizes), n = factors.sizes.back(), k = std::min(m, n);
    const bool data = a.boolean("unpack_data"), exchange = a.boolean("unpack_pivots");
    if (exchange && (pivots.dtype != DType::i32 || pivots.sizes != joined(batch, {k})))
        throw Error(a.schema().name + ": found pivots of " + std::string(name(pivots.dtype)) + to_string(pivots.sizes) +
                    ", expected i32" + to_string(joined(batch, {k})));
    const auto result = [&](bool given, std::int64_t rows, std::int64_t columns) {
        return ValueMeta::contiguous(factors.dtype, given ? joined(batch, {rows, columns}) : Sizes{0});
    };
    return {result(exchange, m, m), result(data, m, k), result(data, k, n)};
}

/// The rows of a matrix that were exchanged one after the other, from 1, as a permutation.
Matrix<double> permutation(const std::int64_t* exchanged, std::int64_t count, std::int64_t rows) {
    Matrix<double> result = Matrix<double>::Identity(rows, rows);
    for (std::int64_t i = 0; i < count; ++i) {
        if (exchanged[i] < 1 || exchanged[i] > rows)
            throw Error("lu_unpack: found the pivot " + std::to_string(exchanged[i]) + ", expected 1 to " +
                        std::to_string(rows));
        result.col(i).swap(result.col(exchanged[i] - 1));
    }
    return result;
}
Tensors eval_unpack(const Arguments<Tensor>& a) {
    const Tensor factors = a.tensor("LU_data"), pivots = a.tensor("LU_pivots");
    const bool data = a.boolean("unpack_data"), exchange = a.boolean("unpack_pivots");
    return in_double(factors, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(factors.sizes());
        const std::int64_t m = rows_of(factors.sizes()), n = factors.sizes().back(), k = std::min(m, n);
        const std::vector<std::int64_t> exchanged = pivots.values<std::int64_t>();
        const auto sizes = [&](bool given, std::int64_t rows, std::int64_t columns) {
            return given ? joined(batch, {rows, columns}) : Sizes{0};
        };
        Results<T> p(factors.dtype(), sizes(exchange, m, m)), lower(factors.dtype(), sizes(data, m, k)),
            upper(factors.dtype(), sizes(data, k, n));
        each_matrix<T>(factors, [&](std::int64_t i, const Matrix<T>& one) {
            if (exchange) p.put(i, permutation(exchanged.data() + i * k, k, m).template cast<T>());
            if (!data) return;
            lower.put(i, Matrix<T>(one.leftCols(k).template triangularView<Eigen::UnitLower>()));
            upper.put(i, Matrix<T>(one.topRows(k).template triangularView<Eigen::Upper>()));
        });
        return {p.tensor(), lower.tensor(), upper.tensor()};
    });
}

// --- Gradients ---

/// Of A = P L U by those of L and U; one of them is square, and the rows or columns of the other one behind this square
/// come of it: d L2 = (d A2 - L2 d U) U^-1, and d U2 = L^-1 (d A2 - d L U2).
V of_factors(const V& p, const V& lower, const V& upper, const V& of_lower, const V& of_upper) {
    const std::int64_t m = lower.size(-2), n = upper.size(-1), k = std::min(m, n);
    const auto rows = [](const V& x, std::int64_t from, std::int64_t to) { return sliced(x, -2, from, to); };
    const auto columns = [](const V& x, std::int64_t from, std::int64_t to) { return sliced(x, -1, from, to); };
    const V l = rows(lower, 0, k), u = columns(upper, 0, k);
    V below = matmul(turned(l), rows(of_lower, 0, k)), above = matmul(columns(of_upper, 0, k), turned(u));
    if (n > k) below = below - matmul(columns(of_upper, k, n), turned(columns(upper, k, n)));
    if (m > k) above = above - matmul(turned(rows(lower, k, m)), rows(of_lower, k, m));
    const auto by_lower = [&](const V& x) { return linalg_solve_triangular(turned(l), x, true, true, true); };
    const auto by_upper = [&](const V& x) { return linalg_solve_triangular(turned(u), x, false, false); };
    V whole = by_lower(by_upper(tril(below, -1) + triu(above)));
    if (n > k) whole = cat(Vs{whole, by_lower(columns(of_upper, k, n))}, -1);
    if (m > k) whole = cat(Vs{whole, by_upper(rows(of_lower, k, m))}, -2);
    return matmul(p, whole);
}

void factor_grad(Gradients& c) {
    c.takes_complex();
    const V g = c.grad();
    const std::int64_t m = g.size(-2), n = g.size(-1), k = std::min(m, n);
    const std::array<V, 3> parts = lu_unpack(c.result(0), c.result(1));
    c.set("A", of_factors(parts[0], parts[1], parts[2], tril(sliced(g, -1, 0, k), -1), triu(sliced(g, -2, 0, k))));
}

/// P is of whole numbers, which have no gradient.
void unpack_grad(Gradients& c) {
    c.takes_complex();
    if (!c.boolean("unpack_data")) return;
    const V factors = c.tensor("LU_data"), lower = tril(c.grad(1), -1), upper = triu(c.grad(2));
    const std::int64_t m = factors.size(-2), n = factors.size(-1), k = std::min(m, n);
    const auto widened = [&](const V& x, std::int64_t dim, std::int64_t size) {
        Sizes sizes = x.sizes();
        if (size == k) return x;
        sizes.at(sizes.size() - (dim == -1 ? 1 : 2)) = size - k;
        return cat(Vs{x, zeros(c.builder(), sizes, x.dtype())}, dim);
    };
    c.set("LU_data", widened(lower, -1, n) + widened(upper, -2, m));
}

// --- Equations ---

CallResults decompose_lu(const Call& c) {
    const std::array<V, 3> all = linalg_lu_factor_ex(c.tensor("A"), c.boolean("pivot"));
    return lu_unpack(all[0], all[1]);
}

/// X of A X = B (left), X A = B, A^H X = B or X A^H = B (adjoint).
V solution(const V& factors, const V& pivots, const V& b, bool left, bool adjoint) {
    const std::array<V, 3> parts = lu_unpack(factors, pivots);
    const V &p = parts[0], &lower = parts[1], &upper = parts[2];
    const auto by_lower = [&](const V& x) {
        return adjoint ? linalg_solve_triangular(turned(lower), x, true, left, true)
                       : linalg_solve_triangular(lower, x, false, left, true);
    };
    const auto by_upper = [&](const V& x) {
        return adjoint ? linalg_solve_triangular(turned(upper), x, false, left)
                       : linalg_solve_triangular(upper, x, true, left);
    };
    const V back = transpose(p, -2, -1);
    if (left) return adjoint ? matmul(p, by_lower(by_upper(b))) : by_upper(by_lower(matmul(back, b)));
    return adjoint ? by_upper(by_lower(matmul(b, p))) : matmul(by_lower(by_upper(b)), back);
}
void require_equations(const Call& c, const V& factors) { require_square(c.schema(), factors.meta); }
CallResults decompose_linalg_lu_solve(const Call& c) {
    const V factors = c.tensor("LU");
    require_equations(c, factors);
    return solution(factors, c.tensor("pivots"), c.tensor("B"), c.boolean("left"), c.boolean("adjoint"));
}
CallResults decompose_lu_solve(const Call& c) {
    const V factors = c.tensor("LU_data");
    require_equations(c, factors);
    return solution(factors, c.tensor("LU_pivots"), c.tensor("self"), true, false);
}

constexpr OpDef kLu[] = {
    primitive("linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor "
              "pivots, Tensor info)",
              "L and U with P A = L U in one matrix, and the exchanged rows: "
              "https://pytorch.org/docs/stable/generated/torch.linalg.lu_factor_ex.html",
              kDTypes, {infer_factor, eval_factor}, factor_grad),
    primitive("lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor "
              "P, Tensor L, Tensor U)",
              "P, L and U of such a matrix", kDTypes, {infer_unpack, eval_unpack}, unpack_grad),
    composite("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", "A = P L U", kDTypes,
              decompose_lu),
    composite("linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
              "the solution X of A X = B, from L and U", kDTypes, decompose_linalg_lu_solve),
    composite("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
              "the solution X of A X = self, from L and U", kDTypes, decompose_lu_solve),
};

}  // namespace
}  // namespace whittle::matrices

namespace whittle {

std::span<const OpDef> lu_ops() { return matrices::kLu; }

}  // namespace whittle
