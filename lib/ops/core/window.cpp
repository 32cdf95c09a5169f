#include "ops/core/window.h"

#include <algorithm>
#include <numeric>

#include "expr/fold.h"

namespace whittle {

bool Window::leaves_image() const {
    for (std::size_t d = 0; d < in.size(); d++)
        if (padding[d] > 0 || reach(d) > in[d]) return true;
    return false;
}

std::int64_t Window::overlap() const {
    std::int64_t result = 1;
    for (std::size_t d = 0; d < in.size(); d++) result *= (kernel[d] + stride[d] - 1) / stride[d];
    return result;
}

Sizes window_parameter(const std::string& op, const std::string& parameter, Sizes values, std::int64_t rank,
                       const Sizes& otherwise, std::int64_t least) {
    if (values.empty()) return otherwise;
    if (values.size() == 1) values.assign(static_cast<std::size_t>(rank), values[0]);
    if (static_cast<std::int64_t>(values.size()) != rank)
        throw Error(op + ": found " + parameter + "=" + to_string(values) +
                    ", expected one value, or one value for each of " + std::to_string(rank) + " dimensions");
    for (const std::int64_t value : values)
        if (value < least)
            throw Error(op + ": found " + parameter + "=" + to_string(values) + ", expected values of at least " +
                        std::to_string(least));
    return values;
}

Sizes coordinates(std::int64_t flat, const Sizes& sizes) {
    Sizes result(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0;) {
        result[d] = flat % sizes[d];
        flat /= sizes[d];
    }
    return result;
}

std::vector<std::int64_t> window_offsets(const Window& window) {
    const std::int64_t taps = window.taps(), places = window.places();
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(taps * places));
    const std::size_t rank = window.kernel.size();
    const Strides strides = contiguous_strides(window.in);
    for (std::int64_t tap = 0; tap < taps; tap++) {
        const Sizes t = coordinates(tap, window.kernel);
        Sizes place(rank, 0);
        for (std::int64_t p = 0; p < places; p++) {
            std::int64_t offset = 0;
            for (std::size_t d = 0; d < rank && offset >= 0; d++) {
                const std::int64_t at = place[d] * window.stride[d] - window.padding[d] + t[d] * window.dilation[d];
                offset = at < 0 || at >= window.in[d] ? -1 : offset + at * strides[d];
            }
            offsets[static_cast<std::size_t>(tap * places + p)] = offset;
            for (std::size_t d = rank; d-- > 0;) {  // the next place, last dimension fastest
                if (++place[d] < window.out[d]) break;
                place[d] = 0;
            }
        }
    }
    return offsets;
}

expr::Expr window_position(const Window& window, std::size_t d, const expr::Expr& place, const expr::Expr& tap) {
    return place * expr::index(window.stride[d]) + tap * expr::index(window.dilation[d]);
}

expr::Value padded(expr::GroupBuilder& builder, const Window& window, const expr::Value& image, DType dtype,
                   const Scalar& fill, std::int64_t times) {
    if (!window.leaves_image()) return convert(dtype, loadable(builder, image, times));
    const std::size_t spatial = window.in.size(), leading = image.sizes().size() - spatial;
    Sizes sizes(image.sizes().begin(), image.sizes().begin() + static_cast<std::ptrdiff_t>(leading));
    for (std::size_t d = 0; d < spatial; d++) sizes.push_back(window.reach(d));
    const expr::Value result(dtype, sizes, [=](const expr::Index& i) {
        expr::Index at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(leading));
        expr::Expr inside;
        for (std::size_t d = 0; d < spatial; d++) {  // loads are clamped, since a select evaluates both sides
            const expr::Expr position = i[leading + d] - expr::index(window.padding[d]);
            const expr::Expr last = expr::index(window.in[d] - 1);
            at.push_back(expr::max(expr::index(0), expr::min(position, last)));
            const expr::Expr here = expr::index(0) <= position && position <= last;
            inside = inside ? inside && here : here;
        }
        return expr::select(inside, convert(dtype, image(at)), expr::constant(dtype, fill));
    });
    return builder.materialize(result, "padded");
}

Taps::Taps(const Window& window, std::size_t d)
    : stride_(window.stride[d]),
      padding_(window.padding[d]),
      dilation_(window.dilation[d]),
      kernel_(window.kernel[d]),
      last_(window.out[d] - 1),
      common_(std::gcd(stride_, dilation_)),
      step_(stride_ / common_) {
    while (inverse_ * (dilation_ / common_) % step_ != 1 % step_) inverse_++;
    // Every `stride` positions the places are one further.
    const std::int64_t positions = window.in[d];
    for (std::int64_t p = 0; p < std::min(stride_, positions); p++) before_ = before_ || place(p, count() - 1) < 0;
    for (std::int64_t p = std::max<std::int64_t>(positions - stride_, 0); p < positions; p++)
        behind_ = behind_ || place(p, 0) > last_;
}

std::int64_t Taps::place(std::int64_t position, std::int64_t u) const {
    const std::int64_t from = position + padding_, tap = from % stride_ / common_ * inverse_ % step_ + u * step_;
    return expr::euclidean_div(from - tap * dilation_, stride_);
}

Taps::Tap Taps::operator()(const expr::Expr& position, const expr::Expr& u) const {
    using expr::Expr;
    using expr::index;
    const Expr from = position + index(padding_), stride = index(stride_);
    const Expr first = from % stride / index(common_) * index(inverse_);
    const Expr tap = (inverse_ == 1 ? first : first % index(step_)) + u * index(step_);
    const Expr place = dilation_ == 1 ? from / stride - u : (from - tap * index(dilation_)) / stride;
    Tap result{tap, place, {}};
    const auto require = [&](bool needed, const Expr& condition) {
        if (needed) result.falls = result.falls ? result.falls && condition : condition;
    };
    require(common_ > 1, expr::equal(from % index(common_), index(0)));
    require(kernel_ % step_ != 0, tap <= index(kernel_ - 1));
    require(before_, index(0) <= place);
    require(behind_, place <= index(last_));
    if (kernel_ % step_ != 0) result.tap = expr::min(tap, index(kernel_ - 1));
    if (before_ || behind_) result.place = expr::max(index(0), expr::min(place, index(last_)));
    return result;
}

}  // namespace whittle
