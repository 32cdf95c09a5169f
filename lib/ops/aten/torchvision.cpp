// torchvision's own ops that its models call: regions of images as images of one size, convolutions that read each
// pixel at an offset of its own, and the choice among boxes that overlap.
// https://github.com/pytorch/vision/tree/main/torchvision/csrc/ops/cpu
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/known.h"
#include "tensor/shape.h"

namespace whittle::torchvision {
namespace {

using namespace aten;

// --- roi_align ---

V counted(const V& like, std::int64_t count) { return as(arange(*like.builder, count, DType::i64), like.dtype()); }

/// How much each pixel along one dimension of the image counts in the mean of each bin of each region, [regions, bins,
/// pixels]. Samples lie in the middle of equal parts of a bin, between two pixels; one more than a pixel off the image
/// is 0. `ratio` 0: a bin has a sample for each pixel that it is long.
V weights_along(const V& start, const V& end, std::int64_t bins, std::int64_t pixels, std::int64_t ratio,
                bool aligned) {
    const Ints column = {-1, 1, 1};
    V length = reshape(end - start, column);
    if (!aligned) length = clamp_min(length, 1);
    const V bin = length / bins, at_bin = reshape(start, column) + reshape(counted(bin, bins), Ints{1, -1, 1}) * bin;
    const OptionalV needed = ratio > 0 ? std::nullopt : OptionalV(ceil(bin));
    const V part = needed ? bin / *needed : bin / ratio;
    // Of as many as needed, those that lie on the image: parts are longer than half a pixel where there are several.
    V sample = reshape(counted(bin, needed ? 2 * pixels + 3 : ratio), Ints{1, 1, -1});
    if (needed) sample = sample + clamp_min(ceil(rsub(at_bin, -1) / part - 0.5), 0);
    const V at = at_bin + (sample + 0.5) * part;
    V counts = logical_and(ge(at, -1), le(at, pixels));
    if (needed) counts = logical_and(counts, lt(sample, *needed));
    const V pixel = reshape(counted(bin, pixels), Ints{1, 1, 1, -1});
    const V near = complement(abs(unsqueeze(clamp(at, 0, pixels - 1), -1) - pixel));  // 1 at the pixel, 0 one off
    const V sums = sum(keep(unsqueeze(counts, -1), clamp_min(near, 0)), Ints{2});
    return needed ? sums / clamp_min(*needed, 1) : sums / ratio;
}

/// Bilinear samples are sums along rows, of sums along columns.
CallResults roi_align(const Call& c) {
    const V given = c.tensor("input");
    const DType dtype = is_reduced(given.dtype()) ? DType::f32 : given.dtype();
    const V x = as(given, dtype), regions = as(c.tensor("rois"), dtype);
    if (x.rank() != 4 || regions.rank() != 2 || regions.size(1) != 5)
        throw Error("roi_align: found sizes " + to_string(x.sizes()) + " and rois of sizes " +
                    to_string(regions.sizes()) + ", expected [N, C, H, W] and [count, 5]");
    const bool aligned = c.boolean("aligned");
    const std::int64_t ratio = std::max<std::int64_t>(c.integer("sampling_ratio"), 0);
    const auto edge = [&](std::int64_t column) {
        const V scaled = select(regions, 1, column) * c.number("spatial_scale");
        return aligned ? scaled - 0.5 : scaled;
    };
    const V rows = weights_along(edge(2), edge(4), c.integer("pooled_height"), x.size(2), ratio, aligned);
    const V columns = weights_along(edge(1), edge(3), c.integer("pooled_width"), x.size(3), ratio, aligned);
    const V images = index_select(x, 0, as(select(regions, 1, 0), DType::i64));
    const V pooled = matmul(matmul(unsqueeze(rows, 1), images), unsqueeze(transpose(columns, 1, 2), 1));
    return as(pooled, given.dtype());
}

// --- deform_conv2d ---

/// Numbers of a call for height and width.
struct Pair {
    std::int64_t height, width;
    Pair(const Call& c, const std::string& name) : height(c.integer(name + "_h")), width(c.integer(name + "_w")) {}
};

/// The places of one coordinate of the pixels that each element of the result reads, without offsets: [kernel, result].
V places_along(const V& like, std::int64_t kernel, std::int64_t result, std::int64_t stride, std::int64_t pad,
               std::int64_t dilation) {
    return unsqueeze(counted(like, kernel) * dilation, 1) + unsqueeze(counted(like, result) * stride - pad, 0);
}

CallResults deform_conv2d(const Call& c) {
    const V x = c.tensor("input"), weight = c.tensor("weight"), offset = c.tensor("offset");
    const std::int64_t groups = c.integer("groups"), offset_groups = c.integer("offset_groups");
    const Pair stride(c, "stride"), pad(c, "pad"), dilation(c, "dilation");
    if (x.rank() != 4 || weight.rank() != 4 || offset.rank() != 4 || groups < 1 || offset_groups < 1 ||
        x.size(1) % groups != 0 || x.size(1) / groups != weight.size(1) || x.size(1) % offset_groups != 0)
        throw Error("deform_conv2d: found an image of sizes " + to_string(x.sizes()) + ", a weight of sizes " +
                    to_string(weight.sizes()) + ", an offset of sizes " + to_string(offset.sizes()) +
                    ", groups=" + std::to_string(groups) + " and offset_groups=" + std::to_string(offset_groups) +
                    ", expected an image of sizes [N, C, H, W], a weight of sizes [M, C / groups, kH, kW], an offset "
                    "of 4 dimensions, and numbers of groups that divide C");
    const std::int64_t batch = x.size(0), channels = x.size(1), kh = weight.size(2), kw = weight.size(3),
                       taps = kh * kw, height = offset.size(2), width = offset.size(3), each = channels / offset_groups;
    // Offsets alternate: of rows, of columns.
    const V moved = reshape(offset, Ints{batch * offset_groups, kh, kw, 2, height, width});
    const V rows =
        reshape(places_along(x, kh, height, stride.height, pad.height, dilation.height), Ints{1, kh, 1, height, 1}) +
        select(moved, 3, 0);
    const V columns =
        reshape(places_along(x, kw, width, stride.width, pad.width, dilation.width), Ints{1, 1, kw, 1, width}) +
        select(moved, 3, 1);
    const auto between_ends = [](const V& place, std::int64_t size) {  // as grid_sampler_2d wants it
        return (place * 2 + 1) / size - 1;
    };
    const V grid = reshape(stack(Vs{between_ends(columns, x.size(3)), between_ends(rows, x.size(2))}, -1),
                           Ints{batch * offset_groups, taps * height, width, 2});
    const V images = reshape(x, Ints{batch * offset_groups, each, x.size(2), x.size(3)});
    V read =
        reshape(grid_sampler_2d(images, grid, 0, 0, false), Ints{batch, offset_groups, each, taps, height * width});
    if (c.boolean("use_mask"))
        read = read * reshape(c.tensor("mask"), Ints{batch, offset_groups, 1, taps, height * width});
    const std::int64_t outputs = weight.size(0);
    const V product = matmul(reshape(weight, Ints{groups, outputs / groups, -1}),
                             reshape(read, Ints{batch, groups, channels / groups * taps, height * width}));
    return reshape(product, Ints{batch, outputs, height, width}) + reshape(c.tensor("bias"), Ints{1, -1, 1, 1});
}

// --- nms ---

/// A box, from one corner to the other.
template <class T>
struct Box {
    T left, top, right, bottom;

