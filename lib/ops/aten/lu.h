// P A = L U, for what solves equations and for what gives the factors.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/aten/matrices.h"

namespace whittle::matrices {

/// The factors in one matrix, the rows that were exchanged (from 1), and the first pivot that is 0 (from 1; else 0), as
/// LAPACK's getrf gives them. Rows stay where they are unless they are to be exchanged.
template <class T>
struct Lu {
    Matrix<T> factors;
    std::vector<std::int64_t> pivots;
    std::int64_t info = 0;

    explicit Lu(Matrix<T> a, bool exchange = true) : factors(std::move(a)) {
        const Eigen::Index n = std::min(factors.rows(), factors.cols());
        // By which LAPACK finds the largest.
        const auto magnitude = [](const T& x) { return std::fabs(std::real(x)) + std::fabs(std::imag(x)); };
        for (Eigen::Index k = 0; k < n; ++k) {
            Eigen::Index pivot = 0;
            if (exchange) factors.col(k).tail(factors.rows() - k).unaryExpr(magnitude).maxCoeff(&pivot);
            pivot += k;
            pivots.push_back(pivot + 1);
            if (factors(pivot, k) == T(0)) {
                if (info == 0) info = k + 1;
                continue;
            }
            if (pivot != k) factors.row(pivot).swap(factors.row(k));
            const Eigen::Index rest = factors.rows() - k - 1;
            factors.col(k).tail(rest) /= factors(k, k);
            factors.block(k + 1, k + 1, rest, factors.cols() - k - 1).noalias() -=
                factors.col(k).tail(rest) * factors.row(k).tail(factors.cols() - k - 1);
        }
    }

    Matrix<T> solve(Matrix<T> b) const {
        for (std::size_t k = 0; k < pivots.size(); ++k)
            b.row(static_cast<Eigen::Index>(k)).swap(b.row(static_cast<Eigen::Index>(pivots[k] - 1)));
        factors.template triangularView<Eigen::UnitLower>().solveInPlace(b);
        factors.template triangularView<Eigen::Upper>().solveInPlace(b);
        return b;
    }
    /// Of the permutation: -1 for an odd number of exchanges.
    T sign() const {
        T result(1);
        for (std::size_t k = 0; k < pivots.size(); ++k)
            if (pivots[k] != static_cast<std::int64_t>(k) + 1) result = -result;
        return result;
    }
    Whole pivot_column() const {
        return Eigen::Map<const Whole>(pivots.data(), static_cast<Eigen::Index>(pivots.size()), 1);
    }
};

}  // namespace whittle::matrices
