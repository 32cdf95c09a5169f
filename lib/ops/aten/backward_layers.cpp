// Gradients as LibTorch's autograd computes them, with its names: of normalization and convolution. All are composites.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/own_copy.h"

namespace whittle {

namespace {

Ints range(std::int64_t from, std::int64_t to) {
    Ints result(static_cast<std::size_t>(std::max<std::int64_t>(to - from, 0)));
    std::iota(result.begin(), result.end(), from);
    return result;
}
std::int64_t size(const NodeValue& x, std::int64_t dim) { return x.meta.sizes.at(static_cast<std::size_t>(dim)); }

/// The n-th gradient that output_mask asks for.
bool wants(const Arguments<NodeValue>& a, std::size_t n) {
    const std::vector<bool> mask = a.booleans("output_mask");
    if (mask.size() != 3)
        throw Error("found an output_mask with " + std::to_string(mask.size()) + " entries, expected 3");
    return mask[n];
}

/// With x^ = (x - mean) * rstd over n elements: rstd * (g w - mean(g w) - x^ * mean(g w x^)); Ba et al. 2016.
Refs layer_norm_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_out"), x = a.tensor("input");
    const std::int64_t inner = static_cast<std::int64_t>(a.integers("normalized_shape").size());
    if (inner > rank_of(x))
        throw Error("found normalized_shape with " + std::to_string(inner) + " entries for an input of " +
                    std::to_string(rank_of(x)) + " dimensions, expected at most one entry for each dimension");
    const Ints rows = range(0, rank_of(x) - inner), columns = range(rank_of(x) - inner, rank_of(x));
    const NodeValue rstd = a.tensor("rstd");
    const NodeValue normal = g.mul(g.sub(x, a.tensor("mean")), rstd);
    const auto weight = a.optional_tensor("weight");
    const DType dtype = x.meta.dtype;
    Refs results = {g.none(dtype), g.none(dtype), g.none(dtype)};
    if (wants(a, 0)) {
        std::int64_t count = 1;
        for (const std::int64_t d : columns) count *= size(x, d);
        const NodeValue scaled = weight ? g.mul(grad, *weight) : grad;
        const auto mean = [&](const NodeValue& v) {
            return g.div(g.sum(v, columns, true), Arg(static_cast<double>(count)));
        };
        const NodeValue centered = g.sub(g.sub(scaled, mean(scaled)), g.mul(normal, mean(g.mul(scaled, normal))));
        results[0] = g.as(g.mul(centered, rstd), dtype).ref;
    }
    if (wants(a, 1) && weight) results[1] = g.as(g.sum(g.mul(grad, normal), rows), dtype).ref;
    if (wants(a, 2)) results[2] = g.as(g.sum(grad, rows), dtype).ref;
    return results;
}

/// As of layer norm, over the channels and the area of each group; Wu and He 2018.
Refs group_norm_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_out"), x = a.tensor("input");
    const std::int64_t n = a.integer("N"), channels = a.integer("C"), area = a.integer("HxW"),
                       groups = a.integer("group");
    if (groups < 1 || channels % groups != 0 || x.meta.numel() != Checked(n) * channels * area ||
        grad.meta.sizes != x.meta.sizes)
        throw Error("native_group_norm_backward: found N=" + std::to_string(n) + ", C=" + std::to_string(channels) +
                    ", HxW=" + std::to_string(area) + " and group=" + std::to_string(groups) +
                    " for an input of sizes " + to_string(x.meta.sizes) + " and a gradient of sizes " +
                    to_string(grad.meta.sizes) +
                    ", expected equal sizes with N * C * HxW elements, and a group that divides C");
    const std::int64_t count = channels / groups * area;
    const Sizes by_group = {n, groups, count}, by_channel = {n, channels, area};
    const NodeValue rstd = g.reshape(a.tensor("rstd"), {n, groups, 1});
    const NodeValue normal = g.mul(g.sub(g.reshape(x, by_group), g.reshape(a.tensor("mean"), {n, groups, 1})), rstd);
    const NodeValue each = g.reshape(grad, by_channel);
    const auto weight = a.optional_tensor("weight");
    const DType dtype = x.meta.dtype;
    Refs results = {g.none(dtype), g.none(dtype), g.none(dtype)};
    if (wants(a, 0)) {
        const NodeValue scaled = g.reshape(weight ? g.mul(each, g.reshape(*weight, {channels, 1})) : each, by_group);
        const auto mean = [&](const NodeValue& v) {
            return g.div(g.sum(v, {2}, true), Arg(static_cast<double>(count)));
        };
        const NodeValue centered = g.sub(g.sub(scaled, mean(scaled)), g.mul(normal, mean(g.mul(scaled, normal))));
        results[0] = g.as(g.reshape(g.mul(centered, rstd), x.meta.sizes), dtype).ref;
    }
    if (wants(a, 1)) results[1] = g.as(g.sum(g.mul(each, g.reshape(normal, by_channel)), {0, 2}), dtype).ref;
    if (wants(a, 2)) results[2] = g.as(g.sum(each, {0, 2}), dtype).ref;
    return results;
}

