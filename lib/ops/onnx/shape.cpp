// ONNX's views: Shape, Size, Reshape, Flatten, Transpose, Squeeze, Unsqueeze, Expand, Tile, DepthToSpace, SpaceToDepth.
#include "ops/onnx/rewrite.h"

#include <algorithm>

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Sizes are known before running: a constant. Dimensions start … end since opset 15, clamped as in slices.
CallResults shape(const Call& c) {
    const Sizes sizes = c.tensor("data").sizes();
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const auto clamped = [&](std::int64_t dim) {
        return std::clamp<std::int64_t>(dim < 0 ? dim + rank : dim, 0, rank);
    };
    const std::int64_t start = clamped(c.integer("start"));
    const std::int64_t end = std::max(start, clamped(c.optional_integer("end").value_or(rank)));
    return ints(c, Ints(sizes.begin() + start, sizes.begin() + end));
}

CallResults size(const Call& c) { return c.constant(Tensor::of(Scalar(c.tensor("data").numel()), DType::i64)); }

/// 0 copies a dimension (unless allowzero), -1 is what remains.
CallResults onnx_reshape(const Call& c) {
    const V data = c.tensor("data");
    Sizes sizes = known_ints(c, "shape");
    const std::int64_t total = data.numel();
    std::int64_t rest = 1, open = -1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 0 && c.integer("allowzero") == 0) {
            if (i >= data.sizes().size())
                throw Error("found 0 (copy the size) at position " + std::to_string(i) + " of the shape " +
                            to_string(sizes) + ", expected no 0 at this position: the sizes of the data are " +
                            to_string(data.sizes()));
            sizes[i] = data.sizes()[i];
        }
        if (sizes[i] < -1 || (sizes[i] == -1 && open >= 0))
            throw Error("found the shape " + to_string(sizes) + ", expected nonnegative sizes and at most one -1");
        if (sizes[i] == -1)
            open = static_cast<std::int64_t>(i);
        else if (__builtin_mul_overflow(rest, sizes[i], &rest))
            throw Error("found the shape " + to_string(sizes) + ", expected a tensor that fits in memory");
    }
    const bool divides = open < 0 ? rest == total : rest != 0 && total % rest == 0;
    if (!divides)
        throw Error("found the shape " + to_string(sizes) + " for data of sizes " + to_string(data.sizes()) +
                    ", expected a shape with " + std::to_string(total) + " elements");
    if (open >= 0) sizes[static_cast<std::size_t>(open)] = total / rest;
    return reshape(data, sizes);
}

/// A matrix: dimensions before the axis, and the rest.
CallResults onnx_flatten(const Call& c) {
    const V input = c.tensor("input");
    const std::int64_t rank = input.rank(), given = c.integer("axis"), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis > rank)
        throw Error("found axis=" + std::to_string(given) + ", expected " + std::to_string(-rank) + " to " +
                    std::to_string(rank));
    const Sizes& sizes = input.sizes();
    const Sizes matrix = {element_count(Sizes(sizes.begin(), sizes.begin() + axis)),
                          element_count(Sizes(sizes.begin() + axis, sizes.end()))};
    return reshape(input, matrix);
}

CallResults onnx_transpose(const Call& c) {
    const V data = c.tensor("data");
    Ints perm = all_dims(data.rank());
    std::reverse(perm.begin(), perm.end());
    if (const auto given = c.optional_integers("perm")) perm = *given;
    return permute(data, perm);
}

/// Axes were an attribute before opset 13, then an operand.
std::optional<Ints> given_axes(const Call& c) {
    no_attribute(c, "axes", 13);
    return opset(c) < 13 ? c.optional_integers("axes") : known_ints_if(c, "axes_value");
}

CallResults onnx_squeeze(const Call& c) {
    const V data = c.tensor("data");
    Ints axes;
    if (const auto given = given_axes(c))
        axes = wrap_dims(*given, data.rank());
    else
        for (std::int64_t dim = 0; dim < data.rank(); ++dim)
            if (size_of_dim(data, dim) == 1) axes.push_back(dim);
    Sizes sizes = data.sizes();
    for (auto dim = axes.rbegin(); dim != axes.rend(); ++dim) {
        if (sizes[static_cast<std::size_t>(*dim)] != 1)
            throw Error("found size " + std::to_string(sizes[static_cast<std::size_t>(*dim)]) + " in dimension " +
                        std::to_string(*dim) + ", expected size 1 in a dimension to remove");
        sizes.erase(sizes.begin() + *dim);
    }
    return reshape(data, sizes);
}

/// Axes count in the result.
CallResults onnx_unsqueeze(const Call& c) {
    const V data = c.tensor("data");
    const std::optional<Ints> given = given_axes(c);
    if (!given) throw Error("found no axes, expected at least one");
    Sizes sizes = data.sizes();
    for (const std::int64_t axis : wrap_dims(*given, data.rank() + static_cast<std::int64_t>(given->size())))
        sizes.insert(sizes.begin() + axis, 1);
    return reshape(data, sizes);
}

