// Dense matrix products for the reference kernels. Only gemm.cpp includes Eigen's products, which are costly to
// compile.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "tensor/compute.h"
#include "tensor/convert.h"

namespace whittle {

/// Calls f(T{}) with the type sums of products are accumulated in: float for f32 and reduced floats (as ATen's opmath),
/// double, or int64_t, which wraps. There is no arithmetic on bool: infer has refused it.
template <class F>
decltype(auto) visit_accumulator(DType dtype, F&& f) {
    WHITTLE_CHECK(dtype != DType::boolean, "a product of bool tensors");
    if (is_complex(dtype)) reject_complex(dtype);
    if (dtype == DType::f64) return f(double{});
    if (is_floating(dtype)) return f(float{});
    return f(std::int64_t{});
}

/// As visit_accumulator(), and the complex types.
template <class F>
decltype(auto) visit_product(DType dtype, F&& f) {
    if (is_complex(dtype)) return visit_complex(dtype, std::forward<F>(f));
    return visit_accumulator(dtype, std::forward<F>(f));
}

/// A tensor's elements as T: its own memory where it holds T already, under its own strides, else a row-major copy.
template <class T>
class Elements {
  public:
    explicit Elements(const Tensor& tensor) : tensor_(tensor), strides_(tensor.strides()) {
        if (tensor.dtype() == dtype_of<T>) return;
        copy_ = tensor.values<T>();
        strides_ = contiguous_strides(tensor.sizes());
        copied_ = true;
    }
    /// As above, but row-major in any case.
    static Elements contiguous(const Tensor& tensor) {
        return Elements(tensor.dtype() == dtype_of<T> ? tensor.contiguous() : tensor);
    }

    const T* data() const { return copied_ ? copy_.data() : tensor_.data<T>(); }
    std::int64_t stride(std::int64_t dim) const { return strides_.at(static_cast<std::size_t>(dim)); }

  private:
    Tensor tensor_;
    std::vector<T> copy_;
    Strides strides_;
    bool copied_ = false;
};

/// `value` rounded to what `dtype` can hold, as it is when a kernel's result is stored: for references that compute
/// several ops in one go.
template <class T>
T rounded(T value, DType dtype) {
    if (!is_reduced(dtype)) return value;
    return visit_dtype(dtype, [&]<class R>(R) { return cast_element<T>(cast_element<R>(value)); });
}

/// A matrix in memory under any strides (in elements).
template <class T>
struct MatrixView {
    const T* data = nullptr;
    std::int64_t rows = 0, cols = 0;
    std::int64_t row_stride = 0, col_stride = 0;
};

/// Beyond so many products, a sum of them in f32 may lose half of what results are compared to, and is one in f64: here
/// and in lowerings.
inline constexpr std::int64_t kMostProductsInF32 = 4096;

/// c = a b, or c += a b. Row i of c begins at c + i * c_stride; its elements are adjacent. An empty inner dimension
/// makes c zero. T is float, double, complex or int64_t; integers wrap.
template <class T>
void gemm(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_stride, bool accumulate = false);

}  // namespace whittle
