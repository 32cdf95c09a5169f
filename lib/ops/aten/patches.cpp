// Images as the elements under sliding windows, and back: im2col and col2im; and what max pooling kept, put back.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.Unfold.html
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/open_rules.h"
#include "ops/aten/own_copy.h"
#include "ops/aten/pooling.h"
#include "ops/core/window.h"

namespace whittle {
namespace {

// --- Windows ---------------------------------------------------------------------------------------------------------

/// The windows of an image [height, width], each of which is a column. Throws Error where there are none.
Window patch_window(const Arguments<NodeValue>& a, const Sizes& image) {
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
NodeValue columns_of(const Gradient& g, const Window& w, NodeValue image) {
    const auto rank = static_cast<std::int64_t>(image.meta.sizes.size());
    for (std::size_t d = 0; d < 2; ++d) {  // [..., places, places, taps, taps]
        const std::int64_t extent = (w.kernel[d] - 1) * w.dilation[d] + 1;
        image =
            g.call("aten.unfold.default", {arg(image), rank - 2 + static_cast<std::int64_t>(d), extent, w.stride[d]});
        if (w.dilation[d] > 1) image = g.call("aten.slice.Tensor", {arg(image), -1, 0, extent, w.dilation[d]});
    }
    Sizes order(static_cast<std::size_t>(rank + 2)), sizes(image.meta.sizes.begin(), image.meta.sizes.end() - 4);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::rotate(order.end() - 4, order.end() - 2, order.end());
    sizes.insert(sizes.end(), {w.taps(), w.places()});
    return g.reshape(g.call("aten.permute.default", {arg(image), Arg::ints(order)}), sizes);
}

/// An image's sizes with its padding.
Sizes padded_sizes(const Window& w) { return {w.in[0] + 2 * w.padding[0], w.in[1] + 2 * w.padding[1]}; }

/// [batch, channels, height, width] or without a batch, as [images, height * width]. Throws Error for others.
Refs im2col(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const Sizes& sizes = x.meta.sizes;
    if (sizes.size() != 3 && sizes.size() != 4)
        throw Error("im2col: found an operand of sizes " + to_string(sizes) + ", expected [N, C, H, W] or [C, H, W]");
    const Window w = patch_window(a, Sizes(sizes.end() - 2, sizes.end()));
    Sizes columns(sizes.begin(), sizes.end() - 3);
    columns.push_back((Checked(sizes[sizes.size() - 3]) * w.taps()).value());
    columns.push_back(w.places());
    const Arg pads = Arg::ints({w.padding[1], w.padding[1], w.padding[0], w.padding[0]});
    const bool padded = w.padding != Sizes{0, 0};
    const NodeValue image = padded ? g.call("aten.constant_pad_nd.default", {arg(x), pads, 0}) : x;
    return {own_copy(b, g.reshape(columns_of(g, w, image), columns)).ref};
}

Refs col2im(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const Sizes& sizes = x.meta.sizes;
    const Sizes image = window_parameter("col2im", "output_size", a.integers("output_size"), 2, {1, 1}, 1);
    const Window w = patch_window(a, image);
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
    const NodeValue range = b.call("aten.arange.default", {pixels}, {{"dtype", DType::i64}});
    const NodeValue at = g.reshape(columns_of(g, w, g.reshape(range, whole)), {count});
    const NodeValue added =
        g.call("aten.index_add.default", {arg(g.zeros(flat, x.meta.dtype)), static_cast<std::int64_t>(rows.size()) - 1,
                                          arg(at), arg(g.reshape(x, rows))});
    NodeValue kept = g.reshape(added, images);
    for (std::size_t d = 0; d < 2; ++d)
        kept = g.slice(kept, static_cast<std::int64_t>(d) - 2 + static_cast<std::int64_t>(images.size()), w.padding[d],
                       w.padding[d] + w.in[d]);
    return {w.padding == Sizes{0, 0} ? kept.ref : own_copy(b, kept).ref};
}

void im2col_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    const Sizes& sizes = r.x.meta.sizes;
    r.set(r.call("aten.col2im.default", {arg(r.g), Arg::ints(Sizes(sizes.end() - 2, sizes.end())), ints("kernel_size"),
                                         ints("dilation"), ints("padding"), ints("stride")}));
}
void col2im_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    r.set(r.call("aten.im2col.default",
                 {arg(r.g), ints("kernel_size"), ints("dilation"), ints("padding"), ints("stride")}));
}

// --- Back from pooling -----------------------------------------------------------------------------------------------

/// Each element where the index says, in an image of zeros.
template <std::size_t Rank>
Refs max_unpool(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), at = a.tensor("indices");
    const std::vector<std::int64_t> image = a.integers("output_size");
    const Sizes& sizes = x.meta.sizes;
    if (sizes != at.meta.sizes || image.size() != Rank || (sizes.size() != Rank + 1 && sizes.size() != Rank + 2))
        throw Error(a.schema().name + ": found an operand of sizes " + to_string(sizes) + ", indices of sizes " +
                    to_string(at.meta.sizes) + " and output_size=" + to_string(image) +
                    ", expected an operand and indices of equal sizes with " + std::to_string(Rank + 1) + " or " +
                    std::to_string(Rank + 2) + " dimensions, and an output_size of " + std::to_string(Rank) +
                    " numbers");
    if (at.meta.dtype != DType::i64)
        throw Error(a.schema().name + ": found indices of dtype " + std::string(name(at.meta.dtype)) +
                    ", expected i64");
    if constexpr (Rank == 3) window_parameter(a.schema().name, "stride", a.integers("stride"), 3, {}, 1);
    Sizes whole(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(Rank));
    whole.insert(whole.end(), image.begin(), image.end());
    const Sizes rows = flat_sizes(sizes, Rank);
    const NodeValue zeros = g.zeros(flat_sizes(whole, Rank), x.meta.dtype);
    const NodeValue put = g.call("aten.scatter.src", {arg(zeros), static_cast<std::int64_t>(rows.size()) - 1,
                                                      arg(g.reshape(at, rows)), arg(g.reshape(x, rows))});
    return {g.reshape(put, whole).ref};
}

