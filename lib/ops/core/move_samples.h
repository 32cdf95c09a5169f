// Samples for ops that move elements: values that show where each went, special ones among them, in every memory
// layout.
#pragma once

#include <string>
#include <vector>

#include "ops/core/samples.h"

namespace whittle::samples {

/// A ramp in which every third element is a special value of the dtype (NaN, infinities, extremes).
Tensor mixed(DType dtype, const Sizes& sizes);

/// op(mixed, rest...) with the tensor contiguous, transposed, strided and with negative strides.
std::vector<Sample> moved(DType dtype, const std::string& label, const Sizes& sizes, const ArgList& rest = {});

/// op(mixed, rest...) once.
Sample once(DType dtype, const std::string& label, const Sizes& sizes, const ArgList& rest = {});

/// op(self, dim, index, rest...) with the tensors self, index and source.
Sample scattered(const std::string& label, std::vector<Tensor> tensors, std::int64_t dim, const ArgList& rest);

/// Indices in 0..bound-1, seeded, or the given ones.
Tensor indices(const Sizes& sizes, std::int64_t bound, std::uint64_t seed = 1);
inline Tensor positions(const std::vector<std::int64_t>& values, const Sizes& sizes) {
    return Tensor::of(values, sizes);
}

}  // namespace whittle::samples
