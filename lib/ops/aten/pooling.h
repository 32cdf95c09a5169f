// What maximum and average pooling share: their windows, and reading an image through them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/core/window.h"

namespace whittle {

/// One pooling of `planes` images (batch and channels alike).
struct Pooling {
    Window window = {};     ///< adaptive: the kernel is the largest window, and stride, padding, dilation mean nothing
    bool adaptive = false;  ///< place o covers positions floor(o in / out) up to ceil((o + 1) in / out)
    std::int64_t planes = 1;
    Sizes sizes = {};  ///< of the result: those of the operand with the window's `out` at the end

    /// As window_offsets(), for both kinds.
    std::vector<std::int64_t> offsets() const;
    std::int64_t start(std::size_t d, std::int64_t place) const { return place * window.in[d] / window.out[d]; }
    std::int64_t end(std::size_t d, std::int64_t place) const {
        return ((place + 1) * window.in[d] + window.out[d] - 1) / window.out[d];
    }
    /// Whether every place of dimension d has a window of the kernel's size.
    bool uniform(std::size_t d) const;
};

/// Sizes whose last `rank` dimensions, those of an image, became one: [..., area].
Sizes flat_sizes(const Sizes& sizes, std::size_t rank);

/// Windows of a kernel over the last `rank` dimensions. No stride means the kernel's size; with `ceil` the last window
/// may leave the padded image, but starts inside of it. Throws Error for parameters ATen refuses.
Pooling sliding_pooling(const std::string& op, const ValueMeta& self, std::int64_t rank, const Sizes& kernel,
                        const Sizes& stride, const Sizes& padding, const Sizes& dilation, bool ceil);
Pooling adaptive_pooling(const std::string& op, const ValueMeta& self, std::int64_t rank, const Sizes& output_size);

/// A pooling and what its sums are divided by: the given divisor, or the number of positions a window covers.
struct Average {
    Pooling pooling = {};
    bool count_padding = true;  ///< positions in the padding count (beyond the padding they never do)
    std::optional<std::int64_t> divisor = {};

    /// Positions that place `place` of dimension d divides by; at least 1, so that a window off the image gives 0.
    std::int64_t count(std::size_t d, std::int64_t place) const {
        const Window& w = pooling.window;
        if (pooling.adaptive) return pooling.end(d, place) - pooling.start(d, place);
        const std::int64_t margin = count_padding ? w.padding[d] : 0;
        const std::int64_t start = place * w.stride[d] - w.padding[d];
        const std::int64_t end = std::min(start + w.kernel[d], w.in[d] + margin);
        return std::max<std::int64_t>(end - std::max(start, -margin), 1);
    }
};

/// Of a call of avg_poolNd or adaptive_avg_poolNd. Throws Error for parameters ATen refuses.
template <int Rank, bool Adaptive, class T>
Average average_of(const Arguments<T>& args) {
    const std::string& op = args.schema().name;
    const ValueMeta self = meta_of(args.tensor("self"));
    if constexpr (Adaptive) return {adaptive_pooling(op, self, Rank, args.integers("output_size"))};
    Average average;
    average.pooling = sliding_pooling(op, self, Rank, args.integers("kernel_size"), args.integers("stride"),
                                      args.integers("padding"), {}, args.boolean("ceil_mode"));
    average.count_padding = args.boolean("count_include_pad");
    if constexpr (Rank > 1) average.divisor = args.optional_integer("divisor_override");
    if (average.divisor == 0) throw Error(op + ": found divisor_override=0, expected a nonzero number");
    return average;
}

/// What the op's backward op gives: that of each rank has its name.
V backward_op(const OfSelf& r, const ArgList& rest = {});

/// An image in a lowering, seen through the windows of a pooling: i is a place (with its leading dimensions), r a tap.
class WindowReader {
  public:
    /// Elements are of `dtype`; taps outside of a window or the image read `fill`.
    WindowReader(expr::GroupBuilder& builder, const Pooling& pooling, const expr::Value& image, DType dtype,
                 const Scalar& fill);

    expr::Expr element(const expr::Index& i, const expr::Index& r) const;
    /// bool: the tap falls on the image (and into an adaptive window); null when all do.
    expr::Expr inside(const expr::Index& i, const expr::Index& r) const;
    /// Row-major position of the tap in the plane, where inside().
    expr::Expr flat_position(const expr::Index& i, const expr::Index& r) const;

  private:
    expr::Expr position(std::size_t d, const expr::Index& i, const expr::Index& r) const;

    Pooling pooling_;
    expr::Value image_;
    DType dtype_;
    Scalar fill_;
    bool bare_ = false;  ///< image_ is the operand itself: positions count from 0
};

}  // namespace whittle