/// As of layer norm, over the batch and the area of each channel; in evaluation the statistics are constants. Ioffe and
/// Szegedy 2015.
Refs batch_norm_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_out"), x = a.tensor("input");
    if (rank_of(x) < 2)
        throw Error("found an input of sizes " + to_string(x.meta.sizes) +
                    ", expected at least 2 dimensions: batch and channels");
    const bool train = a.boolean("train");
    Sizes channels(x.meta.sizes.size(), 1);
    channels[1] = size(x, 1);
    const auto statistic = [&](const char* name) {
        const auto value = a.optional_tensor(name);
        if (!value)
            throw Error(std::string("native_batch_norm_backward: found no ") + name +
                        " with train=" + (train ? "true" : "false") + ", expected a tensor");
        return g.reshape(*value, channels);
    };
    const NodeValue mean = statistic(train ? "save_mean" : "running_mean");
    const NodeValue scale =
        train ? statistic("save_invstd")
              : g.call("aten.rsqrt.default", {arg(g.add(statistic("running_var"), Arg(a.number("eps"))))});
    Ints others = range(0, rank_of(x));
    others.erase(others.begin() + 1);
    const NodeValue normal = g.mul(g.sub(x, mean), scale);
    const NodeValue grad_bias = g.sum(grad, others, true), grad_weight = g.sum(g.mul(grad, normal), others, true);
    const DType dtype = x.meta.dtype;
    Refs results = {g.none(dtype), g.none(dtype), g.none(dtype)};
    if (wants(a, 0)) {
        const double count =
            static_cast<double>(x.meta.numel()) / static_cast<double>(std::max<std::int64_t>(size(x, 1), 1));
        NodeValue centered = grad;
        if (train)
            centered = g.sub(g.sub(grad, g.div(grad_bias, Arg(count))), g.mul(normal, g.div(grad_weight, Arg(count))));
        NodeValue result = g.mul(centered, scale);
        if (const auto weight = a.optional_tensor("weight")) result = g.mul(result, g.reshape(*weight, channels));
        results[0] = g.as(result, dtype).ref;
    }
    if (wants(a, 1)) results[1] = g.as(g.reshape(grad_weight, {size(x, 1)}), dtype).ref;
    if (wants(a, 2)) results[2] = g.as(g.reshape(grad_bias, {size(x, 1)}), dtype).ref;
    return results;
}

// --- Windows ---

/// One number per spatial dimension; a single one stands for all.
Ints spatial(const Arguments<NodeValue>& a, const char* name, std::int64_t dims) {
    Ints values = a.integers(name);
    if (values.size() == 1) values.resize(static_cast<std::size_t>(dims), values[0]);
    if (static_cast<std::int64_t>(values.size()) != dims)
        throw Error(std::string("found ") + name + "=" + to_string(values) + ", expected " + std::to_string(dims) +
                    " numbers, one for each spatial dimension");
    return values;
}

NodeValue call_convolution(const Gradient& g, const NodeValue& x, const NodeValue& weight, const Ints& stride,
                           const Ints& padding, const Ints& dilation, bool transposed, const Ints& output_padding,
                           std::int64_t groups) {
    return g.call("aten.convolution.default", {arg(x), arg(weight), Arg(), Arg::ints(stride), Arg::ints(padding),
                                               Arg::ints(dilation), transposed, Arg::ints(output_padding), groups});
}

/// A convolution and its gradients. Those of a transposed one are the other way round: its input is a plain one's
/// gradient.
struct ConvolutionGradients {
    NodeValue grad, x, weight;
    bool transposed = false;
    std::int64_t dims = 0, groups = 1;
    Ints stride, padding, dilation;

    ConvolutionGradients(const Arguments<NodeValue>& a)
        : grad(a.tensor("grad_output")),
          x(a.tensor("input")),
          weight(a.tensor("weight")),
          transposed(a.boolean("transposed")),
          dims(rank_of(x) - 2),
          groups(a.integer("groups")),
          stride(spatial(a, "stride", dims)),
          padding(spatial(a, "padding", dims)),
          dilation(spatial(a, "dilation", dims)) {
        if (dims < 1 || rank_of(weight) != rank_of(x) || rank_of(grad) != rank_of(x) || groups < 1)
            throw Error("convolution_backward: found a gradient of rank " + std::to_string(rank_of(grad)) +
                        ", an input of rank " + std::to_string(rank_of(x)) + " and a weight of rank " +
                        std::to_string(rank_of(weight)) + " with groups=" + std::to_string(groups) +
                        ", expected equal ranks of at least 3 and at least one group");
    }

