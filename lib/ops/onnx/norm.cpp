// ONNX's normalizations: BatchNormalization, InstanceNormalization, LayerNormalization, RMSNormalization, LRN,
// MeanVarianceNormalization, LpNormalization. Each is written out, as its definition in the standard is.
#include <tuple>

#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// A value per channel, spread over x's other dimensions.
NodeValue per_channel(const Rewrite& op, std::string_view name, const NodeValue& x) {
    const NodeValue value = op.tensor(name);
    const std::int64_t channels = rank_of(x) < 2 ? 1 : size_of_dim(x, 1);
    if (value.meta.sizes != Sizes{channels})
        throw Error("found '" + std::string(name) + "' of sizes " + to_string(value.meta.sizes) + ", expected [" +
                    std::to_string(channels) + "], one per channel");
    Sizes spread(x.meta.sizes.size(), 1);
    if (spread.size() > 1) spread[1] = channels;
    return op.cast(op.reshape(value, spread), x.meta.dtype);
}

/// (x - mean) / sqrt(variance + epsilon)
NodeValue normalized(const Rewrite& op, const NodeValue& centered, const NodeValue& variance) {
    const NodeValue deviation = op("aten.sqrt.default", op("aten.add.Tensor", variance, op.number("epsilon")));
    return op("aten.div.Tensor", centered, deviation);
}

NodeValue scaled(const Rewrite& op, const NodeValue& x, const NodeValue& scale, const NodeValue& bias) {
    return op("aten.add.Tensor", op("aten.mul.Tensor", x, scale), bias);
}

/// x minus its mean over `dims`, and the mean of its square.
struct Moments {
    NodeValue mean, centered, variance;
};
Moments moments(const Rewrite& op, const NodeValue& x, const Ints& dims) {
    const NodeValue mean = op("aten.mean.dim", x, dims, true);
    const NodeValue centered = op("aten.sub.Tensor", x, mean);
    return {mean, centered, op("aten.mean.dim", op("aten.mul.Tensor", centered, centered), dims, true)};
}

/// With given statistics; in training with those of the batch, which then move the given ones.
Results batch_normalization(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const bool training = op.integer("training_mode") != 0;
    if (op.integer("num_outputs") > (training ? 3 : 1))
        throw Error("found " + std::to_string(op.integer("num_outputs")) +
                    " results of batch normalization, expected " + (training ? "at most 3" : "1 with training_mode=0"));
    if (op.integer("spatial") != 1) throw Error("found spatial=0, expected spatial=1");
    const NodeValue given_mean = per_channel(op, "input_mean", x), given_variance = per_channel(op, "input_var", x);
    Ints dims = all_dims(rank_of(x));
    if (dims.size() > 1) dims.erase(dims.begin() + 1);
    const Moments m =
        training ? moments(op, x, dims) : Moments{given_mean, op("aten.sub.Tensor", x, given_mean), given_variance};
    Results results = {
        scaled(op, normalized(op, m.centered, m.variance), per_channel(op, "scale", x), per_channel(op, "B", x)).ref};
    const double momentum = op.number("momentum");
    for (const auto& [name, given, own] :
         {std::tuple("input_mean", given_mean, m.mean), std::tuple("input_var", given_variance, m.variance)}) {
        if (static_cast<std::int64_t>(results.size()) >= op.integer("num_outputs")) break;
        const NodeValue moved =
            op("aten.add.Tensor", op("aten.mul.Tensor", given, momentum), op("aten.mul.Tensor", own, 1 - momentum));
        const ValueMeta& meta = op.tensor(name).meta;
        results.push_back(op.cast(op.reshape(moved, meta.sizes), meta.dtype).ref);
    }
    return results;
}

Results instance_normalization(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("input");
    if (rank_of(x) < 3)
        throw Error("found " + std::to_string(rank_of(x)) +
                    " dimensions, expected at least 3: batch, channels and spatial dimensions");
    const Ints dims = all_dims(rank_of(x));
    const Moments m = moments(op, x, Ints(dims.begin() + 2, dims.end()));
    return {
        scaled(op, normalized(op, m.centered, m.variance), per_channel(op, "scale", x), per_channel(op, "B", x)).ref};
}

/// A value per group until opset 21, then per channel, spread over x as [batch, groups, channels of one, elements].
NodeValue per_group(const Rewrite& op, std::string_view name, std::int64_t groups, std::int64_t channels) {
    const NodeValue value = op.tensor(name);
    const std::int64_t count = op.opset() < 21 ? groups : channels;
    if (value.meta.sizes != Sizes{count})
        throw Error("found '" + std::string(name) + "' of sizes " + to_string(value.meta.sizes) + ", expected [" +
                    std::to_string(count) + "], one per " + (op.opset() < 21 ? "group" : "channel"));
    return op.reshape(value, {1, groups, count / groups, 1});
}

