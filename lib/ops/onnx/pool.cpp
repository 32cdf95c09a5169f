// ONNX's poolings: MaxPool, AveragePool, LpPool and their global forms.
#include <algorithm>

#include "ops/core/open_rules.h"
#include "ops/onnx/window.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// ATen pads poolings evenly and by half a kernel at most; everything else is padded before.
bool aten_can_pad(const Windows& windows) {
    for (std::size_t d = 0; d < windows.rank(); ++d)
        if (windows.before[d] > windows.kernel[d] / 2) return false;
    return windows.symmetric();
}

/// ATen has a pooling for each number of dimensions: its name is made of it.
std::string pool_name(const char* name, const Windows& windows, const char* rest = "d.default") {
    if (windows.rank() > 3)
        throw Error("found " + std::to_string(windows.rank()) + " spatial dimensions, expected 1 to 3");
    return "aten." + std::string(name) + std::to_string(windows.rank()) + rest;
}

Windows pool_windows(const Call& c) { return windows_of(c, c.tensor("X"), c.integers("kernel_shape")); }

/// Positions in each channel's (padded) image -> positions in the whole tensor, row by row; or with the last two
/// dimensions in column order.
V whole_positions(const Call& c, const V& in_image, const Windows& windows, const Sizes& sizes) {
    const std::size_t rank = windows.rank();
    const bool columns = c.integer("storage_order") != 0;
    V rest = in_image, position = full(c.builder(), {}, 0, DType::i64);
    std::int64_t step = 1;
    Ints steps(rank, 1);
    for (std::size_t k = 0; k < rank; ++k) {  // column order: the first dimension varies fastest
        const std::size_t d = columns ? k : rank - 1 - k;
        steps[d] = step;
        step *= sizes[d + 2];
    }
    for (std::size_t d = rank; d-- > 0;) {
        const std::int64_t grown = sizes[d + 2] + windows.before[d] + windows.after[d];
        V coordinate = remainder(rest, grown);
        if (windows.before[d] > 0) coordinate = coordinate - windows.before[d];
        position = position + coordinate * steps[d];
        rest = div(rest, grown, "trunc");
    }
    const std::int64_t images = sizes[0] * sizes[1];
    Sizes spread(sizes.size(), 1);
    spread[0] = sizes[0];
    spread[1] = sizes[1];
    const V first = arange(c.builder(), 0, images * step, std::max<std::int64_t>(step, 1), DType::i64);
    return position + reshaped(first, spread);
}

/// Rounding up may make windows that begin behind the image, in the padding after it: without these.
V without_late(V y, const Sizes& image, const Windows& windows) {
    for (std::size_t d = 0; d < windows.rank(); ++d) {
        const std::int64_t stride = windows.strides[d];
        const std::int64_t count = (image[d + 2] + windows.before[d] + stride - 1) / stride;
        if (y.sizes()[d + 2] > count) y = part(y, static_cast<std::int64_t>(d) + 2, 0, count, 1);
    }
    return y;
}

CallResults max_pool(const Call& c) {
    const V x = c.tensor("X");
    Windows windows = pool_windows(c);
    const Windows original = windows;
    const bool ceil = c.integer("ceil_mode") != 0, indices = c.integer("num_outputs") > 1;
    Windows even = windows;
    V source = x;
    if (aten_can_pad(windows)) {
        std::fill(windows.before.begin(), windows.before.end(), 0);  // ATen counts positions without the padding
        std::fill(windows.after.begin(), windows.after.end(), 0);
    } else {
        // The lowest integer is no place in the padding.
        const bool wider = indices && !is_floating(x.dtype());
        const V image = wider ? cast(x, DType::i32) : x;
        source = padded(image, windows, lowest(image.dtype()));
        std::fill(even.before.begin(), even.before.end(), 0);
    }
    const ArgList args = {
        source, as_arg(even.kernel), as_arg(even.strides), as_arg(even.before), as_arg(even.dilations), ceil};
    const auto kept = [&](const V& y) { return ceil ? without_late(y, x.sizes(), original) : y; };
    if (!indices) return kept(c.builder().call(pool_name("max_pool", windows), args));
    const Vs both = c.builder().call_multi(pool_name("max_pool", windows, "d_with_indices.default"), args);
    return {cast(kept(both[0]), x.dtype()), whole_positions(c, kept(both[1]), windows, x.sizes())};
}

