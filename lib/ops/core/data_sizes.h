// Results whose sizes are data of an operand: where elements are not zero, and which are different. ATen's and ONNX's
// ops ask alike. How a graph has such calls: known.h.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace whittle {

/// Where elements are not zero, in row-major order: one list per dimension, of equal lengths. Of a 0-d tensor none.
std::vector<std::vector<std::int64_t>> nonzero_positions(const Tensor& tensor);
/// How many elements are not zero.
std::int64_t nonzero_count(const Tensor& tensor);

/// Different slices along a dimension: where each is found first, which of them each slice is, and how often.
struct Distinct {
    std::vector<std::int64_t> first, inverse, counts;
};
enum class NaNs : std::uint8_t { equal, different };
/// In ascending order (element by element, NaN behind every number) where `sorted`, else in the order of their first
/// occurrences. The tensor has that dimension.
Distinct distinct_slices(const Tensor& tensor, std::int64_t axis, bool sorted, NaNs nans);

}  // namespace whittle
