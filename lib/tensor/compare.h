// Are two results the same? Tolerances, and a description of the first difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace whittle {

struct Tolerance {
    double rtol = 1e-4;
    double atol = 1e-5;
    bool operator==(const Tolerance&) const = default;
};

/// Usual tolerances of a dtype: f32 1e-4/1e-5, f64 1e-7/1e-9, f16 1e-2/1e-3, bf16 2e-2/1e-2, integers and bool exact.
Tolerance default_tolerance(DType dtype);

struct Difference {
    enum class Kind { dtype, sizes, nan_or_inf, value } kind;
    std::string description;     ///< "[1, 2]: got 0, expected inf; 2 of 4 values differ, largest error 3e-2 at [0, 1]"
    std::int64_t differing = 0;  ///< number of elements
    double max_abs_error = 0, max_rel_error = 0;  ///< over finite elements
};

/// Compares element by element: |got - expected| <= atol + rtol * |expected|. NaN is close only to NaN and an infinity
/// only to itself, because a tolerance relative to an infinity would accept anything. Nothing when all are close.
std::optional<Difference> compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance);

}  // namespace whittle