/// Groups of channels of each image, in f32 for narrower types unless stash_type says otherwise.
Results group_normalization(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const std::int64_t groups = op.integer("num_groups"), channels = rank_of(x) < 3 ? 0 : size_of_dim(x, 1);
    if (groups < 1 || channels < 1 || channels % groups != 0)
        throw Error("found num_groups=" + std::to_string(groups) + " for X of sizes " + to_string(x.meta.sizes) +
                    ", expected at least 3 dimensions, and a number of channels divisible by num_groups");
    const DType dtype = x.meta.dtype;
    const DType stashed = op.opset() < 21 ? dtype : float_of_code("stash_type", op.integer("stash_type"));
    std::int64_t elements = 1;
    for (std::int64_t dim = 2; dim < rank_of(x); ++dim) elements *= size_of_dim(x, dim);
    const NodeValue grouped = op.reshape(x, {size_of_dim(x, 0), groups, channels / groups, elements});
    const Moments m = moments(op, op.cast(grouped, promote(dtype, stashed)), {2, 3});
    const NodeValue y = scaled(op, op.cast(normalized(op, m.centered, m.variance), dtype),
                               per_group(op, "scale", groups, channels), per_group(op, "bias", groups, channels));
    return {op.reshape(y, x.meta.sizes).ref};
}

/// Over dimensions from the axis on, in f32 for narrower types; what it says of mean and deviation is f32, stash_type.
Results layer_normalization(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    if (op.integer("stash_type") != 1)
        throw Error("found stash_type=" + std::to_string(op.integer("stash_type")) +
                    ", expected stash_type=1, which stands for f32");
    const std::int64_t axis = wrap_dim(op.integer("axis"), rank_of(x));
    const Ints dims = all_dims(rank_of(x));
    const DType dtype = x.meta.dtype, wide = dtype == DType::f64 ? DType::f64 : DType::f32;
    const Moments m = moments(op, op.cast(x, wide), Ints(dims.begin() + axis, dims.end()));
    const NodeValue deviation = op("aten.sqrt.default", op("aten.add.Tensor", m.variance, op.number("epsilon")));
    const NodeValue inverse = op("aten.reciprocal.default", deviation);
    NodeValue y = op("aten.mul.Tensor", op.cast(op("aten.mul.Tensor", m.centered, inverse), dtype), op.tensor("Scale"));
    if (op.has("B")) y = op("aten.add.Tensor", y, op.tensor("B"));
    if (y.meta.sizes != x.meta.sizes)
        throw Error("found Scale of sizes " + to_string(op.tensor("Scale").meta.sizes) +
                    (op.has("B") ? " and B of sizes " + to_string(op.tensor("B").meta.sizes) : "") +
                    ", expected sizes that broadcast to " + to_string(x.meta.sizes) + ", the sizes of X");
    Results results = {y.ref};
    const std::int64_t count = op.integer("num_outputs");
    if (count > 1) results.push_back(op.cast(m.mean, DType::f32).ref);
    if (count > 2) results.push_back(op.cast(inverse, DType::f32).ref);
    return results;
}

/// x / sqrt(mean of squares + epsilon) over dimensions from the axis on, then scaled, in the scale's type.
Results rms_normalization(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X"), scale = op.tensor("scale");
    const std::int64_t axis = wrap_dim(op.integer("axis"), rank_of(x));
    const Ints dims = all_dims(rank_of(x));
    const DType stashed = float_of_code("stash_type", op.integer("stash_type"));
    const NodeValue wide = op.cast(x, promote(x.meta.dtype, stashed));
    const NodeValue squares =
        op("aten.mean.dim", op("aten.mul.Tensor", wide, wide), Ints(dims.begin() + axis, dims.end()), true);
    const NodeValue normal = op.cast(normalized(op, wide, squares), x.meta.dtype);
    const NodeValue y = op("aten.mul.Tensor", op.cast(normal, scale.meta.dtype), scale);
    if (y.meta.sizes != x.meta.sizes)
        throw Error("found a scale of sizes " + to_string(scale.meta.sizes) + ", expected sizes that broadcast to " +
                    to_string(x.meta.sizes) + ", the sizes of X");
    return {y.ref};
}

/// x / (bias + alpha / size * sum of squares over `size` channels around)^beta
Results lrn(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const std::int64_t size = op.integer("size");
    constexpr std::int64_t kLargest = 1024;  // a call for each neighbour
    if (rank_of(x) < 2 || size < 1 || size > kLargest)
        throw Error("found size=" + std::to_string(size) + " for X with " + std::to_string(rank_of(x)) +
                    " dimensions, expected a size from 1 to " + std::to_string(kLargest) +
                    " and at least 2 dimensions: batch and channels");
    const std::int64_t channels = size_of_dim(x, 1), below = std::min((size - 1) / 2, channels),
                       above = std::min(size - 1 - (size - 1) / 2, channels);
    Ints pads(static_cast<std::size_t>(2 * (rank_of(x) - 1)), 0);
    pads[pads.size() - 2] = below;
    pads[pads.size() - 1] = above;
    const NodeValue squares = op("aten.constant_pad_nd.default", op("aten.mul.Tensor", x, x), pads, 0.0);
    NodeValue sum = op.slice(squares, 1, 0, channels);
    for (std::int64_t i = 1; i <= below + above; ++i)
        sum = op("aten.add.Tensor", sum, op.slice(squares, 1, i, i + channels));
    const NodeValue base =
        op("aten.add.Tensor", op("aten.mul.Tensor", sum, op.number("alpha") / static_cast<double>(size)),
           op.number("bias"));
    return {op("aten.div.Tensor", x, op("aten.pow.Tensor_Scalar", base, op.number("beta"))).ref};
}

