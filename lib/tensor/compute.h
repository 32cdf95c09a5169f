// The types arithmetic is done in. Kernels are instantiated for these, not for each storage dtype: reduced floats
// compute in float as ATen's CPU kernels do, and integers in int64_t, whose low bits equal those of the narrow type.
#pragma once

#include "tensor/tensor.h"

namespace whittle {

/// Throws Error: an op that is not defined for complex numbers met some.
[[noreturn]] void reject_complex(DType dtype);

/// float for f32 and reduced floats, double for f64, int64_t for integers (u64 by its bits), bool for bool: calls
/// f(T{}). Throws Error for complex dtypes.
template <class F>
decltype(auto) visit_compute(DType dtype, F&& f) {
    if (is_complex(dtype)) reject_complex(dtype);
    if (dtype == DType::f64) return f(double{});
    if (is_floating(dtype)) return f(float{});
    if (dtype == DType::boolean) return f(bool{});
    return f(std::int64_t{});
}

/// As visit_compute(), but uint64_t for u64: for kernels that order or divide, or convert to floats, where the numbers
/// from 2^63 are not what their bits are as int64_t.
template <class F>
decltype(auto) visit_ordered(DType dtype, F&& f) {
    if (dtype == DType::u64) return f(std::uint64_t{});
    return visit_compute(dtype, std::forward<F>(f));
}

/// std::complex<float> or std::complex<double>, for a complex dtype.
template <class F>
decltype(auto) visit_complex(DType dtype, F&& f) {
    if (dtype == DType::c128) return f(Complex128{});
    return f(Complex64{});
}

/// As visit_compute(), and complex: for kernels that put nothing in order and round nothing to integers.
template <class F>
decltype(auto) visit_arithmetic(DType dtype, F&& f) {
    if (is_complex(dtype)) return visit_complex(dtype, std::forward<F>(f));
    return visit_compute(dtype, std::forward<F>(f));
}

/// Row-major elements of `tensor`, broadcast to `sizes`, converted to T. Throws Error where they fit no memory.
template <class T>
std::vector<T> load_broadcast(const Tensor& tensor, const Sizes& sizes);

/// The same in an array: for kernels that share it, and for bool, of which std::vector has no memory.
template <class T>
std::shared_ptr<T[]> load_shared(const Tensor& tensor, const Sizes& sizes);

/// A contiguous tensor of `dtype` from row-major values: floats round to nearest even, integers wrap, NaN and
/// out-of-range floats become what ATen's cast gives on x86.
template <class T>
Tensor store(const std::vector<T>& values, DType dtype, Sizes sizes);

}  // namespace whittle
