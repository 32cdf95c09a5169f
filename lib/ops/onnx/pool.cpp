// ONNX's poolings: MaxPool, AveragePool, LpPool and their global forms.
#include <cmath>
#include <limits>

#include "ops/onnx/window.h"
#include "tensor/limits.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// ATen pads poolings evenly and by half a kernel at most; everything else is padded before.
bool aten_can_pad(const Windows& windows) {
    for (std::size_t d = 0; d < windows.rank(); ++d)
        if (windows.before[d] > windows.kernel[d] / 2) return false;
    return windows.symmetric();
}

std::string pool_name(const char* name, const Windows& windows, const char* rest = "d.default") {
    if (windows.rank() > 3)
        throw Error("found " + std::to_string(windows.rank()) + " spatial dimensions, expected 1 to 3");
    return "aten." + std::string(name) + std::to_string(windows.rank()) + rest;
}

Windows pool_windows(const Rewrite& op) {
    return windows_of(op, op.tensor("X"), op.arguments().integers("kernel_shape"));
}

/// Positions in each channel's (padded) image -> positions in the whole tensor, row by row; or with the last two
/// dimensions in column order.
NodeValue whole_positions(const Rewrite& op, const NodeValue& in_image, const Windows& windows, const Sizes& sizes) {
    const std::size_t rank = windows.rank();
    const bool columns = op.integer("storage_order") != 0;
    NodeValue rest = in_image, position = op.full({}, Scalar(0), DType::i64);
    std::int64_t step = 1;
    Ints steps(rank, 1);
    for (std::size_t k = 0; k < rank; ++k) {  // column order: the first dimension varies fastest
        const std::size_t d = columns ? k : rank - 1 - k;
        steps[d] = step;
        step *= sizes[d + 2];
    }
    for (std::size_t d = rank; d-- > 0;) {
        const std::int64_t grown = sizes[d + 2] + windows.before[d] + windows.after[d];
        NodeValue coordinate = op("aten.remainder.Scalar", rest, grown);
        if (windows.before[d] > 0) coordinate = op("aten.sub.Tensor", coordinate, windows.before[d]);
        position = op("aten.add.Tensor", position, op("aten.mul.Tensor", coordinate, steps[d]));
        rest = op.builder().call("aten.div.Tensor_mode", {arg(rest), Arg(grown)}, {{"rounding_mode", "trunc"}});
    }
    const std::int64_t images = sizes[0] * sizes[1];
    Sizes spread(sizes.size(), 1);
    spread[0] = sizes[0];
    spread[1] = sizes[1];
    const NodeValue first =
        op.builder().call("aten.arange.start_step", {Arg(0), Arg(images * step), Arg(std::max<std::int64_t>(step, 1))},
                          {{"dtype", Arg(DType::i64)}});
    return op("aten.add.Tensor", position, op.reshape(first, spread));
}

/// Rounding up may make windows that begin behind the image, in the padding after it: without these.
NodeValue without_late(const Rewrite& op, NodeValue y, const Sizes& image, const Windows& windows) {
    for (std::size_t d = 0; d < windows.rank(); ++d) {
        const std::int64_t stride = windows.strides[d];
        const std::int64_t count = (image[d + 2] + windows.before[d] + stride - 1) / stride;
        if (y.meta.sizes[d + 2] > count) y = op.slice(y, static_cast<std::int64_t>(d) + 2, 0, count, 1);
    }
    return y;
}

Results max_pool(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    Windows windows = pool_windows(op);
    const Windows original = windows;
    const bool ceil = op.integer("ceil_mode") != 0, indices = op.integer("num_outputs") > 1;
    Windows aten = windows;
    NodeValue source = x;
    if (aten_can_pad(windows)) {
        std::fill(windows.before.begin(), windows.before.end(), 0);  // ATen counts positions without the padding
        std::fill(windows.after.begin(), windows.after.end(), 0);
    } else {
        // The lowest integer is no place in the padding.
        const bool wider = indices && !is_floating(x.meta.dtype);
        const NodeValue image = wider ? op.cast(x, DType::i32) : x;
        source = padded(op, image, windows, lowest(image.meta.dtype));
        std::fill(aten.before.begin(), aten.before.end(), 0);
    }
    if (!indices) {
        const NodeValue y =
            op(pool_name("max_pool", windows), source, aten.kernel, aten.strides, aten.before, aten.dilations, ceil);
        return {ceil ? without_late(op, y, x.meta.sizes, original).ref : y.ref};
    }
    const std::vector<NodeValue> both =
        builder.call_multi(pool_name("max_pool", windows, "d_with_indices.default"),
                           {arg(source), Arg::ints(aten.kernel), Arg::ints(aten.strides), Arg::ints(aten.before),
                            Arg::ints(aten.dilations), Arg(ceil)});
    const auto kept = [&](const NodeValue& y) { return ceil ? without_late(op, y, x.meta.sizes, original) : y; };
    return {op.cast(kept(both[0]), x.meta.dtype).ref, whole_positions(op, kept(both[1]), windows, x.meta.sizes).ref};
}

