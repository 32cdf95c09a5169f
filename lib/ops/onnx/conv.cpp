// ONNX's convolutions: Conv, ConvTranspose, DeformConv; and Col2Im, which adds what they read.
#include <algorithm>
#include <tuple>

#include "base/checked.h"
#include "ops/onnx/window.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Sizes of the weight's spatial dimensions, which kernel_shape may repeat.
Ints kernel_of(const Call& c, const V& weight) {
    if (weight.rank() < 3)
        throw Error("found a weight of sizes " + to_string(weight.sizes()) +
                    ", expected two dimensions of channels and at least one spatial dimension");
    const Ints kernel(weight.sizes().begin() + 2, weight.sizes().end());
    const auto stated = c.optional_integers("kernel_shape");
    if (stated && *stated != kernel)
        throw Error("found kernel_shape=" + to_string(*stated) + ", expected " + to_string(kernel) +
                    ", the spatial sizes of the weight");
    return kernel;
}

V convolved(const Call& c, const V& x, const Windows& windows, const Ints& padding, bool transposed,
            const Ints& output_padding) {
    return convolution(x, c.tensor("W"), c.optional_tensor("B"), windows.strides, padding, windows.dilations,
                       transposed, output_padding, c.integer("group"));
}

CallResults conv(const Call& c) {
    const V x = c.tensor("X");
    const Windows windows = windows_of(c, x, kernel_of(c, c.tensor("W")));
    const Ints zeros(windows.rank(), 0);
    if (windows.symmetric()) return convolved(c, x, windows, windows.before, false, zeros);
    return convolved(c, padded(x, windows, 0.0), windows, zeros, false, zeros);
}

