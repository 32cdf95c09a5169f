#include "ops/aten/pooling.h"

#include <limits>

#include "base/checked.h"
#include "base/joined.h"

namespace whittle {

using expr::Expr;
using expr::Index;

Sizes flat_sizes(const Sizes& sizes, std::size_t rank) {
    const auto image = sizes.end() - static_cast<std::ptrdiff_t>(rank);
    Sizes flat(sizes.begin(), image);
    flat.push_back(element_count(Sizes(image, sizes.end())));
    return flat;
}

bool Pooling::uniform(std::size_t d) const {
    if (!adaptive) return true;
    for (std::int64_t place = 0; place < window.out[d]; place++)
        if (end(d, place) - start(d, place) != window.kernel[d]) return false;
    return true;
}

std::vector<std::int64_t> Pooling::offsets() const {
    if (!adaptive) return window_offsets(window);
    const Strides strides = contiguous_strides(window.in);
    std::vector<std::int64_t> result;
    for (std::int64_t tap = 0; tap < window.taps(); tap++)
        for (std::int64_t place = 0; place < window.places(); place++) {
            const Sizes t = coordinates(tap, window.kernel), p = coordinates(place, window.out);
            std::int64_t offset = 0;
            for (std::size_t d = 0; d < t.size() && offset >= 0; d++) {
                const std::int64_t at = start(d, p[d]) + t[d];
                offset = at < end(d, p[d]) ? offset + at * strides[d] : -1;
            }
            result.push_back(offset);
        }
    return result;
}

namespace {

/// Planes and spatial sizes; one or two leading dimensions.
Pooling pooling_over(const std::string& op, const ValueMeta& self, std::int64_t rank) {
    const std::int64_t leading = static_cast<std::int64_t>(self.sizes.size()) - rank;
    if (leading != 1 && leading != 2)
        throw Error(op + ": found an operand of sizes " + to_string(self.sizes) + ", expected rank " +
                    std::to_string(rank + 1) + " or " + std::to_string(rank + 2));
    Pooling pooling;
    const auto spatial = self.sizes.begin() + leading;
    pooling.sizes = Sizes(self.sizes.begin(), spatial);
    pooling.planes = element_count(pooling.sizes);
    pooling.window.in = Sizes(spatial, self.sizes.end());
    for (const std::int64_t size : pooling.window.in)
        if (size < 1)
            throw Error(op + ": found an operand of sizes " + to_string(self.sizes) +
                        ", expected no dimension of size 0 except the batch");
    return pooling;
}

/// https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html#torch.nn.MaxPool2d, "Shape"
std::int64_t pooled_size(const Window& w, std::size_t d, bool ceil) {
    const Checked padded = w.in[d] + Checked(2) * w.padding[d], stride = w.stride[d];
    const Checked room = padded - (Checked(w.dilation[d]) * (w.kernel[d] - 1) + 1);
    if (room < 0 && !(ceil && room + stride > 0)) return 0;
    // Rounded up, the last window must not begin beyond the padding on the left and the input.
    if (ceil)
        return std::min((room + stride - 1) / stride + 1, (Checked(w.in[d]) + w.padding[d] - 1) / stride + 1).value();
    return (room / stride + 1).value();
}

}  // namespace

Pooling sliding_pooling(const std::string& op, const ValueMeta& self, std::int64_t rank, const Sizes& kernel,
                        const Sizes& stride, const Sizes& padding, const Sizes& dilation, bool ceil) {
    Pooling pooling = pooling_over(op, self, rank);
    Window& w = pooling.window;
    const Sizes ones(static_cast<std::size_t>(rank), 1), zeros(static_cast<std::size_t>(rank), 0);
    if (kernel.empty())
        throw Error(op + ": found an empty kernel_size, expected one number, or one for each of the " +
                    std::to_string(rank) + " window dimensions");
    w.kernel = window_parameter(op, "kernel_size", kernel, rank, ones, 1);
    w.stride = window_parameter(op, "stride", stride, rank, w.kernel, 1);
    w.padding = window_parameter(op, "padding", padding, rank, zeros, 0);
    w.dilation = window_parameter(op, "dilation", dilation, rank, ones, 1);
    for (std::size_t d = 0; d < w.in.size(); d++) {
        if (w.padding[d] > w.kernel[d] / 2)
            throw Error(op + ": found padding=" + to_string(w.padding) + " and kernel_size=" + to_string(w.kernel) +
                        ", expected a padding of at most half the kernel");
        w.out.push_back(pooled_size(w, d, ceil));
        if (w.out[d] < 1)
            throw Error(op + ": found an operand of sizes " + to_string(self.sizes) +
                        " and kernel_size=" + to_string(w.kernel) + ", expected a kernel that fits the padded operand");
    }
    pooling.sizes.insert(pooling.sizes.end(), w.out.begin(), w.out.end());
    return pooling;
}

Pooling adaptive_pooling(const std::string& op, const ValueMeta& self, std::int64_t rank, const Sizes& output_size) {
    Pooling pooling = pooling_over(op, self, rank);
    pooling.adaptive = true;
    Window& w = pooling.window;
    const Sizes ones(static_cast<std::size_t>(rank), 1), zeros(static_cast<std::size_t>(rank), 0);
    w.out = window_parameter(op, "output_size", output_size, rank, ones, 0);
    w.stride = w.dilation = ones;
    w.padding = zeros;
    for (std::size_t d = 0; d < w.in.size(); d++) {
        // Windows are measured one by one; a file may ask for any number of them.
        if (w.out[d] > (1 << 20) || w.in[d] > std::numeric_limits<std::int32_t>::max())
            throw Error(
                op + ": found output_size=" + to_string(w.out) + " for an operand of sizes " + to_string(self.sizes) +
                ", expected each number in output_size to be at most 2^20, and each spatial size of the operand to be "
                "less than 2^31");
        std::int64_t largest = 1;
        for (std::int64_t place = 0; place < w.out[d]; place++)
            largest = std::max(largest, pooling.end(d, place) - pooling.start(d, place));
        w.kernel.push_back(largest);
    }
    pooling.sizes.insert(pooling.sizes.end(), w.out.begin(), w.out.end());
    return pooling;
}

// ---- reading in a lowering ----

WindowReader::WindowReader(expr::GroupBuilder& builder, const Pooling& pooling, const expr::Value& image, DType dtype,
                           const Scalar& fill)
    : pooling_(pooling), dtype_(dtype), fill_(fill) {
    const Window& w = pooling.window;
    bare_ = pooling.adaptive || !w.leaves_image();
    image_ = pooling.adaptive ? convert(dtype, loadable(builder, image, 2))
                              : padded(builder, w, image, dtype, fill, w.overlap());
}

Expr WindowReader::position(std::size_t d, const Index& i, const Index& r) const {
    const Window& w = pooling_.window;
    const Expr& place = i[i.size() - w.in.size() + d];
    if (!pooling_.adaptive) return window_position(w, d, place, r[d]);
    const std::int64_t places = std::max<std::int64_t>(w.out[d], 1);  // none: any expression will do
    if (w.in[d] % places == 0) return place * expr::index(w.in[d] / places) + r[d];
    return place * expr::index(w.in[d]) / expr::index(places) + r[d];
}

Expr WindowReader::inside(const Index& i, const Index& r) const {
    const Window& w = pooling_.window;
    Expr result;
    const auto require = [&](const Expr& condition) { result = result ? result && condition : condition; };
    for (std::size_t d = 0; d < w.in.size(); d++) {
        const Expr at = position(d, i, r);
        if (pooling_.adaptive && !pooling_.uniform(d)) {
            const Expr& place = i[i.size() - w.in.size() + d];
            require(at < ((place + expr::index(1)) * expr::index(w.in[d]) + expr::index(w.out[d] - 1)) /
                             expr::index(w.out[d]));
        }
        if (pooling_.adaptive) continue;
        if (w.padding[d] > 0) require(expr::index(w.padding[d]) <= at);
        if (w.reach(d) > w.padding[d] + w.in[d]) require(at < expr::index(w.padding[d] + w.in[d]));
    }
    return result;
}

Expr WindowReader::element(const Index& i, const Index& r) const {
    const Window& w = pooling_.window;
    Index at(i.begin(), i.end() - static_cast<std::ptrdiff_t>(w.in.size()));
    for (std::size_t d = 0; d < w.in.size(); d++) {
        Expr here = position(d, i, r);
        if (pooling_.adaptive && !pooling_.uniform(d)) here = expr::min(here, expr::index(w.in[d] - 1));
        at.push_back(here);
    }
    const Expr value = image_(at);
    const Expr condition = pooling_.adaptive ? inside(i, r) : nullptr;  // sliding windows read padding instead
    return condition ? expr::select(condition, value, expr::constant(dtype_, fill_)) : value;
}

Expr WindowReader::flat_position(const Index& i, const Index& r) const {
    const Window& w = pooling_.window;
    Expr flat = expr::index(0);
    for (std::size_t d = 0; d < w.in.size(); d++)
        flat = flat * expr::index(w.in[d]) + (position(d, i, r) - expr::index(w.padding[d]));
    return flat;
}

V backward_op(const OfSelf& r, const ArgList& rest) {
    return r.call.builder().call("aten." + r.call.schema().name + "_backward.default", joined({r.g, r.x}, rest));
}

}  // namespace whittle
