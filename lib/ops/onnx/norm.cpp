// ONNX's normalizations: BatchNormalization, InstanceNormalization, LayerNormalization, RMSNormalization, LRN,
// MeanVarianceNormalization, LpNormalization. Each is written out, as its definition in the standard is.
#include <algorithm>
#include <tuple>

#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// A value per channel, spread over x's other dimensions.
V per_channel(const Call& c, std::string_view name, const V& x) {
    const V value = c.tensor(name);
    const std::int64_t channels = x.rank() < 2 ? 1 : size_of_dim(x, 1);
    if (value.sizes() != Sizes{channels})
        throw Error("found '" + std::string(name) + "' of sizes " + to_string(value.sizes()) + ", expected [" +
                    std::to_string(channels) + "], one per channel");
    Sizes spread(x.sizes().size(), 1);
    if (spread.size() > 1) spread[1] = channels;
    return cast(reshaped(value, spread), x.dtype());
}

/// (x - mean) / sqrt(variance + epsilon)
V normalized(const Call& c, const V& centered, const V& variance) {
    return centered / sqrt(variance + number32(c, "epsilon"));
}

V rescaled(const V& x, const V& scale, const V& bias) { return x * scale + bias; }

/// x minus its mean over `dims`, and the mean of its square.
struct Moments {
    V mean, centered, variance;
};
Moments moments(const V& x, const Ints& dims) {
    const V mean = aten::mean(x, dims, true);
    const V centered = x - mean;
    return {mean, centered, aten::mean(centered * centered, dims, true)};
}

/// With given statistics; in training with those of the batch, which then move the given ones.
CallResults batch_normalization(const Call& c) {
    const V x = c.tensor("X");
    const bool training = c.integer("training_mode") != 0;
    if (c.integer("num_outputs") > (training ? 3 : 1))
        throw Error("found " + std::to_string(c.integer("num_outputs")) + " results of batch normalization, expected " +
                    (training ? "at most 3" : "1 with training_mode=0"));
    if (c.integer("spatial") != 1) throw Error("found spatial=0, expected spatial=1");
    const V given_mean = per_channel(c, "input_mean", x), given_variance = per_channel(c, "input_var", x);
    Ints dims = all_dims(x.rank());
    if (dims.size() > 1) dims.erase(dims.begin() + 1);
    const Moments m = training ? moments(x, dims) : Moments{given_mean, x - given_mean, given_variance};
    Vs results = {rescaled(normalized(c, m.centered, m.variance), per_channel(c, "scale", x), per_channel(c, "B", x))};
    const double momentum = number32(c, "momentum");
    for (const auto& [name, given, own] :
         {std::tuple("input_mean", given_mean, m.mean), std::tuple("input_var", given_variance, m.variance)}) {
        if (static_cast<std::int64_t>(results.size()) >= c.integer("num_outputs")) break;
        const V moved = given * momentum + own * (1 - momentum);
        const ValueMeta& meta = c.tensor(name).meta;
        results.push_back(cast(reshaped(moved, meta.sizes), meta.dtype));
    }
    return results;
}

CallResults instance_normalization(const Call& c) {
    const V x = c.tensor("input");
    if (x.rank() < 3)
        throw Error("found " + std::to_string(x.rank()) +
                    " dimensions, expected at least 3: batch, channels and spatial dimensions");
    const Ints dims = all_dims(x.rank());
    const Moments m = moments(x, Ints(dims.begin() + 2, dims.end()));
    return rescaled(normalized(c, m.centered, m.variance), per_channel(c, "scale", x), per_channel(c, "B", x));
}

/// A value per group until opset 21, then per channel, spread over x as [batch, groups, channels of one, elements].
V per_group(const Call& c, std::string_view name, std::int64_t groups, std::int64_t channels) {
    const V value = c.tensor(name);
    const std::int64_t count = opset(c) < 21 ? groups : channels;
    if (value.sizes() != Sizes{count})
        throw Error("found '" + std::string(name) + "' of sizes " + to_string(value.sizes()) + ", expected [" +
                    std::to_string(count) + "], one per " + (opset(c) < 21 ? "group" : "channel"));
    return reshaped(value, {1, groups, count / groups, 1});
}