    /// The transposed convolution of the gradient; what the stride did not reach of the input is output padding.
    NodeValue of_input(const Gradient& g) const {
        Ints rest;
        if (transposed) {
            rest.resize(static_cast<std::size_t>(dims), 0);
            NodeValue result = call_convolution(g, grad, weight, stride, padding, dilation, false, rest, groups);
            if (result.meta.sizes == x.meta.sizes) return result;
            for (std::int64_t d = 2; d < dims + 2; ++d) result = g.slice(result, d, 0, size(x, d));
            return g.call("aten.clone.default", {arg(result)});
        }
        for (std::int64_t d = 0; d < dims; ++d) {
            const auto i = static_cast<std::size_t>(d);
            const Checked reached = (Checked(size(grad, d + 2)) - 1) * stride[i] - Checked(2) * padding[i] +
                                    Checked(dilation[i]) * (size(weight, d + 2) - 1) + 1;
            rest.push_back((size(x, d + 2) - reached).value());
        }
        return call_convolution(g, grad, weight, stride, padding, dilation, true, rest, groups);
    }

    /// The input convolved with the gradient, batch and channels exchanged, stride and dilation too; per group.
    NodeValue of_weight(const Gradient& g) const {
        constexpr std::int64_t kMostGroups = 256;
        if (groups > kMostGroups)
            throw Error("convolution_backward: found groups=" + std::to_string(groups) + ", expected at most " +
                        std::to_string(kMostGroups));
        const NodeValue &wide = transposed ? grad : x, &narrow = transposed ? x : grad;
        const std::int64_t in = size(wide, 1) / groups, out = size(narrow, 1) / groups;
        const auto exchanged = [&](const NodeValue& v) { return g.call("aten.transpose.int", {arg(v), 0, 1}); };
        ArgList parts;
        for (std::int64_t group = 0; group < groups; ++group) {
            const NodeValue inputs = exchanged(g.slice(wide, 1, group * in, (group + 1) * in));
            const NodeValue grads = exchanged(g.slice(narrow, 1, group * out, (group + 1) * out));
            NodeValue part = call_convolution(g, inputs, grads, dilation, padding, stride, false,
                                              Ints(static_cast<std::size_t>(dims), 0), 1);
            for (std::int64_t d = 2; d < dims + 2; ++d) part = g.slice(part, d, 0, size(weight, d));
            parts.push_back(arg(exchanged(part)));
        }
        return g.call("aten.cat.default", {parts, 0});
    }
};

Refs convolution_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const ConvolutionGradients convolution(a);
    const DType dtype = convolution.x.meta.dtype;
    Refs results = {g.none(dtype), g.none(dtype), g.none(dtype)};
    if (wants(a, 0)) results[0] = convolution.of_input(g).ref;
    if (wants(a, 1)) results[1] = convolution.of_weight(g).ref;
    Ints others = range(0, rank_of(convolution.grad));
    others.erase(others.begin() + 1);
    if (wants(a, 2)) results[2] = g.sum(convolution.grad, others).ref;
    return results;
}

}  // namespace

std::span<const OpDef> layer_backward_ops() {
    static const OpDef ops[] = {
        {.name = "aten.native_layer_norm_backward.default",
         .doc = "the gradients of native_layer_norm: https://arxiv.org/abs/1607.06450",
         .schema = "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
                   "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
         .dtypes = kFloating,
         .decompose = layer_norm_backward},
        {.name = "aten.native_group_norm_backward.default",
         .doc = "the gradients of native_group_norm's input, weight and bias",
         .schema =
             "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
             "SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
         .dtypes = kFloating,
         .decompose = group_norm_backward},
        {.name = "aten.native_batch_norm_backward.default",
         .doc = "the gradients of native_batch_norm: https://arxiv.org/abs/1502.03167",
         .schema = "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
                   "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] "
                   "output_mask) -> (Tensor, Tensor, Tensor)",
         .dtypes = kFloating,
         .decompose = batch_norm_backward},
        {.name = "aten.convolution_backward.default",
         .doc = "the gradients of convolution: https://arxiv.org/abs/1603.07285",
         .schema = "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, int[] "
                   "stride, SymInt[] padding, int[] dilation, bool transposed, SymInt[] output_padding, int groups, "
                   "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
         .dtypes = kFloating | kComplex,
         .decompose = convolution_backward},
    };
    return ops;
}

}  // namespace whittle