/// What is cut off the full result at either end: pads, or what output_shape or auto_pad demand.
/// A result larger than the full one grows at the end.
void resolve_output(const Call& c, const V& x, Ints& output_padding, Windows& windows) {
    const std::string mode = c.text("auto_pad");
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    auto wanted = c.optional_integers("output_shape");
    if (wanted && wanted->size() == windows.rank() + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
    if (wanted && wanted->size() != windows.rank())
        throw Error("found output_shape with " + std::to_string(wanted->size()) + " entries, expected " +
                    std::to_string(windows.rank()) + ", one for each spatial dimension");
    if (!wanted && !same) return;
    for (std::size_t d = 0; d < windows.rank(); ++d) {
        const std::int64_t size = x.sizes()[d + 2];
        const Checked full = Checked(windows.strides[d]) * (size - 1) + output_padding[d] + windows.extent(d);
        const Checked result = wanted ? (*wanted)[d] : Checked(size) * windows.strides[d];
        const std::int64_t cut = std::max<std::int64_t>((full - result).value(), 0);
        output_padding[d] = std::max(output_padding[d] + (result - full), Checked(output_padding[d])).value();
        windows.before[d] = mode == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
        windows.after[d] = cut - windows.before[d];
    }
}

CallResults conv_transpose(const Call& c) {
    const V x = c.tensor("X");
    Windows windows = windows_of(c, x, kernel_of(c, c.tensor("W")));
    Ints output_padding = per_dimension(c, "output_padding", windows.rank(), 0, 0);
    resolve_output(c, x, output_padding, windows);
    if (windows.symmetric()) return convolved(c, x, windows, windows.before, true, output_padding);
    V result = convolved(c, x, windows, Ints(windows.rank(), 0), true, output_padding);
    for (std::size_t d = 0; d < windows.rank(); ++d) {
        const auto dim = static_cast<std::int64_t>(d + 2);
        const std::int64_t size = size_of_dim(result, dim);
        check_removed(d + 2, windows.before[d] + windows.after[d], size);
        result = part(result, dim, windows.before[d], size - windows.after[d]);
    }
    return result;
}

/// Where element k of block `place` lies in an image, or nothing for the padding around it.
std::optional<std::int64_t> place_in_image(const Windows& windows, const Ints& image, const Ints& blocks,
                                           std::int64_t k, std::int64_t place) {
    std::int64_t result = 0, step = 1;
    for (std::size_t d = windows.rank(); d-- > 0;) {
        const std::int64_t at =
            place % blocks[d] * windows.strides[d] + k % windows.kernel[d] * windows.dilations[d] - windows.before[d];
        if (at < 0 || at >= image[d]) return std::nullopt;
        result += at * step;
        step *= image[d];
        place /= blocks[d];
        k /= windows.kernel[d];
    }
    return result;
}

/// Windows of an op without auto_pad, and how many blocks they make along each dimension of the image.
std::pair<Windows, Ints> image_blocks(const Call& c, const Ints& image, const Ints& kernel) {
    Windows windows;
    windows.kernel = kernel;
    const std::size_t rank = windows.rank();
    windows.strides = per_dimension(c, "strides", rank, 1, 1);
    windows.dilations = per_dimension(c, "dilations", rank, 1, 1);
    const Ints pads = per_dimension(c, "pads", 2 * rank, 0, 0);
    windows.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    windows.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
    Ints blocks;
    for (std::size_t d = 0; d < rank && d < image.size(); ++d) {
        const Checked padded = Checked(image[d]) + windows.before[d] + windows.after[d];
        if (windows.kernel[d] < 1 || image[d] < 1 || windows.kernel[d] > padded.value())
            throw Error("found blocks of sizes " + to_string(windows.kernel) + " in an image of sizes " +
                        to_string(image) + ", expected a nonempty image in which a nonempty block fits");
        const Checked room = padded - (Checked(windows.kernel[d]) - 1) * windows.dilations[d] - 1;
        blocks.push_back(room.value() < 0 ? 0 : room.value() / windows.strides[d] + 1);
    }
    return {windows, blocks};
}

/// The blocks of an image, [batch, channels * elements, blocks], added where they were taken from.
CallResults onnx_col2im(const Call& c) {
    const V input = c.tensor("input");
    const Ints image = known_ints(c, "image_shape");
    const auto [windows, blocks] = image_blocks(c, image, known_ints(c, "block_shape"));
    Checked elements(1), pixels(1), places(1);
    for (const std::int64_t size : windows.kernel) elements = elements * size;
    for (const std::int64_t size : image) pixels = pixels * size;
    for (const std::int64_t count : blocks) places = places * count;
    if (image.size() != windows.rank() || input.rank() != 3 || size_of_dim(input, 1) % elements.value() != 0 ||
        size_of_dim(input, 2) != places.value())
        throw Error("found an input of sizes " + to_string(input.sizes()) + " for an image of sizes " +
                    to_string(image) + " and blocks of sizes " + to_string(windows.kernel) +
                    ", expected [batch, channels * " + std::to_string(elements.value()) + ", " +
                    std::to_string(places.value()) + "]");
    Ints positions;  // the padding is one element behind the image
    for (std::int64_t k = 0; k < elements.value(); ++k)
        for (std::int64_t place = 0; place < places.value(); ++place)
            positions.push_back(place_in_image(windows, image, blocks, k, place).value_or(pixels.value()));
    const std::int64_t batch = size_of_dim(input, 0), channels = size_of_dim(input, 1) / elements.value();
    const std::int64_t images = (Checked(batch) * channels).value(), terms = (elements * places.value()).value();
    const V where = expand(reshaped(ints(c, positions), {1, terms}), Sizes{images, terms});
    const V zeros = full(c.builder(), {images, (pixels + 1).value()}, 0.0, input.dtype());
    const V added = scatter_add(zeros, 1, where, reshaped(input, {images, terms}));
    Sizes sizes = {batch, channels};
    sizes.insert(sizes.end(), image.begin(), image.end());
    return reshaped(part(added, 1, 0, pixels.value()), sizes);
}

/// Where the windows' elements lie along one dimension if nothing moves them: [elements of a window, windows].
Tensor resting_places(const Windows& windows, const Ints& blocks, std::size_t dim, DType dtype) {
    const std::int64_t elements = windows.kernel[0] * windows.kernel[1], places = blocks[0] * blocks[1];
    std::vector<double> at;
    for (std::int64_t k = 0; k < elements; ++k)
        for (std::int64_t place = 0; place < places; ++place) {
            const std::int64_t in_window = dim == 0 ? k / windows.kernel[1] : k % windows.kernel[1],
                               window = dim == 0 ? place / blocks[1] : place % blocks[1];
            at.push_back(static_cast<double>(window * windows.strides[dim] + in_window * windows.dilations[dim] -
                                             windows.before[dim]));
        }
    return Tensor::of(at, {elements, places}).to(dtype);
}

/// The sizes that a DeformConv's operands must have beside each other.
struct DeformPlan {
    Windows windows;
    Ints blocks;
    std::int64_t batch = 0, channels = 0, groups = 0, moved = 0, results = 0;
    std::int64_t elements() const { return windows.kernel[0] * windows.kernel[1]; }
    std::int64_t places() const { return blocks[0] * blocks[1]; }
};

DeformPlan plan_deform_conv(const Call& c) {
    const V x = c.tensor("X"), w = c.tensor("W"), offset = c.tensor("offset");
    if (x.rank() != 4) throw Error("found X of sizes " + to_string(x.sizes()) + ", expected 4 dimensions");
    DeformPlan plan;
    std::tie(plan.windows, plan.blocks) = image_blocks(c, {size_of_dim(x, 2), size_of_dim(x, 3)}, kernel_of(c, w));
    plan.batch = size_of_dim(x, 0), plan.channels = size_of_dim(x, 1), plan.results = size_of_dim(w, 0);
    plan.groups = c.integer("group"), plan.moved = c.integer("offset_group");
    if (w.rank() != 4 || plan.groups < 1 || plan.moved < 1 || plan.channels % plan.groups != 0 ||
        plan.channels % plan.moved != 0 || plan.results % plan.groups != 0 ||
        size_of_dim(w, 1) * plan.groups != plan.channels)
        throw Error(
            "found X of sizes " + to_string(x.sizes()) + ", W of sizes " + to_string(w.sizes()) +
            ", group=" + std::to_string(plan.groups) + " and offset_group=" + std::to_string(plan.moved) +
            ", expected W of sizes [M, C / group, kH, kW], where group divides M and C, and offset_group divides C");
    const auto expect = [&](const char* name, const V& value, std::int64_t each) {
        const Sizes sizes = {plan.batch, plan.moved * plan.elements() * each, plan.blocks[0], plan.blocks[1]};
        if (value.sizes() != sizes)
            throw Error("found " + std::string(name) + " of sizes " + to_string(value.sizes()) + ", expected " +
                        to_string(sizes));
    };
    expect("offset", offset, 2);
    if (const auto mask = c.optional_tensor("mask")) expect("mask", *mask, 1);
    return plan;
}

/// What the windows read, each element moved by its offset (y, x) and weighed by the mask, between pixels and outside
/// the image as grid_sampler does it: [batch, channels, elements of a window, windows].
V moved_windows(const Call& c, const DeformPlan& plan) {
    const V x = c.tensor("X");
    const std::int64_t images = plan.batch * plan.moved, k = plan.elements(), places = plan.places();
    const V offset = reshaped(c.tensor("offset"), {images, k, 2, places});
    const auto along = [&](std::size_t dim) {  // from pixels to -1 … 1, the outer edges of the image
        const auto pixels = static_cast<double>(x.sizes()[dim + 2]);
        const V by = select(offset, 2, static_cast<std::int64_t>(dim));
        const V at = by + c.constant(resting_places(plan.windows, plan.blocks, dim, x.dtype()));
        const V edges = at * 2.0 + 1.0;
        return edges / pixels - 1.0;
    };
    const V grid = stack(Vs{along(1), along(0)}, -1);
    const V image = reshaped(x, {images, plan.channels / plan.moved, size_of_dim(x, 2), size_of_dim(x, 3)});
    V read = grid_sampler_2d(image, grid, 0, 0, false);
    if (const auto mask = c.optional_tensor("mask")) read = read * reshaped(*mask, {images, 1, k, places});
    return reshaped(read, {plan.batch, plan.channels, k, places});
}

CallResults deform_conv(const Call& c) {
    const DeformPlan plan = plan_deform_conv(c);
    const std::int64_t terms = plan.channels / plan.groups * plan.elements();
    const V read = reshaped(moved_windows(c, plan), {plan.batch, plan.groups, terms, plan.places()});
    const V weight = reshaped(c.tensor("W"), {plan.groups, plan.results / plan.groups, terms});
    const V sums = matmul(weight, read);
    const V y = reshaped(sums, {plan.batch, plan.results, plan.blocks[0], plan.blocks[1]});
    const auto bias = c.optional_tensor("B");
    if (!bias) return y;
    return y + reshaped(*bias, {1, plan.results, 1, 1});
}

constexpr OpDef kConvOps[] = {
    composite(
        "DeformConv(Tensor X, Tensor W, Tensor offset, Tensor? B=None, Tensor? mask=None, *, int[]? dilations=None, "
        "int group=1, int[]? kernel_shape=None, int offset_group=1, int[]? pads=None, int[]? strides=None) -> Tensor",
        "Convolution whose sampling positions are offset by an operand", kFloating, deform_conv),
    composite("Col2Im(Tensor input, Tensor image_shape, Tensor block_shape, *, int[]? dilations=None, int[]? "
              "pads=None, int[]? strides=None) -> Tensor",
              "An image from the sum of its blocks", kNumbers, onnx_col2im),
    composite("Conv(Tensor X, Tensor W, Tensor? B=None, *, str auto_pad=\"NOTSET\", int[]? dilations=None, int "
              "group=1, int[]? kernel_shape=None, int[]? pads=None, int[]? strides=None) -> Tensor",
              "Convolution (cross-correlation) over any spatial rank", kFloating, conv),
    composite("ConvTranspose(Tensor X, Tensor W, Tensor? B=None, *, str auto_pad=\"NOTSET\", int[]? dilations=None, "
              "int group=1, int[]? kernel_shape=None, int[]? output_padding=None, int[]? output_shape=None, int[]? "
              "pads=None, int[]? strides=None) -> Tensor",
              "Transposed convolution", kFloating, conv_transpose),
};

}  // namespace

std::span<const OpDef> onnx_conv_ops() { return kConvOps; }

}  // namespace whittle