    T area() const { return (right - left) * (bottom - top); }
    /// The area of both by that of either.
    T overlap(const Box& other) const {
        const T width = std::max(T(0), std::min(right, other.right) - std::max(left, other.left));
        const T height = std::max(T(0), std::min(bottom, other.bottom) - std::max(top, other.top));
        const T both = width * height;
        return both / (area() + other.area() - both);
    }
};

/// By falling scores, each box that overlaps none of those that are kept already by more than the limit.
template <class T>
Tensor kept_boxes(const Tensor& boxes, const Tensor& scores, double limit) {
    const std::vector<T> corners = boxes.values<T>(), ranks = scores.values<T>();
    const auto box = [&](std::int64_t i) {
        const T* const at = corners.data() + 4 * i;
        return Box<T>{at[0], at[1], at[2], at[3]};
    };
    Ints order(ranks.size()), kept;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
        const T x = ranks[static_cast<std::size_t>(a)], y = ranks[static_cast<std::size_t>(b)];
        return x > y || (std::isnan(x) && !std::isnan(y));
    });
    for (const std::int64_t i : order) {
        const Box<T> candidate = box(i);
        if (std::ranges::none_of(kept, [&](std::int64_t k) { return box(k).overlap(candidate) > limit; }))
            kept.push_back(i);
    }
    return Tensor::of(kept, {static_cast<std::int64_t>(kept.size())});
}
Tensor kept_boxes(const Tensor& boxes, const Tensor& scores, double limit) {
    if (boxes.rank() != 2 || boxes.sizes()[1] != 4 || scores.sizes() != Sizes{boxes.sizes()[0]} ||
        boxes.dtype() != scores.dtype())
        throw Error("nms: found boxes of " + std::string(name(boxes.dtype())) + to_string(boxes.sizes()) +
                    " and scores of " + std::string(name(scores.dtype())) + to_string(scores.sizes()) +
                    ", expected [count, 4] and [count], and equal dtypes");
    return boxes.dtype() == DType::f64 ? kept_boxes<double>(boxes, scores, limit)
                                       : kept_boxes<float>(boxes, scores, limit);
}

std::vector<Tensor> eval_nms(const Arguments<Tensor>& a) {
    return {kept_boxes(a.tensor("dets"), a.tensor("scores"), a.number("iou_threshold"))};
}
CallResults nms(const Call& c) {
    return c.constant(kept_boxes(known_operand(c, "dets"), known_operand(c, "scores"), c.number("iou_threshold")));
}

constexpr OpDef kTorchvision[] = {
    {.doc = "regions of images as images of one size: "
            "https://pytorch.org/vision/stable/generated/torchvision.ops.roi_align.html",
     .schema = "roi_align.default(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
               "pooled_width, int sampling_ratio, bool aligned) -> Tensor",
     .dtypes = kFloating,
     .decompose = roi_align},
    {.doc = "a convolution whose pixels are moved: "
            "https://pytorch.org/vision/stable/generated/torchvision.ops.deform_conv2d.html",
     .schema = "deform_conv2d.default(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
               "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt "
               "groups, SymInt offset_groups, bool use_mask) -> Tensor",
     .dtypes = kFloating,
     .decompose = deform_conv2d},
    {.doc = "the boxes with the highest scores, without boxes that overlap a box with a higher score: "
            "https://pytorch.org/vision/stable/generated/torchvision.ops.nms.html",
     .schema = "nms.default(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
     .dtypes = set_of(DType::f64) | set_of(DType::f32),
     .eval = eval_nms,
     .decompose = nms,
     .grad = no_gradient},
};

}  // namespace
}  // namespace whittle::torchvision

namespace whittle {

std::span<const OpDef> torchvision_ops() { return torchvision::kTorchvision; }

}  // namespace whittle