/// Groups of channels of each image, in f32 for narrower types unless stash_type says otherwise.
CallResults group_normalization(const Call& c) {
    const V x = c.tensor("X");
    const std::int64_t groups = c.integer("num_groups"), channels = x.rank() < 3 ? 0 : size_of_dim(x, 1);
    if (groups < 1 || channels < 1 || channels % groups != 0)
        throw Error("found num_groups=" + std::to_string(groups) + " for X of sizes " + to_string(x.sizes()) +
                    ", expected at least 3 dimensions, and a number of channels divisible by num_groups");
    const DType dtype = x.dtype();
    const DType stashed = opset(c) < 21 ? dtype : float_of_code("stash_type", c.integer("stash_type"));
    std::int64_t elements = 1;
    for (std::int64_t dim = 2; dim < x.rank(); ++dim) elements *= size_of_dim(x, dim);
    const V grouped = reshaped(x, {size_of_dim(x, 0), groups, channels / groups, elements});
    const Moments m = moments(cast(grouped, promote(dtype, stashed)), {2, 3});
    const V y = rescaled(cast(normalized(c, m.centered, m.variance), dtype), per_group(c, "scale", groups, channels),
                         per_group(c, "bias", groups, channels));
    return reshaped(y, x.sizes());
}

/// Over dimensions from the axis on, in f32 for narrower types; what it says of mean and deviation is f32, stash_type.
CallResults layer_normalization(const Call& c) {
    const V x = c.tensor("X");
    if (c.integer("stash_type") != 1)
        throw Error("found stash_type=" + std::to_string(c.integer("stash_type")) +
                    ", expected stash_type=1, which stands for f32");
    const std::int64_t axis = wrap_dim(c.integer("axis"), x.rank());
    const Ints dims = all_dims(x.rank());
    const DType dtype = x.dtype(), wide = dtype == DType::f64 ? DType::f64 : DType::f32;
    const Moments m = moments(cast(x, wide), Ints(dims.begin() + axis, dims.end()));
    const V inverse = reciprocal(sqrt(m.variance + number32(c, "epsilon")));
    V y = cast(m.centered * inverse, dtype) * c.tensor("Scale");
    if (c.has("B")) y = y + c.tensor("B");
    if (y.sizes() != x.sizes())
        throw Error("found Scale of sizes " + to_string(c.tensor("Scale").sizes()) +
                    (c.has("B") ? " and B of sizes " + to_string(c.tensor("B").sizes()) : "") +
                    ", expected sizes that broadcast to " + to_string(x.sizes()) + ", the sizes of X");
    Vs results = {y};
    const std::int64_t count = c.integer("num_outputs");
    if (count > 1) results.push_back(cast(m.mean, DType::f32));
    if (count > 2) results.push_back(cast(inverse, DType::f32));
    return results;
}

/// x / sqrt(mean of squares + epsilon) over dimensions from the axis on, then scaled, in the scale's type.
CallResults rms_normalization(const Call& c) {
    const V x = c.tensor("X"), scale = c.tensor("scale");
    const std::int64_t axis = wrap_dim(c.integer("axis"), x.rank());
    const Ints dims = all_dims(x.rank());
    const DType stashed = float_of_code("stash_type", c.integer("stash_type"));
    const V wide = cast(x, promote(x.dtype(), stashed));
    const V squares = mean(wide * wide, Ints(dims.begin() + axis, dims.end()), true);
    const V normal = cast(normalized(c, wide, squares), x.dtype());
    const V y = cast(normal, scale.dtype()) * scale;
    if (y.sizes() != x.sizes())
        throw Error("found a scale of sizes " + to_string(scale.sizes()) + ", expected sizes that broadcast to " +
                    to_string(x.sizes()) + ", the sizes of X");
    return y;
}

