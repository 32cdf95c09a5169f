// P A P^T = L D L^T of symmetric matrices that need not be definite, by Bunch and Kaufman, and equations solved by it:
// D has blocks of one number, and of 2 by 2 where no number on the diagonal is large enough to divide by. Definition:
// https://pytorch.org/docs/stable/generated/torch.linalg.ldl_factor_ex.html
#include <cmath>
#include <complex>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "base/joined.h"
#include "base/words.h"
#include "ops/aten/families.h"
#include "ops/aten/matrices.h"

namespace whittle::matrices {
namespace {

/// A block of D and its inverse, from the right and from the left.
template <class T>
struct Block {
    T first, below, second, above;

    T determinant() const { return first * second - below * above; }
    std::pair<T, T> divide_row(T x, T y) const {
        return {(x * second - y * below) / determinant(), (y * first - x * above) / determinant()};
    }
    std::pair<T, T> divide_column(T x, T y) const {
        return {(x * second - y * above) / determinant(), (y * first - x * below) / determinant()};
    }
};

/// L below the diagonal and D on it, the exchanged rows (from 1; negative, and twice, of a block of 2 by 2), and the
/// first block that is 0 (from 1; else 0), as LAPACK's sytrf and hetrf give them.
template <class T>
struct Ldl {
    using Index = Eigen::Index;
    Matrix<T> factors;
    std::vector<std::int64_t> pivots;
    bool hermitian = false;

    /// The conjugate where A is the adjoint of itself, not its transpose.
    T turned(const T& x) const {
        if constexpr (is_complex_type<T>) return hermitian ? std::conj(x) : x;
        return x;
    }
    Block<T> block(Index k) const {
        return {factors(k, k), factors(k + 1, k), factors(k + 1, k + 1), turned(factors(k + 1, k))};
    }
    Index exchanged(Index k) const { return std::abs(pivots[static_cast<std::size_t>(k)]) - 1; }
    bool is_pair(Index k) const { return pivots[static_cast<std::size_t>(k)] < 0; }

    /// Of the lower triangle; gives the position of a zero.
    std::int64_t factorize() {
        std::int64_t info = 0;
        const Index n = factors.rows();
        pivots.assign(static_cast<std::size_t>(n), 0);
        for (Index k = 0; k < n; ++k) make_real(k);
        for (Index k = 0; k < n;) {
            const auto [from, size] = choose(k);
            if (size == 0) {
                if (info == 0) info = k + 1;
            } else {
                exchange(k, from, size);
                eliminate(k, size);
            }
            const Index step = std::max<Index>(size, 1);
            for (Index i = k; i < k + step; ++i)
                pivots[static_cast<std::size_t>(i)] = step == 1 ? from + 1 : -(from + 1);
            k += step;
        }
        factors.template triangularView<Eigen::StrictlyUpper>().setZero();
        return info;
    }

    Matrix<T> solve(Matrix<T> b) const {
        const Index n = factors.rows();
        for (Index k = 0; k < n;) {
            const Index last = is_pair(k) ? k + 1 : k, rest = n - last - 1;
            b.row(last).swap(b.row(exchanged(k)));
            for (Index i = k; i <= last; ++i) b.bottomRows(rest) -= factors.col(i).tail(rest) * b.row(i);
            for (Index j = 0; j < b.cols(); ++j) {
                if (last == k)
                    b(k, j) /= factors(k, k);
                else
                    std::tie(b(k, j), b(last, j)) = block(k).divide_column(b(k, j), b(last, j));
            }
            k = last + 1;
        }
        for (Index k = n - 1; k >= 0;) {
            const Index first = is_pair(k) ? k - 1 : k, rest = n - k - 1;
            for (Index i = first; i <= k; ++i)
                for (Index r = 0; r < rest; ++r) b.row(i) -= turned(factors(k + 1 + r, i)) * b.row(k + 1 + r);
            b.row(k).swap(b.row(exchanged(k)));
            k = first - 1;
        }
        return b;
    }

  private:
    static Real<T> magnitude(const T& x) { return std::fabs(std::real(x)) + std::fabs(std::imag(x)); }
    Real<T> on_diagonal(Index k) const {
        return hermitian ? std::fabs(std::real(factors(k, k))) : magnitude(factors(k, k));
    }