/// Means over windows; padding counts only on demand. Where ATen cannot pad, the mean is that of the padded image,
/// divided by that of ones padded likewise when padding must not count.
NodeValue average(const Rewrite& op, const NodeValue& x, const Windows& windows, bool ceil, bool count_padding) {
    const std::string target = pool_name("avg_pool", windows);
    if (aten_can_pad(windows))
        return op(target, x, windows.kernel, windows.strides, windows.before, ceil, count_padding);
    const Ints zeros(windows.rank(), 0);
    const auto mean = [&](const NodeValue& image) {
        const NodeValue y =
            op(target, padded(op, image, windows, Scalar(0.0)), windows.kernel, windows.strides, zeros, ceil, true);
        return ceil ? without_late(op, y, x.meta.sizes, windows) : y;
    };
    if (count_padding) return mean(x);
    Sizes one_image = x.meta.sizes;
    one_image[0] = one_image[1] = 1;
    return op("aten.div.Tensor", mean(x), mean(op.full(one_image, Scalar(1.0), x.meta.dtype)));
}

/// How many results a dimension has; rounding up makes no window that begins behind the image and what is before it.
std::int64_t window_count(const Windows& windows, std::size_t d, std::int64_t size, bool ceil) {
    const std::int64_t grown = size + windows.before[d] + windows.after[d], stride = windows.strides[d];
    const std::int64_t room = grown - windows.extent(d);
    if (room < 0) return ceil && room > -stride ? 1 : 0;
    const std::int64_t count = (ceil ? (room + stride - 1) / stride : room / stride) + 1;
    return ceil && (count - 1) * stride >= size + windows.before[d] ? count - 1 : count;
}

/// Sums over windows that may be dilated: of the padded image, where rounding up goes beyond it of zeros there.
NodeValue window_sums(const Rewrite& op, const NodeValue& padded_image, const Windows& windows, const Sizes& counts) {
    Ints beyond;
    for (std::size_t d = windows.rank(); d-- > 0;) {
        const std::int64_t touched = (counts[d] - 1) * windows.strides[d] + windows.extent(d);
        beyond.push_back(0);
        beyond.push_back(
            std::max<std::int64_t>(touched - size_of_dim(padded_image, static_cast<std::int64_t>(d) + 2), 0));
    }
    const bool none = std::ranges::all_of(beyond, [](std::int64_t pad) { return pad == 0; });
    const NodeValue image = none ? padded_image : op("aten.constant_pad_nd.default", padded_image, beyond, 0.0);
    const std::int64_t images = size_of_dim(image, 0) * size_of_dim(image, 1);
    Sizes one_channel = image.meta.sizes, result = {size_of_dim(image, 0), size_of_dim(image, 1)};
    one_channel[0] = images;
    one_channel[1] = 1;
    Sizes kernel = {1, 1};
    kernel.insert(kernel.end(), windows.kernel.begin(), windows.kernel.end());
    result.insert(result.end(), counts.begin(), counts.end());
    const Ints zeros(windows.rank(), 0);
    const NodeValue sums =
        op("aten.convolution.default", op.reshape(image, one_channel), op.full(kernel, Scalar(1.0), image.meta.dtype),
           Arg(), windows.strides, zeros, windows.dilations, false, zeros, std::int64_t{1});
    NodeValue kept = sums;
    for (std::size_t d = 0; d < windows.rank(); ++d)
        kept = op.slice(kept, static_cast<std::int64_t>(d) + 2, 0, counts[d]);
    return op.reshape(kept, result);
}

/// How many results each dimension has.
Sizes window_counts(const Windows& windows, const NodeValue& x, bool ceil) {
    Sizes counts;
    for (std::size_t d = 0; d < windows.rank(); ++d)
        counts.push_back(window_count(windows, d, x.meta.sizes[d + 2], ceil));
    return counts;
}

/// What ATen has no pooling for: the sums, divided by how many elements of the image they are of.
NodeValue dilated_average(const Rewrite& op, const NodeValue& x, const Windows& windows, bool ceil,
                          bool count_padding) {
    const Sizes counts = window_counts(windows, x, ceil);
    Sizes one_image = x.meta.sizes;
    one_image[0] = one_image[1] = 1;
    const NodeValue ones = op.full(one_image, Scalar(1.0), x.meta.dtype);
    const NodeValue counted = padded(op, ones, windows, Scalar(count_padding ? 1.0 : 0.0));
    return op("aten.div.Tensor", window_sums(op, padded(op, x, windows, Scalar(0.0)), windows, counts),
              window_sums(op, counted, windows, counts));
}

bool is_dilated(const Windows& windows) {
    return std::ranges::any_of(windows.dilations, [](std::int64_t dilation) { return dilation != 1; });
}

