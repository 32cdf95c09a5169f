// Samples that several families of ATen's share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ops/samples/samples.h"

namespace whittle::samples {

/// op(gradient, value, rest...): every layout on either side, all pairs of special values, none, and the gradient of a
/// sum, which is one number everywhere.
Samples of_gradient(DType dtype, const ArgList& rest);
Samples of_gradient(DType dtype);

/// op(self, kernel_size, stride, padding, ceil_mode) for shapes, layouts and values worth trying.
Samples pooling_samples(DType dtype, std::int64_t rank);
/// op(self, output_size).
Samples adaptive_samples(DType dtype, std::int64_t rank);
template <int Rank>
Samples sample_adaptive(DType dtype) {
    return adaptive_samples(dtype, Rank);
}

/// What the parameters of an op are.
struct ResizeForm {
    bool vec = false;  ///< takes sizes or factors, not sizes alone
    bool align_corners = false, gradient = false;
    bool tiny_factor = false;  ///< positions far behind the image, where LibTorch interpolates nothing
};
/// A call of that form for sizes and factors that are worth trying.
Samples resize_samples(DType dtype, std::size_t rank, const ResizeForm& form);

/// A sample with the result's dtype given, and one that leaves it to the op, of each call.
Samples dtype_samples(DType dtype, const std::vector<std::pair<std::string, ArgList>>& calls);

}  // namespace whittle::samples
