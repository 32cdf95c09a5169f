// ONNX's views: Shape, Size, Reshape, Flatten, Transpose, Squeeze, Unsqueeze, Expand, Tile, DepthToSpace, SpaceToDepth.
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// Sizes are known before running: a constant. Dimensions start … end since opset 15, clamped as in slices.
Results shape(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Sizes sizes = op.tensor("data").meta.sizes;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const auto clamped = [&](std::int64_t dim) {
        return std::clamp<std::int64_t>(dim < 0 ? dim + rank : dim, 0, rank);
    };
    const std::int64_t start = clamped(op.integer("start"));
    const std::int64_t end = std::max(start, clamped(arguments.optional_integer("end").value_or(rank)));
    return {op.ints(Ints(sizes.begin() + start, sizes.begin() + end)).ref};
}

Results size(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op.constant(Tensor::of(Scalar(op.tensor("data").meta.numel()), DType::i64)).ref};
}

/// 0 copies a dimension (unless allowzero), -1 is what remains.
Results reshape(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    Sizes sizes = op.known_ints("shape");
    const std::int64_t total = data.meta.numel();
    std::int64_t rest = 1, open = -1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 0 && op.integer("allowzero") == 0) {
            if (i >= data.meta.sizes.size())
                throw Error("found 0 at position " + std::to_string(i) + " of the shape " + to_string(sizes) +
                            ", expected 0 only where the data, of sizes " + to_string(data.meta.sizes) +
                            ", have a size to copy");
            sizes[i] = data.meta.sizes[i];
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
        throw Error("found the shape " + to_string(sizes) + " for data of sizes " + to_string(data.meta.sizes) +
                    ", expected a shape with " + std::to_string(total) + " elements");
    if (open >= 0) sizes[static_cast<std::size_t>(open)] = total / rest;
    return {op("aten.reshape.default", data, sizes).ref};
}

/// A matrix: dimensions before the axis, and the rest.
Results flatten(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input");
    const std::int64_t rank = rank_of(input), given = op.integer("axis"), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis > rank)
        throw Error("found axis=" + std::to_string(given) + ", expected " + std::to_string(-rank) + " to " +
                    std::to_string(rank));
    const Sizes& sizes = input.meta.sizes;
    const Sizes matrix = {element_count(Sizes(sizes.begin(), sizes.begin() + axis)),
                          element_count(Sizes(sizes.begin() + axis, sizes.end()))};
    return {op("aten.reshape.default", input, matrix).ref};
}

Results transpose(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    Ints perm = all_dims(rank_of(data));
    std::reverse(perm.begin(), perm.end());
    if (const auto given = arguments.optional_integers("perm")) perm = *given;
    return {op("aten.permute.default", data, perm).ref};
}

/// Axes were an attribute before opset 13, then an operand.
std::optional<Ints> given_axes(const Rewrite& op) {
    op.no_attribute("axes", 13);
    return op.opset() < 13 ? op.arguments().optional_integers("axes") : op.known_ints_if("axes_value");
}

Results squeeze(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    Ints axes;
    if (const auto given = given_axes(op))
        axes = wrap_dims(*given, rank_of(data));
    else
        for (std::int64_t dim = 0; dim < rank_of(data); ++dim)
            if (size_of_dim(data, dim) == 1) axes.push_back(dim);
    Sizes sizes = data.meta.sizes;
    for (auto dim = axes.rbegin(); dim != axes.rend(); ++dim) {
        if (sizes[static_cast<std::size_t>(*dim)] != 1)
            throw Error("found size " + std::to_string(sizes[static_cast<std::size_t>(*dim)]) + " in dimension " +
                        std::to_string(*dim) + ", expected size 1 in a dimension to remove");
        sizes.erase(sizes.begin() + *dim);
    }
    return {op("aten.reshape.default", data, sizes).ref};
}

/// Axes count in the result.
Results unsqueeze(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    const std::optional<Ints> given = given_axes(op);
    if (!given) throw Error("found no axes, expected at least one");
    Sizes sizes = data.meta.sizes;
    for (const std::int64_t axis : wrap_dims(*given, rank_of(data) + static_cast<std::int64_t>(given->size())))
        sizes.insert(sizes.begin() + axis, 1);
    return {op("aten.reshape.default", data, sizes).ref};
}

/// Broadcasting in both directions: a dimension of 1 in the shape leaves the input's.
Results expand_both_ways(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input");
    return {op("aten.expand.default", input, broadcast_sizes(input.meta.sizes, op.known_ints("shape"))).ref};
}

Results tile(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input");
    const Ints repeats = op.known_ints("repeats");
    if (static_cast<std::int64_t>(repeats.size()) != rank_of(input))
        throw Error("found " + std::to_string(repeats.size()) + " repeats, expected " + std::to_string(rank_of(input)) +
                    ", one for each dimension");
    return {op("aten.repeat.default", input, repeats).ref};
}

struct Blocks {
    std::int64_t n, c, h, w, b;
};