Results average_pool(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Windows windows = pool_windows(op);
    const bool ceil = op.integer("ceil_mode") != 0, count_padding = op.integer("count_include_pad") != 0;
    const auto mean = is_dilated(windows) ? dilated_average : average;
    return {mean(op, op.tensor("X"), windows, ceil, count_padding).ref};
}

/// The p-norm of |x|, given the means of |x|^p over `count` elements.
NodeValue norm_from_mean(const Rewrite& op, const NodeValue& mean, double count) {
    const NodeValue sum = op("aten.mul.Tensor", mean, count);
    return op("aten.pow.Tensor_Scalar", sum, 1.0 / static_cast<double>(op.integer("p")));
}

NodeValue powers(const Rewrite& op, const NodeValue& x) {
    if (op.integer("p") < 1) throw Error("found p=" + std::to_string(op.integer("p")) + ", expected at least 1");
    return op("aten.pow.Tensor_Scalar", op("aten.abs.default", x), static_cast<double>(op.integer("p")));
}

Results lp_pool(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Windows windows = pool_windows(op);
    if (op.integer("ceil_mode") != 0 || is_dilated(windows)) {
        const NodeValue x = powers(op, op.tensor("X"));
        const Sizes counts = window_counts(windows, x, op.integer("ceil_mode") != 0);
        return {norm_from_mean(op, window_sums(op, padded(op, x, windows, Scalar(0.0)), windows, counts), 1).ref};
    }
    double count = 1;
    for (const std::int64_t size : windows.kernel) count *= static_cast<double>(size);
    return {norm_from_mean(op, average(op, powers(op, op.tensor("X")), windows, false, true), count).ref};
}

Ints spatial_dims(const NodeValue& x) {
    if (rank_of(x) < 2)
        throw Error("found " + std::to_string(rank_of(x)) + " dimensions, expected at least 2: batch and channels");
    const Ints dims = all_dims(rank_of(x));
    return Ints(dims.begin() + 2, dims.end());
}

template <Name Target>
Results global_pool(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const Ints dims = spatial_dims(x);
    return {dims.empty() ? x.ref : op(Target, x, dims, true).ref};
}

Results global_lp_pool(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const Ints dims = spatial_dims(x);
    const NodeValue sums = powers(op, x);
    return {norm_from_mean(op, dims.empty() ? sums : op("aten.sum.dim_IntList", sums, dims, true), 1).ref};
}

/// Floating attributes that pooling does not have on integers.
constexpr DTypeSet kMaxPool = kFloating | set_of(DType::i8) | set_of(DType::u8);

constexpr OpDef kPoolOps[] = {
    {.name = "onnx.MaxPool",
     .doc = "Largest element of each window. onnx Operators.md#MaxPool",
     .schema =
         "MaxPool(Tensor X, *, str auto_pad=\"NOTSET\", int ceil_mode=0, int[]? dilations=None, int[] kernel_shape, "
         "int[]? pads=None, int storage_order=0, int[]? strides=None, int num_outputs=1) -> Tensor[]",
     .dtypes = kMaxPool,
     .decompose = max_pool},
    {.name = "onnx.AveragePool",
     .doc = "Mean of each window. onnx Operators.md#AveragePool",
     .schema = "AveragePool(Tensor X, *, str auto_pad=\"NOTSET\", int ceil_mode=0, int count_include_pad=0, "
               "int[]? dilations=None, int[] kernel_shape, int[]? pads=None, int[]? strides=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = average_pool},
    {.name = "onnx.LpPool",
     .doc = "p-norm of each window. onnx Operators.md#LpPool",
     .schema = "LpPool(Tensor X, *, str auto_pad=\"NOTSET\", int ceil_mode=0, int[]? dilations=None, int[] "
               "kernel_shape, int p=2, int[]? pads=None, "
               "int[]? strides=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = lp_pool},
    {.name = "onnx.GlobalAveragePool",
     .doc = "Mean of each image. onnx Operators.md#GlobalAveragePool",
     .schema = "GlobalAveragePool(Tensor X) -> Tensor",
     .dtypes = kFloating,
     .decompose = global_pool<"aten.mean.dim">},
    {.name = "onnx.GlobalMaxPool",
     .doc = "Largest element of each image. onnx Operators.md#GlobalMaxPool",
     .schema = "GlobalMaxPool(Tensor X) -> Tensor",
     .dtypes = kFloating,
     .decompose = global_pool<"aten.amax.default">},
    {.name = "onnx.GlobalLpPool",
     .doc = "p-norm of each image. onnx Operators.md#GlobalLpPool",
     .schema = "GlobalLpPool(Tensor X, *, int p=2) -> Tensor",
     .dtypes = kFloating,
     .decompose = global_lp_pool},
};

}  // namespace

std::span<const OpDef> onnx_pool_ops() { return kPoolOps; }

}  // namespace whittle