    /// The diagonal of a Hermitian matrix.
    void make_real(Index k) {
        if (hermitian) factors(k, k) = std::real(factors(k, k));
    }

    /// The row to exchange with, and the size of the block; 0 where there is nothing but zeros.
    std::pair<Index, Index> choose(Index k) const {
        const Real<T> alpha = (1 + std::sqrt(17.0)) / 8, diagonal = on_diagonal(k);
        Real<T> most = 0;
        Index at = k;
        for (Index i = k + 1; i < factors.rows(); ++i)
            if (magnitude(factors(i, k)) > most) most = magnitude(factors(i, k)), at = i;
        if (std::max(diagonal, most) == 0) return {k, 0};
        if (at == k || diagonal >= alpha * most) return {k, 1};
        Real<T> beside = 0;
        for (Index j = k; j < at; ++j) beside = std::max(beside, magnitude(factors(at, j)));
        for (Index i = at + 1; i < factors.rows(); ++i) beside = std::max(beside, magnitude(factors(i, at)));
        if (diagonal >= alpha * most * (most / beside)) return {k, 1};
        return {at, on_diagonal(at) >= alpha * beside ? 1 : 2};
    }
    /// Rows and columns of the lower triangle, which stands for both.
    void exchange(Index k, Index from, Index size) {
        const Index to = k + size - 1;
        if (from == to) return;
        for (Index i = from + 1; i < factors.rows(); ++i) std::swap(factors(i, to), factors(i, from));
        for (Index i = to + 1; i < from; ++i) {
            const T moved = turned(factors(i, to));
            factors(i, to) = turned(factors(from, i));
            factors(from, i) = moved;
        }
        factors(from, to) = turned(factors(from, to));
        std::swap(factors(to, to), factors(from, from));
        if (size == 2) std::swap(factors(k + 1, k), factors(from, k));
    }
    void eliminate(Index k, Index size) {
        const Index n = factors.rows(), next = k + size;
        const Matrix<T> before = factors.block(next, k, n - next, size);
        for (Index i = next; i < n; ++i) {
            if (size == 1)
                factors(i, k) /= factors(k, k);
            else
                std::tie(factors(i, k), factors(i, k + 1)) = block(k).divide_row(factors(i, k), factors(i, k + 1));
        }
        for (Index j = next; j < n; ++j) {
            for (Index i = j; i < n; ++i)
                for (Index c = 0; c < size; ++c) factors(i, j) -= before(i - next, c) * turned(factors(j, k + c));
            make_real(j);
        }
    }
};

Metas infer_ldl(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("self");
    require_square(a.schema(), matrix);
    const Sizes batch = batch_of(matrix.sizes);
    return {ValueMeta::contiguous(matrix.dtype, matrix.sizes),
            ValueMeta::contiguous(DType::i32, joined(batch, {matrix.sizes.back()})),
            ValueMeta::contiguous(DType::i32, batch)};
}
Tensors eval_ldl(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("self");
    const bool hermitian = a.boolean("hermitian");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const Sizes batch = batch_of(matrix.sizes());
        const std::int64_t n = matrix.sizes().back();
        Results<T> factors(matrix.dtype(), matrix.sizes());
        Results<std::int64_t> pivots(DType::i32, joined(batch, {n})), info(DType::i32, batch);
        each_matrix<T>(matrix, [&](std::int64_t i, Matrix<T> one) {
            Ldl<T> ldl{std::move(one), {}, hermitian};
            const std::int64_t zero = ldl.factorize();
            check_info(a, zero, "singular");
            factors.put(i, ldl.factors);
            pivots.put(i, Eigen::Map<const Whole>(ldl.pivots.data(), n, 1));
            info.put(i, zero);
        });
        return {factors.tensor(), pivots.tensor(), info.tensor()};
    });
}

