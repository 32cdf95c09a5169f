// Sliding windows over the trailing dimensions of an image: what convolution and pooling share. One to three spatial
// dimensions, written once for all.
#pragma once

#include <string>
#include <vector>

#include "ops/core/dense.h"

namespace whittle {

inline constexpr DTypeSet kConvolutionTypes = kFloating | set_of(DType::i64) | kComplex;  ///< as ATen's CPU kernels

/// A window of `kernel` taps sliding over an image of `in` positions, at `out` places. Tap t of place o reads position
/// o * stride - padding + t * dilation, in each dimension.
struct Window {
    Sizes in = {}, out = {}, kernel = {};
    Sizes stride = {}, padding = {}, dilation = {};

    std::int64_t taps() const { return element_count(kernel); }
    std::int64_t places() const { return element_count(out); }
    /// Positions that the taps of all places reach in dimension d, counted from -padding.
    std::int64_t reach(std::size_t d) const { return (out[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1; }
    /// Whether some tap falls outside of the image.
    bool leaves_image() const;
    /// How many windows an element of the image is in, about.
    std::int64_t overlap() const;
};

/// ATen's lists of window parameters: one value stands for all dimensions, none at all for `otherwise`. Throws Error
/// naming the parameter when another number is given or a value is below `least`.
Sizes window_parameter(const std::string& op, const std::string& parameter, Sizes values, std::int64_t rank,
                       const Sizes& otherwise, std::int64_t least);

/// offsets[tap * places + place]: where the tap reads in a row-major image, or -1 outside of it. Taps and places count
/// row-major.
std::vector<std::int64_t> window_offsets(const Window& window);

/// The position that a window's tap reads, counted from -padding: place * stride + tap * dilation.
expr::Expr window_position(const Window& window, std::size_t d, const expr::Expr& place, const expr::Expr& tap);

/// The elements of `image` [..., in...] as `dtype`, at positions counted from -padding. With `fill` around it, as a
/// stage of sizes [..., reach...], where taps leave the image: the loops that slide the window then need no conditions.
expr::Value padded(expr::GroupBuilder& builder, const Window& window, const expr::Value& image, DType dtype,
                   const Scalar& fill, std::int64_t times);

/// Of dimension d, the taps that fall on one position of the image: tap t of place o does when
/// o stride = position + padding - t dilation. These taps are `step` apart.
class Taps {
  public:
    Taps(const Window& window, std::size_t d);

    /// As many fall on a position, at most.
    std::int64_t count() const { return (kernel_ + step_ - 1) / step_; }

    /// What number `u` of them is, and its place: in bounds also where `falls`, if there is such a condition, does not
    /// hold.
    struct Tap {
        expr::Expr tap, place, falls;
    };
    Tap operator()(const expr::Expr& position, const expr::Expr& u) const;

  private:
    std::int64_t place(std::int64_t position, std::int64_t u) const;

    std::int64_t stride_, padding_, dilation_, kernel_, last_;
    std::int64_t common_, step_, inverse_ = 1;  ///< of dilation / common, modulo step
    bool before_ = false, behind_ = false;      ///< whether some place is outside of the image
};

/// Row-major coordinates of position `flat` of an array of `sizes`.
Sizes coordinates(std::int64_t flat, const Sizes& sizes);

}  // namespace whittle
