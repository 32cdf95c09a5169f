#include "ops/core/gemm.h"

#include <Eigen/Core>
#include <algorithm>

namespace whittle {
namespace {

template <class T, int Order>
using Dense = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>, 0, Eigen::OuterStride<>>;

template <class T, int Order>
Dense<T, Order> dense(const MatrixView<T>& m) {
    return {m.data, m.rows, m.cols, Eigen::OuterStride<>(Order == Eigen::RowMajor ? m.row_stride : m.col_stride)};
}

template <class T, class A, class B>
void multiply(const A& a, const B& b, T* c, std::int64_t c_stride, bool accumulate) {
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<Matrix, 0, Eigen::OuterStride<>> result(c, a.rows(), b.cols(), Eigen::OuterStride<>(c_stride));
    if (!accumulate) result.setZero();
    result.noalias() += a * b;
}

/// Eigen wants one stride to be 1 and the other to step over whole rows (or columns); everything else is copied.
/// Complex matrices are copied unless they are row-major: their products in all orders take seconds to compile.
template <class T>
MatrixView<T> dense_or_packed(const MatrixView<T>& m, std::vector<T>& packed) {
    const bool row_major = m.col_stride == 1 && m.row_stride >= m.cols;
    const bool col_major = m.row_stride == 1 && m.col_stride >= m.rows;
    if (row_major || (col_major && !is_complex_type<T>)) return m;
    packed.reserve(static_cast<std::size_t>(m.rows * m.cols));
    for (std::int64_t i = 0; i < m.rows; i++)
        for (std::int64_t j = 0; j < m.cols; j++) packed.push_back(m.data[i * m.row_stride + j * m.col_stride]);
    return {packed.data(), m.rows, m.cols, m.cols, 1};
}

template <class T>
void multiply_floats(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_stride, bool accumulate) {
    constexpr int row = Eigen::RowMajor, col = Eigen::ColMajor;
    std::vector<T> packed_a, packed_b;
    const MatrixView<T> da = dense_or_packed(a, packed_a), db = dense_or_packed(b, packed_b);
    const bool row_a = da.col_stride == 1 && da.row_stride >= da.cols;
    const bool row_b = db.col_stride == 1 && db.row_stride >= db.cols;
    if constexpr (is_complex_type<T>)
        multiply(dense<T, row>(da), dense<T, row>(db), c, c_stride, accumulate);
    else if (row_a && row_b)
        multiply(dense<T, row>(da), dense<T, row>(db), c, c_stride, accumulate);
    else if (row_a)
        multiply(dense<T, row>(da), dense<T, col>(db), c, c_stride, accumulate);
    else if (row_b)
        multiply(dense<T, col>(da), dense<T, row>(db), c, c_stride, accumulate);
    else
        multiply(dense<T, col>(da), dense<T, col>(db), c, c_stride, accumulate);
}

MatrixView<double> widened(const MatrixView<float>& m, std::vector<double>& memory) {
    memory.clear();
    memory.reserve(static_cast<std::size_t>(m.rows * m.cols));
    for (std::int64_t i = 0; i < m.rows; i++)
        for (std::int64_t j = 0; j < m.cols; j++)
            memory.push_back(static_cast<double>(m.data[i * m.row_stride + j * m.col_stride]));
    return {memory.data(), m.rows, m.cols, m.cols, 1};
}

/// Widened a piece of the inner dimension at a time: a weight of a gigabyte is not to be there three times.
void multiply_in_f64(const MatrixView<float>& a, const MatrixView<float>& b, float* c, std::int64_t c_stride,
                     bool accumulate) {
    constexpr std::int64_t kPiece = 512;
    std::vector<double> wide_a, wide_b, sums(static_cast<std::size_t>(a.rows * b.cols));
    for (std::int64_t k = 0; k < a.cols; k += kPiece) {
        const std::int64_t count = std::min(kPiece, a.cols - k);
        const MatrixView<float> left{a.data + k * a.col_stride, a.rows, count, a.row_stride, a.col_stride};
        const MatrixView<float> right{b.data + k * b.row_stride, count, b.cols, b.row_stride, b.col_stride};
        multiply_floats(widened(left, wide_a), widened(right, wide_b), sums.data(), b.cols, k > 0);
    }
    for (std::int64_t i = 0; i < a.rows; i++)
        for (std::int64_t j = 0; j < b.cols; j++) {
            float& result = c[i * c_stride + j];
            const double sum = sums[static_cast<std::size_t>(i * b.cols + j)];
            result = static_cast<float>(accumulate ? static_cast<double>(result) + sum : sum);
        }
}

/// Unsigned, because signed overflow is undefined and integers are to wrap.
void multiply_integers(const MatrixView<std::int64_t>& a, const MatrixView<std::int64_t>& b, std::int64_t* c,
                       std::int64_t c_stride) {
    using U = std::uint64_t;
    for (std::int64_t i = 0; i < a.rows; i++)
        for (std::int64_t k = 0; k < a.cols; k++) {
            const U left = static_cast<U>(a.data[i * a.row_stride + k * a.col_stride]);
            for (std::int64_t j = 0; j < b.cols; j++) {
                const U right = static_cast<U>(b.data[k * b.row_stride + j * b.col_stride]);
                std::int64_t& sum = c[i * c_stride + j];
                sum = static_cast<std::int64_t>(static_cast<U>(sum) + left * right);
            }
        }
}

}  // namespace

template <class T>
void gemm(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_stride, bool accumulate) {
    WHITTLE_CHECK(a.cols == b.rows, "inner dimensions of a product");
    constexpr bool integers = std::is_same_v<T, std::int64_t>;
    if (!accumulate && (integers || a.cols == 0))
        for (std::int64_t i = 0; i < a.rows; i++) std::fill_n(c + i * c_stride, b.cols, T{0});
    if (a.rows == 0 || b.cols == 0 || a.cols == 0) return;
    if constexpr (integers) return multiply_integers(a, b, c, c_stride);
    if constexpr (std::is_same_v<T, float>)
        if (a.cols > kMostProductsInF32) return multiply_in_f64(a, b, c, c_stride, accumulate);
    if constexpr (!integers) multiply_floats(a, b, c, c_stride, accumulate);
}

template void gemm(const MatrixView<float>&, const MatrixView<float>&, float*, std::int64_t, bool);
template void gemm(const MatrixView<double>&, const MatrixView<double>&, double*, std::int64_t, bool);
template void gemm(const MatrixView<Complex64>&, const MatrixView<Complex64>&, Complex64*, std::int64_t, bool);
template void gemm(const MatrixView<Complex128>&, const MatrixView<Complex128>&, Complex128*, std::int64_t, bool);
template void gemm(const MatrixView<std::int64_t>&, const MatrixView<std::int64_t>&, std::int64_t*, std::int64_t, bool);

}  // namespace whittle
