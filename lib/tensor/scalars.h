// The elements of a tensor as numbers of their own kind, for text: an integer is never rounded to a double.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace whittle {

/// Returns one element as a tensor without dimensions, which shares the memory. `contiguous`: as contiguous() gives it.
Tensor element_of(const Tensor& contiguous, std::int64_t element);

/// Returns all elements in row-major order. Throws Error for complex numbers.
std::vector<Scalar> scalars_of(const Tensor& tensor);

/// Returns the element as a person reads it: all digits of an integer, "true", seven digits of a floating-point number
/// ("nan", "inf"), "1-2.5j". A whole number below 1e10 has no exponent.
std::string short_number(const Scalar& value);
std::string short_number_at(const Tensor& contiguous, std::int64_t element);

/// Whether all elements have the same bits; also where there is none.
bool all_alike(const Tensor& tensor);

}  // namespace whittle
