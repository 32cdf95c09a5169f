// What happens when an op writes an element again: overwrite, add, multiply, larger, smaller. In the compute types and
// on expressions of them, with the meaning of ATen's scatter kernels
// (https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/core/complex.h"
#include "ops/core/op.h"

namespace whittle {

enum class Combine { assign, sum, prod, amax, amin };

/// Integers wrap, bool sums by or and multiplies by and, NaN wins over every number.
template <class T>
T combine(Combine how, T old, T added) {
    if (how == Combine::assign) return added;
    if constexpr (std::is_floating_point_v<T>) {
        if (how == Combine::sum) return old + added;
        if (how == Combine::prod) return old * added;
        if (std::isnan(added)) return added;
    } else if constexpr (is_complex_type<T>) {  // which have no order: for ops that do not ask for extrema of them
        return how == Combine::sum ? old + added : product(old, added);
    } else if constexpr (std::is_same_v<T, bool>) {
        return how == Combine::sum || how == Combine::amax ? old || added : old && added;
    } else {
        const auto a = static_cast<std::uint64_t>(old), b = static_cast<std::uint64_t>(added);
        if (how == Combine::sum) return static_cast<T>(a + b);
        if (how == Combine::prod) return static_cast<T>(a * b);
    }
    if constexpr (!is_complex_type<T>)
        return how == Combine::amax ? (old < added ? added : old) : (added < old ? added : old);
}

expr::Expr combine(Combine how, const expr::Expr& old, const expr::Expr& added);

/// The value that combines to the other one: 0, 1, the least and the greatest of `dtype`.
Scalar identity(Combine how, DType dtype);

}  // namespace whittle