/// (x - mean) / (sqrt(variance) + 1e-9), as the standard defines it.
Results mean_variance_normalization(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const Moments m =
        moments(op, x, wrap_dims(arguments.optional_integers("axes").value_or(Ints{0, 2, 3}), rank_of(x)));
    const NodeValue deviation = op("aten.add.Tensor", op("aten.sqrt.default", m.variance), 1e-9);
    return {op("aten.div.Tensor", m.centered, deviation).ref};
}

Results lp_normalization(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("input");
    const std::int64_t p = op.integer("p"), axis = wrap_dim(op.integer("axis"), rank_of(x));
    if (p != 1 && p != 2) throw Error("found p=" + std::to_string(p) + ", expected 1 or 2");
    if (rank_of(x) == 0) throw Error("found a 0-d input, expected at least one dimension");
    const NodeValue terms = p == 1 ? op("aten.abs.default", x) : op("aten.mul.Tensor", x, x);
    const NodeValue sum = op("aten.sum.dim_IntList", terms, Ints{axis}, true);
    const NodeValue norm = p == 1 ? sum : op("aten.sqrt.default", sum);
    // The standard does not say what zeros become; onnxruntime leaves them.
    return {op("aten.div.Tensor", x, op("aten.where.ScalarSelf", op("aten.eq.Scalar", norm, 0.0), 1.0, norm)).ref};
}

constexpr OpDef kNormOps[] = {
    {.name = "onnx.GroupNormalization",
     .doc = "Groups of channels of each image normalized. onnx Operators.md#GroupNormalization",
     .schema = "GroupNormalization(Tensor X, Tensor scale, Tensor bias, *, float epsilon=1e-05, int num_groups, "
               "int stash_type=1) -> Tensor",
     .dtypes = kFloating,
     .decompose = group_normalization},
    {.name = "onnx.BatchNormalization",
     .doc = "Normalized by given statistics of each channel. onnx Operators.md#BatchNormalization",
     .schema =
         "BatchNormalization(Tensor X, Tensor scale, Tensor B, Tensor input_mean, Tensor input_var, *, "
         "float epsilon=1e-05, float momentum=0.9, int spatial=1, int training_mode=0, int num_outputs=1) -> Tensor[]",
     .dtypes = kFloating,
     .decompose = batch_normalization},
    {.name = "onnx.InstanceNormalization",
     .doc = "Each channel of each image normalized. onnx Operators.md#InstanceNormalization",
     .schema = "InstanceNormalization(Tensor input, Tensor scale, Tensor B, *, float epsilon=1e-05) -> Tensor",
     .dtypes = kFloating,
     .decompose = instance_normalization},
    {.name = "onnx.LayerNormalization",
     .doc = "Normalized over the last dimensions. onnx Operators.md#LayerNormalization",
     .schema = "LayerNormalization(Tensor X, Tensor Scale, Tensor? B=None, *, int axis=-1, float epsilon=1e-05, "
               "int stash_type=1, int num_outputs=1) -> Tensor[]",
     .dtypes = kFloating,
     .decompose = layer_normalization},
    {.name = "onnx.RMSNormalization",
     .doc = "Divided by the root of the mean square over the last dimensions. onnx Operators.md#RMSNormalization",
     .schema = "RMSNormalization(Tensor X, Tensor scale, *, int axis=-1, float epsilon=1e-05, int stash_type=1) "
               "-> Tensor",
     .dtypes = kFloating,
     .decompose = rms_normalization},
    {.name = "onnx.LRN",
     .doc = "Local response normalization over neighboring channels. onnx Operators.md#LRN",
     .schema = "LRN(Tensor X, *, float alpha=0.0001, float beta=0.75, float bias=1.0, int size) -> Tensor",
     .dtypes = kFloating,
     .decompose = lrn},
    {.name = "onnx.MeanVarianceNormalization",
     .doc = "Mean 0 and variance 1 over dimensions. onnx Operators.md#MeanVarianceNormalization",
     .schema = "MeanVarianceNormalization(Tensor X, *, int[]? axes=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = mean_variance_normalization},
    {.name = "onnx.LpNormalization",
     .doc = "p-norm 1 along one dimension. onnx Operators.md#LpNormalization",
     .schema = "LpNormalization(Tensor input, *, int axis=-1, int p=2) -> Tensor",
     .dtypes = kFloating,
     .decompose = lp_normalization},
};

}  // namespace

std::span<const OpDef> onnx_norm_ops() { return kNormOps; }

}  // namespace whittle
