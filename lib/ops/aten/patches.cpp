// Images as the elements under sliding windows, and back: im2col and col2im; and what max pooling kept, put back.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.Unfold.html
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/pooling.h"
#include "ops/core/open_rules.h"
#include "ops/core/window.h"

namespace whittle {
namespace {

using namespace aten;

// --- Windows ---------------------------------------------------------------------------------------------------------

/// The windows of an image [height, width], each of which is a column. Throws Error where there are none.
Window patch_window(const Arguments<V>& a, const Sizes& image) {
    const std::string& op = a.schema().name;
    Window w;
    w.in = image;
    w.kernel = window_parameter(op, "kernel_size", a.integers("kernel_size"), 2, {1, 1}, 1);
    w.dilation = window_parameter(op, "dilation", a.integers("dilation"), 2, {1, 1}, 1);
    w.padding = window_parameter(op, "padding", a.integers("padding"), 2, {0, 0}, 0);
    w.stride = window_parameter(op, "stride", a.integers("stride"), 2, {1, 1}, 1);
    for (std::size_t d = 0; d < 2; ++d) {
        const Checked reached = Checked(w.dilation[d]) * (w.kernel[d] - 1) + 1;
        const std::int64_t room = (Checked(image[d]) + Checked(2) * w.padding[d] - reached).value();
        if (image[d] < 1 || room < 0)
            throw Error(op + ": found kernel_size=" + to_string(w.kernel) + " for an image of sizes " +
                        to_string(image) + ", expected a padded image that is large enough for one window");
        w.out.push_back(room / w.stride[d] + 1);
    }
    return w;
}

/// The elements under all windows, [..., taps, places], of an image [..., height, width] that padding surrounds.
V columns_of(const Window& w, V image) {
    const auto rank = static_cast<std::int64_t>(image.sizes().size());
    for (std::size_t d = 0; d < 2; ++d) {  // [..., places, places, taps, taps]
        const std::int64_t extent = (w.kernel[d] - 1) * w.dilation[d] + 1;
        image = unfold(image, rank - 2 + static_cast<std::int64_t>(d), extent, w.stride[d]);
        if (w.dilation[d] > 1) image = slice(image, -1, 0, extent, w.dilation[d]);
    }
    Sizes order(static_cast<std::size_t>(rank + 2)), sizes(image.sizes().begin(), image.sizes().end() - 4);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::rotate(order.end() - 4, order.end() - 2, order.end());
    sizes.insert(sizes.end(), {w.taps(), w.places()});
    return reshaped(permute(image, order), sizes);
}

/// An image's sizes with its padding.
Sizes padded_sizes(const Window& w) { return {w.in[0] + 2 * w.padding[0], w.in[1] + 2 * w.padding[1]}; }

/// [batch, channels, height, width] or without a batch, as [images, height * width]. Throws Error for others.
CallResults decompose_im2col(const Call& c) {
    const V x = c.tensor("self");
    const Sizes& sizes = x.sizes();
    if (sizes.size() != 3 && sizes.size() != 4)
        throw Error("im2col: found an operand of sizes " + to_string(sizes) + ", expected [N, C, H, W] or [C, H, W]");
    const Window w = patch_window(c, Sizes(sizes.end() - 2, sizes.end()));
    Sizes columns(sizes.begin(), sizes.end() - 3);
    columns.push_back((Checked(sizes[sizes.size() - 3]) * w.taps()).value());
    columns.push_back(w.places());
    const Ints pads = {w.padding[1], w.padding[1], w.padding[0], w.padding[0]};
    const bool padded = w.padding != Sizes{0, 0};
    const V image = padded ? constant_pad_nd(x, pads) : x;
    return own_copy(reshaped(columns_of(w, image), columns));
}

CallResults decompose_col2im(const Call& c) {
    const V x = c.tensor("self");
    const Sizes& sizes = x.sizes();
    const Sizes image = window_parameter("col2im", "output_size", c.integers("output_size"), 2, {1, 1}, 1);
    const Window w = patch_window(c, image);
    const bool fits = (sizes.size() == 2 || sizes.size() == 3) && sizes[sizes.size() - 2] % w.taps() == 0 &&
                      sizes.back() == w.places();
    if (!fits)
        throw Error("col2im: found an operand of sizes " + to_string(sizes) + ", expected [N, C * " +
                    std::to_string(w.taps()) + ", " + std::to_string(w.places()) + "], or the same without N");
    const Sizes whole = padded_sizes(w);
    const std::int64_t pixels = element_count(whole);
    Sizes rows(sizes.begin(), sizes.end() - 2);
    rows.push_back(sizes[sizes.size() - 2] / w.taps());
    Sizes images = rows, flat = rows;
    const std::int64_t count = (Checked(w.taps()) * w.places()).value();
    rows.push_back(count);
    flat.push_back(pixels);
    images.insert(images.end(), whole.begin(), whole.end());
    const V range = arange(c.builder(), pixels, DType::i64);
    const V at = reshaped(columns_of(w, reshaped(range, whole)), Ints{count});
    const V added = index_add(zeros(c.builder(), flat, x.dtype()), static_cast<std::int64_t>(rows.size()) - 1, at,
                              reshaped(x, rows));
    V kept = reshaped(added, images);
    for (std::size_t d = 0; d < 2; ++d)
        kept = sliced(kept, static_cast<std::int64_t>(d) - 2 + static_cast<std::int64_t>(images.size()), w.padding[d],
                      w.padding[d] + w.in[d]);
    return w.padding == Sizes{0, 0} ? kept : own_copy(kept);
}

V im2col_grad(const OfSelf& r) {
    const auto ints = [&](const char* name) { return r.call.integers(name); };
    const Sizes& sizes = r.x.sizes();
    return aten::col2im(r.g, Sizes(sizes.end() - 2, sizes.end()), ints("kernel_size"), ints("dilation"),
                        ints("padding"), ints("stride"));
}
V col2im_grad(const OfSelf& r) {
    const auto ints = [&](const char* name) { return r.call.integers(name); };
    return aten::im2col(r.g, ints("kernel_size"), ints("dilation"), ints("padding"), ints("stride"));
}

// --- Back from pooling -----------------------------------------------------------------------------------------------

/// Each element where the index says, in an image of zeros.
template <std::size_t Rank>
CallResults max_unpool(const Call& c) {
    const V x = c.tensor("self"), at = c.tensor("indices");
    const std::vector<std::int64_t> image = c.integers("output_size");
    const Sizes& sizes = x.sizes();
    if (sizes != at.sizes() || image.size() != Rank || (sizes.size() != Rank + 1 && sizes.size() != Rank + 2))
        throw Error(c.schema().name + ": found an operand of sizes " + to_string(sizes) + ", indices of sizes " +
                    to_string(at.sizes()) + " and output_size=" + to_string(image) +
                    ", expected an operand and indices of equal sizes with " + std::to_string(Rank + 1) + " or " +
                    std::to_string(Rank + 2) + " dimensions, and an output_size of " + std::to_string(Rank) +
                    " numbers");
    if (at.dtype() != DType::i64)
        throw Error(c.schema().name + ": found indices of dtype " + std::string(name(at.dtype())) + ", expected i64");
    if constexpr (Rank == 3) window_parameter(c.schema().name, "stride", c.integers("stride"), 3, {}, 1);
    Sizes whole(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(Rank));
    whole.insert(whole.end(), image.begin(), image.end());
    const Sizes rows = flat_sizes(sizes, Rank);
    const V zeros = aten::zeros(c.builder(), flat_sizes(whole, Rank), x.dtype());
    const V put = scatter(zeros, static_cast<std::int64_t>(rows.size()) - 1, reshaped(at, rows), reshaped(x, rows));
    return reshaped(put, whole);
}

/// Of max_unpool: "nondeterministic when the input indices has repeat values".
Reason open_unpooled(std::string_view op, const Arguments<Tensor>& a) {
    const std::vector<std::int64_t> image = a.integers("output_size");
    const std::int64_t elements = element_count(image);
    const Tensor indices = a.tensor("indices"), self = a.tensor("self");
    if (Reason reason = bad_index(op, indices, elements, false)) return reason;
    const Sizes& sizes = indices.sizes();
    if (sizes.size() < image.size()) return std::nullopt;  // the kernel refuses it
    const std::int64_t pooled =
        element_count(Sizes(sizes.end() - static_cast<std::ptrdiff_t>(image.size()), sizes.end()));
    std::vector<std::int64_t> places = indices.values<std::int64_t>();
    for (std::size_t k = 0; k < places.size(); ++k) places[k] += static_cast<std::int64_t>(k) / pooled * elements;
    return written_twice(op, places, self, indices);
}

constexpr DTypeSet kUnpooled = set_of(DType::f32) | set_of(DType::f64);  // as ATen's CPU kernels

constexpr OpDef kPatchOps[] = {
    composite("im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
              "The elements under sliding windows, as columns; pytorch.org/docs/stable/generated/torch.nn.Unfold.html",
              kFloating, decompose_im2col, im2col_grad),
    composite("col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] "
              "stride) -> Tensor",
              "An image from the sum of its windows; pytorch.org/docs/stable/generated/torch.nn.Fold.html", kFloating,
              decompose_col2im, col2im_grad),
    composite("max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor",
              "Maxima put back at their positions; pytorch.org/docs/stable/generated/torch.nn.MaxUnpool2d.html",
              kUnpooled, max_unpool<2>, {.ask = open_unpooled}),
    composite("max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, int[3] padding) -> Tensor",
              "Maxima put back at their positions; pytorch.org/docs/stable/generated/torch.nn.MaxUnpool3d.html",
              kUnpooled, max_unpool<3>, {.ask = open_unpooled}),
};

}  // namespace

std::span<const OpDef> patch_ops() { return kPatchOps; }

}  // namespace whittle
