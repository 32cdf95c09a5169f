// How ONNX's convolutions and poolings say where their windows lie: kernel_shape, strides, dilations, pads, auto_pad.
#pragma once

#include "ops/onnx/rewrite.h"

namespace whittle::onnx_dialect {

/// Per spatial dimension; all of one length.
struct Windows {
    Ints kernel, strides, dilations;
    Ints before, after;  ///< padding at either end

    std::size_t rank() const { return kernel.size(); }
    /// Elements from the first to the last that a window touches.
    std::int64_t extent(std::size_t dim) const { return (kernel[dim] - 1) * dilations[dim] + 1; }
    bool symmetric() const { return before == after; }
};

/// Reads the attributes of an op on `x` (batch, channels, spatial dimensions) with windows of `kernel`. auto_pad is
/// resolved for an op that shrinks: SAME_UPPER and SAME_LOWER give ceil(size / stride) results, with the odd element of
/// padding at the end or the beginning. Throws Error for lengths that do not fit the spatial rank and values out of
/// range. The op has the attributes auto_pad, pads, strides and perhaps dilations.
Windows windows_of(const Call& c, const V& x, const Ints& kernel);

/// The attribute, or `value` for each spatial dimension; checked to be from `low` to 2^31.
Ints per_dimension(const Call& c, std::string_view name, std::size_t rank, std::int64_t value, std::int64_t low);

/// Throws Error if `pads`, the sum of the pads of dimension `dim`, remove more than its `size` elements.
void check_removed(std::size_t dim, std::int64_t pads, std::int64_t size);

/// x with `value` around its spatial dimensions.
V padded(const V& x, const Windows& windows, const Scalar& value);

}  // namespace whittle::onnx_dialect