/// Broadcasting in both directions: a dimension of 1 in the shape leaves the input's.
CallResults expand_both_ways(const Call& c) {
    const V input = c.tensor("input");
    return expand(input, broadcast_sizes(input.sizes(), known_ints(c, "shape")));
}

CallResults onnx_tile(const Call& c) {
    const V input = c.tensor("input");
    const Ints repeats = known_ints(c, "repeats");
    if (static_cast<std::int64_t>(repeats.size()) != input.rank())
        throw Error("found " + std::to_string(repeats.size()) + " repeats, expected " + std::to_string(input.rank()) +
                    ", one for each dimension");
    return repeat(input, repeats);
}

struct Blocks {
    std::int64_t n, c, h, w, b;
};

Blocks depth_blocks(const V& input, std::int64_t block) {
    const Sizes& s = input.sizes();
    if (s.size() != 4 || block < 1 || block > (1 << 15))
        throw Error("found an input of sizes " + to_string(s) + " and blocksize=" + std::to_string(block) +
                    ", expected 4 dimensions and a blocksize from 1 to 2^15");
    return {s[0], s[1], s[2], s[3], block};
}

/// Channels move into blocks of pixels; DCR has the block before the depth in the channels, CRD after it.
CallResults depth_to_space(const Call& c) {
    const V input = c.tensor("input");
    const auto [n, channels, h, w, b] = depth_blocks(input, c.integer("blocksize"));
    const std::string mode = c.text("mode");
    if (mode != "DCR" && mode != "CRD") throw Error("found mode '" + mode + "', expected 'DCR' or 'CRD'");
    if (channels % (b * b) != 0)
        throw Error("found " + std::to_string(channels) + " channels, expected a multiple of " + std::to_string(b * b) +
                    ", the square of blocksize");
    const std::int64_t d = channels / (b * b);
    const V pixels = mode == "DCR" ? permuted(reshaped(input, {n, b, b, d, h, w}), {0, 3, 4, 1, 5, 2})
                                   : permuted(reshaped(input, {n, d, b, b, h, w}), {0, 1, 4, 2, 5, 3});
    return reshape(pixels, Sizes{n, d, h * b, w * b});
}

CallResults space_to_depth(const Call& c) {
    const V input = c.tensor("input");
    const auto [n, channels, h, w, b] = depth_blocks(input, c.integer("blocksize"));
    if (h % b != 0 || w % b != 0)
        throw Error("found an image of " + std::to_string(h) + " by " + std::to_string(w) +
                    ", expected multiples of blocksize=" + std::to_string(b));
    const V blocks = permuted(reshaped(input, {n, channels, h / b, b, w / b, b}), {0, 3, 5, 1, 2, 4});
    return reshape(blocks, Sizes{n, channels * b * b, h / b, w / b});
}

constexpr OpDef kShapeOps[] = {
    composite("Shape(Tensor data, *, int start=0, int? end=None) -> Tensor", "The sizes as a tensor", kMoved, shape),
    composite("Size(Tensor data) -> Tensor", "The number of elements as a tensor", kMoved, size),
    composite("Reshape(Tensor data, Tensor shape, *, int allowzero=0) -> Tensor", "The same elements under other sizes",
              kMoved, onnx_reshape),
    composite("Flatten(Tensor input, *, int axis=1) -> Tensor", "The same elements as a matrix", kMoved, onnx_flatten),
    composite("Transpose(Tensor data, *, int[]? perm=None) -> Tensor",
              "Dimensions in another order, reversed by default", kMoved, onnx_transpose),
    composite("Squeeze(Tensor data, Tensor? axes_value=None, *, int[]? axes=None) -> Tensor",
              "Without dimensions of size 1", kMoved, onnx_squeeze),
    composite("Unsqueeze(Tensor data, Tensor? axes_value=None, *, int[]? axes=None) -> Tensor",
              "With more dimensions of size 1", kMoved, onnx_unsqueeze),
    composite("Expand(Tensor input, Tensor shape) -> Tensor", "Broadcast to a shape", kMoved, expand_both_ways),
    composite("Tile(Tensor input, Tensor repeats) -> Tensor", "Repeated along each dimension", kMoved, onnx_tile),
    composite("DepthToSpace(Tensor input, *, int blocksize, str mode=\"DCR\") -> Tensor",
              "Channels moved into blocks of pixels", kMoved, depth_to_space),
    composite("SpaceToDepth(Tensor input, *, int blocksize) -> Tensor", "Blocks of pixels moved into channels", kMoved,
              space_to_depth),
};

}  // namespace

std::span<const OpDef> onnx_shape_ops() { return kShapeOps; }

}  // namespace whittle