// --- Records ---------------------------------------------------------------------------------------------------------

constexpr DTypeSet kUnpooled = set_of(DType::f32) | set_of(DType::f64);  // as ATen's CPU kernels

constexpr OpDef kPatchOps[] = {
    {.name = "aten.im2col.default",
     .doc = "The elements under sliding windows, as columns; pytorch.org/docs/stable/generated/torch.nn.Unfold.html",
     .schema = "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
     .dtypes = kFloating,
     .decompose = im2col,
     .grad = im2col_grad},
    {.name = "aten.col2im.default",
     .doc = "An image from the sum of its windows; pytorch.org/docs/stable/generated/torch.nn.Fold.html",
     .schema = "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] "
               "stride) -> Tensor",
     .dtypes = kFloating,
     .decompose = col2im,
     .grad = col2im_grad},
    {.name = "aten.max_unpool2d.default",
     .doc = "Maxima put back at their positions; pytorch.org/docs/stable/generated/torch.nn.MaxUnpool2d.html",
     .schema = "max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor",
     .dtypes = kUnpooled,
     .decompose = max_unpool<2>,
     .open = {.ask = aten_open::unpooled}},
    {.name = "aten.max_unpool3d.default",
     .doc = "Maxima put back at their positions; pytorch.org/docs/stable/generated/torch.nn.MaxUnpool3d.html",
     .schema = "max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, int[3] padding) -> Tensor",
     .dtypes = kUnpooled,
     .decompose = max_unpool<3>,
     .open = {.ask = aten_open::unpooled}},
};

}  // namespace

std::span<const OpDef> patch_ops() { return kPatchOps; }

}  // namespace whittle
