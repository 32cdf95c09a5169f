// What rules for open results (OpDef::open) share: each function returns the sentence of the first element for which a
// definition leaves the result open or forbids the operand, and nothing where it defines all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/scalar.h"
#include "tensor/tensor.h"

namespace whittle {

using Reason = std::optional<std::string>;

/// The size of dimension `dim`, counted from the end where it is negative; 1 of a 0-d tensor, as ATen has it. Throws
/// Error for a dimension that the tensor does not have.
std::int64_t extent(const Tensor& tensor, std::int64_t dim);

/// "WHAT 7 of OP is out of range: expected LOW to HIGH". Of integers; those equal to `ignored` are in range.
Reason out_of_range(std::string_view op, std::string_view what, const Tensor& integers, std::int64_t low,
                    std::int64_t high, std::optional<std::int64_t> ignored = {});
/// The same of indices into a dimension of `size` elements; negative ones count from its end, if at all.
Reason bad_index(std::string_view op, const Tensor& indices, std::int64_t size, bool negatives);

/// "OP writes index TEXT(k) twice, without a reduction": write k puts the k-th part of `written` at targets[k], and
/// another write puts other bytes there. Equal ones leave nothing open. `written` has targets.size() parts of equal
/// size.
Reason written_twice(std::string_view op, const std::vector<std::int64_t>& targets, const Tensor& written,
                     const std::function<std::string(std::size_t)>& text);
/// The same of writes that are named by the elements of `indices`.
Reason written_twice(std::string_view op, const std::vector<std::int64_t>& targets, const Tensor& written,
                     const Tensor& indices);

/// Both broadcast and promoted: an integer divided by 0, or the least i32 or i64 by -1, whose quotient C++ leaves
/// undefined (LibTorch 1.13 traps: pytorch/pytorch#124644 and #138425). Floats divide as IEEE 754 says.
Reason bad_division(std::string_view op, const std::variant<Tensor, Scalar>& dividend,
                    const std::variant<Tensor, Scalar>& divisor);
/// A shift by a negative amount, or by as many bits as the promoted dtype has, or more.
Reason bad_shift(std::string_view op, const std::variant<Tensor, Scalar>& value,
                 const std::variant<Tensor, Scalar>& amount);
/// An integer to a negative integer.
Reason negative_exponent(std::string_view op, const Tensor& base, const Tensor& exponent);

/// The integer dtype holds the float without its fraction.
bool holds_whole(DType integers, double value);
/// Floats that are converted to an integer dtype, which does not hold them without their fraction. Nothing for others.
Reason bad_conversion(std::string_view op, const Tensor& from, DType to);

/// "OP has a scale of 0".
Reason zero_scale(std::string_view op, const Tensor& scale);
/// "the WHAT of OP is NaN". Nothing of integers.
Reason not_a_number(std::string_view op, std::string_view what, const Tensor& values);
/// The same, also of an infinity.
Reason not_finite(std::string_view op, std::string_view what, const Tensor& values);

}  // namespace whittle
