// Moving elements without computing on them: what kernels and lowerings of joins, pads, gathers and scatters share.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/core/op.h"

namespace whittle {

/// Calls f(index) for every index of `sizes` in row-major order.
template <class F>
void for_each_index(const Sizes& sizes, F&& f) {
    if (element_count(sizes) == 0) return;
    std::vector<std::int64_t> index(sizes.size(), 0);
    while (true) {
        f(std::as_const(index));
        std::size_t d = sizes.size();
        while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
        if (d == 0) return;
    }
}

/// Sum of index * stride.
inline std::int64_t element_offset(const std::vector<std::int64_t>& index, const Strides& strides) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
    return offset;
}

/// A contiguous tensor of `sizes` whose element at i is that of `self` at source(i), an element offset from self's
/// first. Elements are moved as bytes, so every bit of a NaN survives.
template <class Source>
Tensor pick(const Tensor& self, const Sizes& sizes, Source&& source) {
    Tensor result(self.dtype(), sizes);
    const auto width = static_cast<std::int64_t>(size_of(self.dtype()));
    const auto* from = static_cast<const std::byte*>(self.raw());
    auto* to = static_cast<std::byte*>(result.mutable_raw());
    for_each_index(sizes, [&](const std::vector<std::int64_t>& index) {
        std::memcpy(to, from + source(index) * width, static_cast<std::size_t>(width));
        to += width;
    });
    return result;
}

/// Copies `from` (any strides) over the elements of the contiguous `to` seen under `to_strides` from element
/// `to_offset`. Equal dtypes.
void copy_into(Tensor& to, const Strides& to_strides, std::int64_t to_offset, const Tensor& from);

/// The tensor with a 0-d one seen as [1]: ATen lets operations along a dimension treat a number as one element.
Sizes at_least_1d(const Sizes& sizes);
Tensor at_least_1d(const Tensor& tensor);
expr::Value at_least_1d(const expr::Value& value);

/// Throws Error "OP: index I is out of bounds for a dimension of size N" unless -size <= index < size (or 0 <= index
/// where negatives are not allowed). Returns it counted from 0.
std::int64_t checked_index(std::int64_t index, std::int64_t size, bool negatives, const std::string& op);

/// The number as a 0-d tensor. Throws Error for one that an integer dtype cannot hold.
Tensor checked_number(const Scalar& value, DType dtype, const std::string& op);

/// Throws Error unless `dtype` is i64 or i32, what ATen takes as positions.
void check_index_dtype(DType dtype, const std::string& op);
/// Throws Error for an empty dimension, which no position can be in.
void require_elements(std::int64_t size, const std::string& op);

// Expressions.

/// Clamps to 0..extent-1, so that a load at it is in bounds.
expr::Expr clamp_index(const expr::Expr& index, std::int64_t extent);
/// An element of an index tensor as an i32 index. A kernel cannot refuse one that eager would: it is clamped to the
/// nearest element, so that nothing outside the tensor is ever read or written, and who runs the kernel checks the
/// tensor before (positions.h).
expr::Expr data_index(const expr::Expr& element, std::int64_t extent, bool negatives);
/// Every dimension's index 0: for values without elements.
expr::Value empty_value(DType dtype, const Sizes& sizes);

/// bool as u8, half types as f32, else the value's own: what arithmetic and order are defined on.
expr::Expr comparable(const expr::Expr& element);

}  // namespace whittle