/// The sizes of B under the batch that it shares with the factors.
Sizes plan_ldl_solution(const Schema& schema, const ValueMeta& factors, const ValueMeta& pivots, const ValueMeta& b) {
    require_square(schema, factors);
    require_matrix(schema, b);
    const std::int64_t n = factors.sizes.back();
    if (rows_of(b.sizes) != n || b.dtype != factors.dtype || pivots.dtype != DType::i32 ||
        pivots.sizes != joined(batch_of(factors.sizes), {n}))
        throw Error(schema.name + ": found factors of " + std::string(name(factors.dtype)) + to_string(factors.sizes) +
                    ", pivots of " + std::string(name(pivots.dtype)) + to_string(pivots.sizes) +
                    " and right-hand sides of " + std::string(name(b.dtype)) + to_string(b.sizes) +
                    ", expected pivots of i32" + to_string(joined(batch_of(factors.sizes), {n})) +
                    ", one for each row, and right-hand sides of " + std::string(name(factors.dtype)) + " with " +
                    plural(n, "row"));
    return joined(broadcast_sizes(batch_of(factors.sizes), batch_of(b.sizes)), {n, b.sizes.back()});
}
Metas infer_ldl_solve(const Arguments<ValueMeta>& a) {
    const ValueMeta b = a.tensor("B");
    return {ValueMeta::contiguous(b.dtype, plan_ldl_solution(a.schema(), a.tensor("LD"), a.tensor("pivots"), b))};
}
/// What factorize() gives: rows of the matrix that lie behind, and pairs side by side.
void check_pivots(const std::vector<std::int64_t>& pivots) {
    const auto n = static_cast<std::int64_t>(pivots.size());
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t pivot = pivots[static_cast<std::size_t>(k)];
        const bool paired = pivot < 0;
        const std::int64_t last = paired ? k + 1 : k;
        if (std::abs(pivot) < last + 1 || std::abs(pivot) > n ||
            (paired && pivots[static_cast<std::size_t>(last)] != pivot))
            throw Error("linalg_ldl_solve: found the pivot " + std::to_string(pivot) + " in row " +
                        std::to_string(k + 1) + ", expected a row number from " + std::to_string(last + 1) + " to " +
                        std::to_string(n) + "; the two rows of a pair must have the same negative number");
        k = last;
    }
}
Tensors eval_ldl_solve(const Arguments<Tensor>& a) {
    const Tensor factors = a.tensor("LD"), pivots = a.tensor("pivots"), b = a.tensor("B");
    const bool hermitian = a.boolean("hermitian");
    const Sizes sizes = plan_ldl_solution(a.schema(), ValueMeta::of(factors), ValueMeta::of(pivots), ValueMeta::of(b));
    return in_double(factors, [&]<class T>(T) -> Tensors {
        Results<T> x(b.dtype(), sizes);
        const std::int64_t n = factors.sizes().back();
        const Sizes batch = batch_of(sizes);
        std::vector<Matrix<T>> right;
        each_matrix<T>(under(b, b.sizes(), sizes), [&](std::int64_t, Matrix<T> one) { right.push_back(one); });
        const std::vector<std::int64_t> rows =
            under(pivots, pivots.sizes(), joined(batch, {n})).template values<std::int64_t>();
        each_matrix<T>(under(factors, factors.sizes(), joined(batch, {n, n})), [&](std::int64_t i, Matrix<T> one) {
            const Ldl<T> ldl{std::move(one), {rows.begin() + i * n, rows.begin() + (i + 1) * n}, hermitian};
            check_pivots(ldl.pivots);
            x.put(i, ldl.solve(right[static_cast<std::size_t>(i)]));
        });
        return {x.tensor()};
    });
}

constexpr OpDef kLdl[] = {
    primitive("linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, "
              "Tensor pivots, Tensor info)",
              "L and D with P A P^T = L D L^T in one matrix, and the exchanged rows: "
              "https://pytorch.org/docs/stable/generated/torch.linalg.ldl_factor_ex.html",
              kDTypes, {infer_ldl, eval_ldl}, nullptr),
    primitive("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
              "the solution X of A X = B, from L and D: "
              "https://pytorch.org/docs/stable/generated/torch.linalg.ldl_solve.html",
              kDTypes, {infer_ldl_solve, eval_ldl_solve}, nullptr),
};

}  // namespace
}  // namespace whittle::matrices

namespace whittle {

std::span<const OpDef> ldl_ops() { return matrices::kLdl; }

}  // namespace whittle