/// x / (bias + alpha / size * sum of squares over `size` channels around)^beta
CallResults lrn(const Call& c) {
    const V x = c.tensor("X");
    const std::int64_t size = c.integer("size");
    constexpr std::int64_t kLargest = 1024;  // a call for each neighbour
    if (x.rank() < 2 || size < 1 || size > kLargest)
        throw Error("found size=" + std::to_string(size) + " for X with " + std::to_string(x.rank()) +
                    " dimensions, expected a size from 1 to " + std::to_string(kLargest) +
                    " and at least 2 dimensions: batch and channels");
    const std::int64_t channels = size_of_dim(x, 1), below = std::min((size - 1) / 2, channels),
                       above = std::min(size - 1 - (size - 1) / 2, channels);
    Ints pads(static_cast<std::size_t>(2 * (x.rank() - 1)), 0);
    pads[pads.size() - 2] = below;
    pads[pads.size() - 1] = above;
    const V squares = constant_pad_nd(x * x, pads, 0.0);
    V sum = part(squares, 1, 0, channels);
    for (std::int64_t i = 1; i <= below + above; ++i) sum = sum + part(squares, 1, i, i + channels);
    const V base = sum * (number32(c, "alpha") / static_cast<double>(size)) + number32(c, "bias");
    return x / pow(base, number32(c, "beta"));
}

/// (x - mean) / (sqrt(variance) + 1e-9), as the standard defines it.
CallResults mean_variance_normalization(const Call& c) {
    const V x = c.tensor("X");
    const Moments m = moments(x, wrap_dims(c.optional_integers("axes").value_or(Ints{0, 2, 3}), x.rank()));
    return m.centered / (sqrt(m.variance) + 1e-9);
}

CallResults lp_normalization(const Call& c) {
    const V x = c.tensor("input");
    const std::int64_t p = c.integer("p"), axis = wrap_dim(c.integer("axis"), x.rank());
    if (p != 1 && p != 2) throw Error("found p=" + std::to_string(p) + ", expected 1 or 2");
    if (x.rank() == 0) throw Error("found a 0-d input, expected at least one dimension");
    const V terms = p == 1 ? abs(x) : x * x;
    const V sum = aten::sum(terms, Ints{axis}, true);
    const V norm = p == 1 ? sum : sqrt(sum);
    // The standard does not say what zeros become; onnxruntime leaves them.
    return x / where(eq(norm, 0.0), 1.0, norm);
}

constexpr OpDef kNormOps[] = {
    composite("GroupNormalization(Tensor X, Tensor scale, Tensor bias, *, float epsilon=1e-05, int num_groups, int "
              "stash_type=1) -> Tensor",
              "Groups of channels of each image normalized", kFloating, group_normalization),
    composite("BatchNormalization(Tensor X, Tensor scale, Tensor B, Tensor input_mean, Tensor input_var, *, float "
              "epsilon=1e-05, float momentum=0.9, int spatial=1, int training_mode=0, int num_outputs=1) -> Tensor[]",
              "Normalized by given statistics of each channel", kFloating, batch_normalization),
    composite("InstanceNormalization(Tensor input, Tensor scale, Tensor B, *, float epsilon=1e-05) -> Tensor",
              "Each channel of each image normalized", kFloating, instance_normalization),
    composite("LayerNormalization(Tensor X, Tensor Scale, Tensor? B=None, *, int axis=-1, float epsilon=1e-05, int "
              "stash_type=1, int num_outputs=1) -> Tensor[]",
              "Normalized over the last dimensions", kFloating, layer_normalization),
    composite(
        "RMSNormalization(Tensor X, Tensor scale, *, int axis=-1, float epsilon=1e-05, int stash_type=1) -> Tensor",
        "Divided by the root of the mean square over the last dimensions", kFloating, rms_normalization),
    composite("LRN(Tensor X, *, float alpha=0.0001, float beta=0.75, float bias=1.0, int size) -> Tensor",
              "Local response normalization over neighboring channels", kFloating, lrn),
    composite("MeanVarianceNormalization(Tensor X, *, int[]? axes=None) -> Tensor",
              "Normalized to mean 0 and variance 1 over dimensions", kFloating, mean_variance_normalization),
    composite("LpNormalization(Tensor input, *, int axis=-1, int p=2) -> Tensor",
              "Normalized to p-norm 1 along one dimension", kFloating, lp_normalization),
};

}  // namespace

std::span<const OpDef> onnx_norm_ops() { return kNormOps; }

}  // namespace whittle
