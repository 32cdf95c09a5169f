// The types arithmetic is done in. Kernels are instantiated for these, not for each storage dtype: reduced floats
// compute in float as ATen's CPU kernels do, and integers in int64_t, whose low bits equal those of the narrow type.
#pragma once

#include "tensor/tensor.h"

namespace whittle {

/// float for f32 and reduced floats, double for f64, int64_t for integers (u64 by its bits), bool for bool: calls
/// f(T{}).
template <class F>
decltype(auto) visit_compute(DType dtype, F&& f) {
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

/// Row-major elements of `tensor`, broadcast to `sizes`, converted to T.
template <class T>
std::vector<T> load_broadcast(const Tensor& tensor, const Sizes& sizes);

/// A contiguous tensor of `dtype` from row-major values: floats round to nearest even, integers wrap, NaN and
/// out-of-range floats become what ATen's cast gives on x86.
template <class T>
Tensor store(const std::vector<T>& values, DType dtype, Sizes sizes);

}  // namespace whittle