V one_image_of_ones(const V& x) {
    Sizes sizes = x.sizes();
    sizes[0] = sizes[1] = 1;
    return full(*x.builder, sizes, 1.0, x.dtype());
}

/// Means over windows; padding counts only on demand. Where ATen cannot pad, the mean is that of the padded image,
/// divided by that of ones padded likewise when padding must not count.
V average(const V& x, const Windows& windows, bool ceil, bool count_padding) {
    const auto pooled = [&](const V& image, const Ints& padding, bool counts) {
        return x.builder->call(pool_name("avg_pool", windows),
                               {image, as_arg(windows.kernel), as_arg(windows.strides), as_arg(padding), ceil, counts});
    };
    if (aten_can_pad(windows)) return pooled(x, windows.before, count_padding);
    const auto mean = [&](const V& image) {
        const V y = pooled(padded(image, windows, 0.0), Ints(windows.rank(), 0), true);
        return ceil ? without_late(y, x.sizes(), windows) : y;
    };
    return count_padding ? mean(x) : mean(x) / mean(one_image_of_ones(x));
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
V window_sums(const V& padded_image, const Windows& windows, const Sizes& counts) {
    Ints beyond;
    for (std::size_t d = windows.rank(); d-- > 0;) {
        const std::int64_t touched = (counts[d] - 1) * windows.strides[d] + windows.extent(d);
        beyond.push_back(0);
        beyond.push_back(
            std::max<std::int64_t>(touched - size_of_dim(padded_image, static_cast<std::int64_t>(d) + 2), 0));
    }
    const bool none = std::ranges::all_of(beyond, [](std::int64_t pad) { return pad == 0; });
    const V image = none ? padded_image : constant_pad_nd(padded_image, beyond, 0.0);
    const std::int64_t images = size_of_dim(image, 0) * size_of_dim(image, 1);
    Sizes one_channel = image.sizes(), result = {size_of_dim(image, 0), size_of_dim(image, 1)};
    one_channel[0] = images;
    one_channel[1] = 1;
    Sizes kernel = {1, 1};
    kernel.insert(kernel.end(), windows.kernel.begin(), windows.kernel.end());
    result.insert(result.end(), counts.begin(), counts.end());
    const Ints zeros(windows.rank(), 0);
    V kept = convolution(reshaped(image, one_channel), full(*image.builder, kernel, 1.0, image.dtype()), {},
                         windows.strides, zeros, windows.dilations, false, zeros, 1);
    for (std::size_t d = 0; d < windows.rank(); ++d) kept = part(kept, static_cast<std::int64_t>(d) + 2, 0, counts[d]);
    return reshaped(kept, result);
}

/// How many results each dimension has.
Sizes window_counts(const Windows& windows, const V& x, bool ceil) {
    Sizes counts;
    for (std::size_t d = 0; d < windows.rank(); ++d) counts.push_back(window_count(windows, d, x.sizes()[d + 2], ceil));
    return counts;
}

/// What ATen has no pooling for: the sums, divided by how many elements of the image they are of.
V dilated_average(const V& x, const Windows& windows, bool ceil, bool count_padding) {
    const Sizes counts = window_counts(windows, x, ceil);
    const V counted = padded(one_image_of_ones(x), windows, count_padding ? 1.0 : 0.0);
    return window_sums(padded(x, windows, 0.0), windows, counts) / window_sums(counted, windows, counts);
}

bool is_dilated(const Windows& windows) {
    return std::ranges::any_of(windows.dilations, [](std::int64_t dilation) { return dilation != 1; });
}

CallResults average_pool(const Call& c) {
    const Windows windows = pool_windows(c);
    const bool ceil = c.integer("ceil_mode") != 0, count_padding = c.integer("count_include_pad") != 0;
    return (is_dilated(windows) ? dilated_average : average)(c.tensor("X"), windows, ceil, count_padding);
}

/// The p-norm of |x|, given the means of |x|^p over `count` elements.
V norm_from_mean(const Call& c, const V& mean, double count) {
    return pow(mean * count, 1.0 / static_cast<double>(c.integer("p")));
}

V powers(const Call& c, const V& x) {
    if (c.integer("p") < 1) throw Error("found p=" + std::to_string(c.integer("p")) + ", expected at least 1");
    return pow(abs(x), static_cast<double>(c.integer("p")));
}

CallResults lp_pool(const Call& c) {
    const Windows windows = pool_windows(c);
    if (c.integer("ceil_mode") != 0 || is_dilated(windows)) {
        const V x = powers(c, c.tensor("X"));
        const Sizes counts = window_counts(windows, x, c.integer("ceil_mode") != 0);
        return norm_from_mean(c, window_sums(padded(x, windows, 0.0), windows, counts), 1);
    }
    double count = 1;
    for (const std::int64_t size : windows.kernel) count *= static_cast<double>(size);
    return norm_from_mean(c, average(powers(c, c.tensor("X")), windows, false, true), count);
}

Ints spatial_dims(const V& x) {
    if (x.rank() < 2)
        throw Error("found " + std::to_string(x.rank()) + " dimensions, expected at least 2: batch and channels");
    const Ints dims = all_dims(x.rank());
    return Ints(dims.begin() + 2, dims.end());
}

V mean_over(const V& x, const Ints& dims) { return mean(x, dims, true); }
V largest_over(const V& x, const Ints& dims) { return amax(x, dims, true); }

template <V (*F)(const V&, const Ints&)>
CallResults global_pool(const Call& c) {
    const V x = c.tensor("X");
    const Ints dims = spatial_dims(x);
    return dims.empty() ? x : F(x, dims);
}

CallResults global_lp_pool(const Call& c) {
    const V x = c.tensor("X");
    const Ints dims = spatial_dims(x);
    return norm_from_mean(c, summed(powers(c, x), dims, true), 1);
}

/// The texts order numbers only: onnx/onnx#4716.
Reason open_max_pool(std::string_view op, const Arguments<Tensor>& a) {
    return not_a_number(op, "data", a.tensor("X"));
}

/// Floating attributes that pooling does not have on integers.
constexpr DTypeSet kMaxPool = kFloating | set_of(DType::i8) | set_of(DType::u8);

constexpr OpDef kPoolOps[] = {
    composite(
        "MaxPool(Tensor X, *, str auto_pad=\"NOTSET\", int ceil_mode=0, int[]? dilations=None, int[] kernel_shape, "
        "int[]? pads=None, int storage_order=0, int[]? strides=None, int num_outputs=1) -> Tensor[]",
        "Largest element of each window", kMaxPool, max_pool, {.ask = open_max_pool, .if_different = true}),
    composite("AveragePool(Tensor X, *, str auto_pad=\"NOTSET\", int ceil_mode=0, int count_include_pad=0, int[]? "
              "dilations=None, int[] kernel_shape, int[]? pads=None, int[]? strides=None) -> Tensor",
              "Mean of each window", kFloating, average_pool),
    composite("LpPool(Tensor X, *, str auto_pad=\"NOTSET\", int ceil_mode=0, int[]? dilations=None, int[] "
              "kernel_shape, int p=2, int[]? pads=None, int[]? strides=None) -> Tensor",
              "p-norm of each window", kFloating, lp_pool),
    composite("GlobalAveragePool(Tensor X) -> Tensor", "Mean of each channel of each image", kFloating,
              global_pool<mean_over>),
    composite("GlobalMaxPool(Tensor X) -> Tensor", "Largest element of each channel of each image", kFloating,
              global_pool<largest_over>, {.ask = open_max_pool, .if_different = true}),
    composite("GlobalLpPool(Tensor X, *, int p=2) -> Tensor", "p-norm of each channel of each image", kFloating,
              global_lp_pool),
};

}  // namespace

std::span<const OpDef> onnx_pool_ops() { return kPoolOps; }

}  // namespace whittle