Blocks depth_blocks(const NodeValue& input, std::int64_t block) {
    const Sizes& s = input.meta.sizes;
    if (s.size() != 4 || block < 1 || block > (1 << 15))
        throw Error("found an input of sizes " + to_string(s) + " and blocksize=" + std::to_string(block) +
                    ", expected 4 dimensions and a blocksize from 1 to 2^15");
    return {s[0], s[1], s[2], s[3], block};
}

/// Channels move into blocks of pixels; DCR has the block before the depth in the channels, CRD after it.
Results depth_to_space(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input");
    const auto [n, c, h, w, b] = depth_blocks(input, op.integer("blocksize"));
    const std::string mode = arguments.text("mode");
    if (mode != "DCR" && mode != "CRD") throw Error("found mode '" + mode + "', expected DCR or CRD");
    if (c % (b * b) != 0)
        throw Error("found " + std::to_string(c) + " channels, expected a multiple of " + std::to_string(b * b) +
                    ", the square of blocksize");
    const std::int64_t d = c / (b * b);
    const NodeValue pixels = mode == "DCR" ? op.permute(op.reshape(input, {n, b, b, d, h, w}), {0, 3, 4, 1, 5, 2})
                                           : op.permute(op.reshape(input, {n, d, b, b, h, w}), {0, 1, 4, 2, 5, 3});
    return {op("aten.reshape.default", pixels, Sizes{n, d, h * b, w * b}).ref};
}

Results space_to_depth(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input");
    const auto [n, c, h, w, b] = depth_blocks(input, op.integer("blocksize"));
    if (h % b != 0 || w % b != 0)
        throw Error("found an image of " + std::to_string(h) + " by " + std::to_string(w) +
                    ", expected multiples of blocksize=" + std::to_string(b));
    const NodeValue blocks = op.permute(op.reshape(input, {n, c, h / b, b, w / b, b}), {0, 3, 5, 1, 2, 4});
    return {op("aten.reshape.default", blocks, Sizes{n, c * b * b, h / b, w / b}).ref};
}

constexpr OpDef kShapeOps[] = {
    {.name = "onnx.Shape",
     .doc = "The sizes as a tensor. onnx Operators.md#Shape",
     .schema = "Shape(Tensor data, *, int start=0, int? end=None) -> Tensor",
     .dtypes = kMoved,
     .decompose = shape},
    {.name = "onnx.Size",
     .doc = "The number of elements as a tensor. onnx Operators.md#Size",
     .schema = "Size(Tensor data) -> Tensor",
     .dtypes = kMoved,
     .decompose = size},
    {.name = "onnx.Reshape",
     .doc = "The same elements under other sizes. onnx Operators.md#Reshape",
     .schema = "Reshape(Tensor data, Tensor shape, *, int allowzero=0) -> Tensor",
     .dtypes = kMoved,
     .decompose = reshape},
    {.name = "onnx.Flatten",
     .doc = "The same elements as a matrix. onnx Operators.md#Flatten",
     .schema = "Flatten(Tensor input, *, int axis=1) -> Tensor",
     .dtypes = kMoved,
     .decompose = flatten},
    {.name = "onnx.Transpose",
     .doc = "Dimensions in another order, reversed by default. onnx Operators.md#Transpose",
     .schema = "Transpose(Tensor data, *, int[]? perm=None) -> Tensor",
     .dtypes = kMoved,
     .decompose = transpose},
    {.name = "onnx.Squeeze",
     .doc = "Without dimensions of size 1. onnx Operators.md#Squeeze",
     .schema = "Squeeze(Tensor data, Tensor? axes_value=None, *, int[]? axes=None) -> Tensor",
     .dtypes = kMoved,
     .decompose = squeeze},
    {.name = "onnx.Unsqueeze",
     .doc = "With more dimensions of size 1. onnx Operators.md#Unsqueeze",
     .schema = "Unsqueeze(Tensor data, Tensor? axes_value=None, *, int[]? axes=None) -> Tensor",
     .dtypes = kMoved,
     .decompose = unsqueeze},
    {.name = "onnx.Expand",
     .doc = "Broadcast to a shape. onnx Operators.md#Expand",
     .schema = "Expand(Tensor input, Tensor shape) -> Tensor",
     .dtypes = kMoved,
     .decompose = expand_both_ways},
    {.name = "onnx.Tile",
     .doc = "Repeated along each dimension. onnx Operators.md#Tile",
     .schema = "Tile(Tensor input, Tensor repeats) -> Tensor",
     .dtypes = kMoved,
     .decompose = tile},
    {.name = "onnx.DepthToSpace",
     .doc = "Channels into blocks of pixels. onnx Operators.md#DepthToSpace",
     .schema = "DepthToSpace(Tensor input, *, int blocksize, str mode=\"DCR\") -> Tensor",
     .dtypes = kMoved,
     .decompose = depth_to_space},
    {.name = "onnx.SpaceToDepth",
     .doc = "Blocks of pixels into channels. onnx Operators.md#SpaceToDepth",
     .schema = "SpaceToDepth(Tensor input, *, int blocksize) -> Tensor",
     .dtypes = kMoved,
     .decompose = space_to_depth},
};

}  // namespace

std::span<const OpDef> onnx_shape_ops() { return kShapeOps; }

}  // namespace whittle
