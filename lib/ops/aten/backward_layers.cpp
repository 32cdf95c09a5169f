// Gradients as LibTorch's autograd computes them, with its names: of normalization and convolution. All are composites.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

namespace whittle {
namespace {

using namespace aten;

Ints range(std::int64_t from, std::int64_t to) {
    Ints result(static_cast<std::size_t>(std::max<std::int64_t>(to - from, 0)));
    std::iota(result.begin(), result.end(), from);
    return result;
}

/// The n-th gradient that output_mask asks for.
bool wants(const Arguments<V>& a, std::size_t n) {
    const std::vector<bool> mask = a.booleans("output_mask");
    const std::size_t count = a.schema().returns.size();
    if (mask.size() != count)
        throw Error("found an output_mask with " + std::to_string(mask.size()) + " entries, expected " +
                    std::to_string(count));
    return mask[n];
}

/// With x^ = (x - mean) * rstd over n elements: rstd * (g w - mean(g w) - x^ * mean(g w x^)); Ba et al. 2016.
CallResults layer_norm_backward(const Call& c) {
    const V grad = c.tensor("grad_out"), x = c.tensor("input");
    const std::int64_t inner = static_cast<std::int64_t>(c.integers("normalized_shape").size());
    if (inner > x.rank())
        throw Error("found normalized_shape with " + std::to_string(inner) + " entries for an input of " +
                    std::to_string(x.rank()) + " dimensions, expected at most one entry for each dimension");
    const Ints rows = range(0, x.rank() - inner), columns = range(x.rank() - inner, x.rank());
    const V rstd = c.tensor("rstd");
    const V normal = (x - c.tensor("mean")) * rstd;
    const auto weight = c.optional_tensor("weight");
    const DType dtype = x.dtype();
    Vs results = {none(c.builder(), dtype), none(c.builder(), dtype), none(c.builder(), dtype)};
    if (wants(c, 0)) {
        std::int64_t count = 1;
        for (const std::int64_t d : columns) count *= x.size(d);
        const V scaled = weight ? grad * *weight : grad;
        const auto mean = [&](const V& v) { return summed(v, columns, true) / static_cast<double>(count); };
        const V centered = scaled - mean(scaled) - normal * mean(scaled * normal);
        results[0] = as(centered * rstd, dtype);
    }
    if (wants(c, 1) && weight) results[1] = as(summed(grad * normal, rows), dtype);
    if (wants(c, 2)) results[2] = as(summed(grad, rows), dtype);
    return results;
}

/// As of layer norm, without a mean; in the dtype of rstd, which is wider than that of reduced operands.
CallResults rms_norm_backward(const Call& c) {
    const V x = c.tensor("input"), rstd = c.tensor("rstd");
    const Ints shape = c.integers("normalized_shape");
    const Sizes& sizes = x.sizes();
    if (shape.size() > sizes.size() || !std::equal(shape.rbegin(), shape.rend(), sizes.rbegin()))
        throw Error("_fused_rms_norm_backward: found normalized_shape=" + to_string(shape) + " for an input of sizes " +
                    to_string(sizes) + ", expected the last sizes of the input");
    const auto wide = [&](const V& value) { return as(value, rstd.dtype()); };
    const std::int64_t outer = x.rank() - static_cast<std::int64_t>(shape.size());
    const V grad = wide(c.tensor("grad_out")), unit = wide(x) * rstd;
    const OptionalV weight = c.optional_tensor("weight");
    Vs results = {none(c.builder(), x.dtype()), none(c.builder(), x.dtype())};
    if (wants(c, 0)) {
        const V scaled = weight ? grad * wide(*weight) : grad;
        const V share = summed(scaled * unit, range(outer, x.rank()), true) / static_cast<double>(element_count(shape));
        results[0] = as((scaled - unit * share) * rstd, x.dtype());
    }
    if (wants(c, 1) && weight) results[1] = as(summed(grad * unit, range(0, outer)), weight->dtype());
    return results;
}

/// As of layer norm, over the channels and the area of each group; Wu and He 2018.
CallResults group_norm_backward(const Call& c) {
    const V grad = c.tensor("grad_out"), x = c.tensor("input");
    const std::int64_t n = c.integer("N"), channels = c.integer("C"), area = c.integer("HxW"),
                       groups = c.integer("group");
    if (groups < 1 || channels % groups != 0 || x.numel() != Checked(n) * channels * area || grad.sizes() != x.sizes())
        throw Error("native_group_norm_backward: found N=" + std::to_string(n) + ", C=" + std::to_string(channels) +
                    ", HxW=" + std::to_string(area) + " and group=" + std::to_string(groups) +
                    " for an input of sizes " + to_string(x.sizes()) + " and a gradient of sizes " +
                    to_string(grad.sizes()) +
                    ", expected equal sizes with N * C * HxW elements, and a group that divides C");
    const std::int64_t count = channels / groups * area;
    const Sizes by_group = {n, groups, count}, by_channel = {n, channels, area};
    const V rstd = reshaped(c.tensor("rstd"), Ints{n, groups, 1});
    const V normal = (reshaped(x, by_group) - reshaped(c.tensor("mean"), Ints{n, groups, 1})) * rstd;
    const V each = reshaped(grad, by_channel);
    const auto weight = c.optional_tensor("weight");
    const DType dtype = x.dtype();
    Vs results = {none(c.builder(), dtype), none(c.builder(), dtype), none(c.builder(), dtype)};
    if (wants(c, 0)) {
        const V scaled = reshaped(weight ? each * reshaped(*weight, Ints{channels, 1}) : each, by_group);
        const auto mean = [&](const V& v) { return summed(v, Ints{2}, true) / static_cast<double>(count); };
        const V centered = scaled - mean(scaled) - normal * mean(scaled * normal);
        results[0] = as(reshaped(centered * rstd, x.sizes()), dtype);
    }
    if (wants(c, 1)) results[1] = as(summed(each * reshaped(normal, by_channel), Ints{0, 2}), dtype);
    if (wants(c, 2)) results[2] = as(summed(each, Ints{0, 2}), dtype);
    return results;
}

/// As of layer norm, over the batch and the area of each channel; in evaluation the statistics are constants. Ioffe and
/// Szegedy 2015.
CallResults batch_norm_backward(const Call& c) {
    const V grad = c.tensor("grad_out"), x = c.tensor("input");
    if (x.rank() < 2)
        throw Error("found an input of sizes " + to_string(x.sizes()) +
                    ", expected at least 2 dimensions: batch and channels");
    const bool train = c.boolean("train");
    Sizes channels(x.sizes().size(), 1);
    channels[1] = x.size(1);
    const auto statistic = [&](const char* name) {
        const auto value = c.optional_tensor(name);
        if (!value)
            throw Error(std::string("native_batch_norm_backward: found no ") + name +
                        " with train=" + (train ? "true" : "false") + ", expected a tensor");
        return reshaped(*value, channels);
    };
    const V mean = statistic(train ? "save_mean" : "running_mean");
    const V scale = train ? statistic("save_invstd") : rsqrt(statistic("running_var") + c.number("eps"));
    Ints others = range(0, x.rank());
    others.erase(others.begin() + 1);
    const V normal = (x - mean) * scale;
    const V grad_bias = summed(grad, others, true), grad_weight = summed(grad * normal, others, true);
    const DType dtype = x.dtype();
    Vs results = {none(c.builder(), dtype), none(c.builder(), dtype), none(c.builder(), dtype)};
    if (wants(c, 0)) {
        const double count = static_cast<double>(x.numel()) / static_cast<double>(std::max<std::int64_t>(x.size(1), 1));
        V centered = grad;
        if (train) centered = grad - grad_bias / count - normal * (grad_weight / count);
        V result = centered * scale;
        if (const auto weight = c.optional_tensor("weight")) result = result * reshaped(*weight, channels);
        results[0] = as(result, dtype);
    }
    if (wants(c, 1)) results[1] = as(reshaped(grad_weight, Ints{x.size(1)}), dtype);
    if (wants(c, 2)) results[2] = as(reshaped(grad_bias, Ints{x.size(1)}), dtype);
    return results;
}

// --- Windows ---

/// One number per spatial dimension; a single one stands for all.
Ints spatial(const Arguments<V>& a, const char* name, std::int64_t dims) {
    Ints values = a.integers(name);
    if (values.size() == 1) values.resize(static_cast<std::size_t>(dims), values[0]);
    if (static_cast<std::int64_t>(values.size()) != dims)
        throw Error(std::string("found ") + name + "=" + to_string(values) + ", expected " + std::to_string(dims) +
                    " numbers, one for each spatial dimension");
    return values;
}

V call_convolution(const V& x, const V& weight, const Ints& stride, const Ints& padding, const Ints& dilation,
                   bool transposed, const Ints& output_padding, std::int64_t groups) {
    return convolution(x, weight, {}, stride, padding, dilation, transposed, output_padding, groups);
}

/// A convolution and its gradients. Those of a transposed one are the other way round: its input is a plain one's
/// gradient.
struct ConvolutionGradients {
    V grad, x, weight;
    bool transposed = false;
    std::int64_t dims = 0, groups = 1;
    Ints stride, padding, dilation;

