// What linear algebra shares: batches of matrices as Eigen's, and back.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/aten/formulas.h"
#include "tensor/compute.h"

namespace whittle::matrices {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
using Whole = Matrix<std::int64_t>;
using Metas = std::vector<ValueMeta>;
using Tensors = std::vector<Tensor>;

/// f64 and f32, which LAPACK has, and complex numbers of them.
inline constexpr DTypeSet kDTypes = set_of(DType::f64) | set_of(DType::f32) | kComplex;

/// Of the parts of a complex number, or the number's own type.
template <class T>
using Real = typename Eigen::NumTraits<T>::Real;

inline Sizes batch_of(const Sizes& sizes) { return {sizes.begin(), sizes.end() - 2}; }
inline std::int64_t rows_of(const Sizes& sizes) { return sizes[sizes.size() - 2]; }

inline void require_matrix(const Schema& schema, const ValueMeta& a) {
    if (a.sizes.size() < 2)
        throw Error(schema.name + ": found sizes " + to_string(a.sizes) + ", expected a matrix or a batch of matrices");
}
inline void require_square(const Schema& schema, const ValueMeta& a) {
    require_matrix(schema, a);
    if (rows_of(a.sizes) != a.sizes.back())
        throw Error(schema.name + ": found sizes " + to_string(a.sizes) + ", expected square matrices");
}

/// f(index of the matrix, the matrix) for each of the batch.
template <class T, class F>
void each_matrix(const Tensor& a, F f) {
    const std::vector<T> elements = a.values<T>();
    const std::int64_t m = rows_of(a.sizes()), n = a.sizes().back(), count = element_count(batch_of(a.sizes()));
    using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    for (std::int64_t i = 0; i < count; ++i)
        f(i, Matrix<T>(Eigen::Map<const RowMajor>(elements.data() + i * m * n, m, n)));
}

/// A batch of results, written matrix by matrix; vectors are matrices of one column.
template <class T>
class Results {
  public:
    Results(DType dtype, Sizes sizes)
        : dtype_(dtype), sizes_(std::move(sizes)), elements_(static_cast<std::size_t>(element_count(sizes_))) {}

    template <class Derived>
    void put(std::int64_t index, const Eigen::MatrixBase<Derived>& matrix) {
        T* at = elements_.data() + index * matrix.size();
        for (Eigen::Index i = 0; i < matrix.rows(); ++i)
            for (Eigen::Index j = 0; j < matrix.cols(); ++j) at[i * matrix.cols() + j] = matrix(i, j);
    }
    void put(std::int64_t index, T value) { elements_[static_cast<std::size_t>(index)] = value; }

    Tensor tensor() const { return store(elements_, dtype_, sizes_); }

  private:
    DType dtype_;
    Sizes sizes_;
    std::vector<T> elements_;
};

/// Elements of the sizes `given` (x's own, or with a column for its vectors) under the sizes they broadcast to.
inline Tensor under(const Tensor& x, const Sizes& given, const Sizes& sizes) {
    const Tensor rows = x.sizes() == given ? x : x.contiguous();
    const Tensor own = x.sizes() == given ? x : rows.as_strided(given, contiguous_strides(given), rows.offset());
    return own.as_strided(sizes, broadcast_strides(given, own.strides(), sizes), own.offset());
}

/// f(T{}) for the type that an operand's kernel computes in: double, or complex numbers of it. Results of f32 are
/// rounded from it; a kernel for f32 of its own would double what Eigen's templates take to compile.
template <class F>
Tensors in_double(const Tensor& a, F f) {
    return is_complex(a.dtype()) ? f(Complex128()) : f(0.0);
}

/// LibTorch refuses singular matrices only where it was asked to look.
inline void check_info(const Arguments<Tensor>& a, std::int64_t info, const char* what) {
    if (info != 0 && a.boolean("check_errors"))
        throw Error(a.schema().name + ": found a matrix that is " + what + " at pivot " + std::to_string(info));
}

// --- Of values, in gradient rules ---

/// Transposed; of complex matrices the conjugate, too.
inline V turned(const V& x) { return aten::conjugate(aten::transpose(x, -2, -1)); }
/// Of x, whose pseudoinverse `inverse` has the gradient `of_inverse`; in pseudo_inverse.cpp.
V of_pseudo_inverse(const V& x, const V& inverse, const V& of_inverse);
inline V column(const V& x) { return aten::unsqueeze(x, -1); }
inline V triangle(const V& x, bool upper, std::int64_t diagonal) {
    return upper ? aten::triu(x, diagonal) : aten::tril(x, diagonal);
}

}  // namespace whittle::matrices