    ConvolutionGradients(const Arguments<V>& a)
        : grad(a.tensor("grad_output")),
          x(a.tensor("input")),
          weight(a.tensor("weight")),
          transposed(a.boolean("transposed")),
          dims(x.rank() - 2),
          groups(a.integer("groups")),
          stride(spatial(a, "stride", dims)),
          padding(spatial(a, "padding", dims)),
          dilation(spatial(a, "dilation", dims)) {
        if (dims < 1 || weight.rank() != x.rank() || grad.rank() != x.rank() || groups < 1)
            throw Error("convolution_backward: found a gradient of rank " + std::to_string(grad.rank()) +
                        ", an input of rank " + std::to_string(x.rank()) + " and a weight of rank " +
                        std::to_string(weight.rank()) + " with groups=" + std::to_string(groups) +
                        ", expected equal ranks of at least 3 and at least one group");
    }

    /// The transposed convolution of the gradient; what the stride did not reach of the input is output padding.
    V of_input() const {
        Ints rest;
        if (transposed) {
            rest.resize(static_cast<std::size_t>(dims), 0);
            V result = call_convolution(grad, weight, stride, padding, dilation, false, rest, groups);
            if (result.sizes() == x.sizes()) return result;
            for (std::int64_t d = 2; d < dims + 2; ++d) result = sliced(result, d, 0, x.size(d));
            return clone(result);
        }
        for (std::int64_t d = 0; d < dims; ++d) {
            const auto i = static_cast<std::size_t>(d);
            const Checked reached = (Checked(grad.size(d + 2)) - 1) * stride[i] - Checked(2) * padding[i] +
                                    Checked(dilation[i]) * (weight.size(d + 2) - 1) + 1;
            rest.push_back((x.size(d + 2) - reached).value());
        }
        return call_convolution(grad, weight, stride, padding, dilation, true, rest, groups);
    }

    /// The input convolved with the gradient, batch and channels exchanged, stride and dilation too; per group.
    V of_weight() const {
        constexpr std::int64_t kMostGroups = 256;
        if (groups > kMostGroups)
            throw Error("convolution_backward: found groups=" + std::to_string(groups) + ", expected at most " +
                        std::to_string(kMostGroups));
        const V &wide = transposed ? grad : x, &narrow = transposed ? x : grad;
        const std::int64_t in = wide.size(1) / groups, out = narrow.size(1) / groups;
        const auto exchanged = [&](const V& v) { return transpose(v, 0, 1); };
        Vs parts;
        for (std::int64_t group = 0; group < groups; ++group) {
            const V inputs = exchanged(sliced(wide, 1, group * in, (group + 1) * in));
            const V grads = exchanged(sliced(narrow, 1, group * out, (group + 1) * out));
            V part = call_convolution(inputs, grads, dilation, padding, stride, false,
                                      Ints(static_cast<std::size_t>(dims), 0), 1);
            for (std::int64_t d = 2; d < dims + 2; ++d) part = sliced(part, d, 0, weight.size(d));
            parts.push_back(exchanged(part));
        }
        return cat(parts);
    }
};

CallResults decompose_convolution_backward(const Call& c) {
    const ConvolutionGradients convolution(c);
    const DType dtype = convolution.x.dtype();
    Vs results = {none(c.builder(), dtype), none(c.builder(), dtype), none(c.builder(), dtype)};
    if (wants(c, 0)) results[0] = convolution.of_input();
    if (wants(c, 1)) results[1] = convolution.of_weight();
    Ints others = range(0, convolution.grad.rank());
    others.erase(others.begin() + 1);
    if (wants(c, 2)) results[2] = summed(convolution.grad, others);
    return results;
}

/// What a GPU's kernels reserved is not read.
CallResults decompose_batch_norm_backward(const Call& c) {
    return native_batch_norm_backward(c.tensor("grad_out"), c.tensor("input"), c.tensor("weight"),
                                      c.optional_tensor("running_mean"), c.optional_tensor("running_var"),
                                      c.optional_tensor("save_mean"), c.optional_tensor("save_var"),
                                      c.boolean("update"), c.number("eps"), c.booleans("output_mask"));
}

}  // namespace

std::span<const OpDef> layer_backward_ops() {
    static const OpDef ops[] = {
        composite("native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
                  "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
                  "the gradients of native_layer_norm: https://arxiv.org/abs/1607.06450", kFloating,
                  layer_norm_backward),
        composite("native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
                  "SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
                  "the gradients of native_group_norm's input, weight and bias", kFloating, group_norm_backward),
        composite("native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
                  "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] "
                  "output_mask) -> (Tensor, Tensor, Tensor)",
                  "the gradients of native_batch_norm: https://arxiv.org/abs/1502.03167", kFloating,
                  batch_norm_backward),
        composite("batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? "
                  "running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, "
                  "Tensor reserve) -> (Tensor, Tensor, Tensor)",
                  "the gradients of _batch_norm_with_update: https://arxiv.org/abs/1502.03167", kFloating,
                  decompose_batch_norm_backward),
        composite("_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, "
                  "Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
                  "the gradients of _fused_rms_norm: https://arxiv.org/abs/1910.07467", kFloating, rms_norm_backward),
        composite("convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, int[] "
                  "stride, SymInt[] padding, int[] dilation, bool transposed, SymInt[] output_padding, int groups, "
                  "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
                  "the gradients of convolution: https://arxiv.org/abs/1603.07285", kFloating | kComplex,
                  decompose_convolution_backward),
    };
    return ops;
}

}  // namespace whittle
