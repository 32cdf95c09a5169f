// Layer, group and RMS normalization: statistics of the sample at hand; and of weights. Definitions:
// https://pytorch.org/docs/stable/nn.functional.html#normalization-functions
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/normalize.h"

namespace whittle {
namespace {

using namespace aten;

// --- native_layer_norm ---

/// Rows are the trailing dimensions named by normalized_shape.
Reduction layer_rows(const AnyArguments auto& arguments) {
    const Sizes sizes = operand_info(arguments.tensor("input")).sizes, shape = arguments.integers("normalized_shape");
    const std::size_t leading = sizes.size() - std::min(sizes.size(), shape.size());
    const bool fits = !shape.empty() && shape.size() <= sizes.size() &&
                      std::equal(shape.begin(), shape.end(), sizes.begin() + static_cast<std::ptrdiff_t>(leading));
    if (!fits)
        throw Error("aten." + arguments.schema().name + ": found normalized_shape " + to_string(shape) +
                    ", expected the last sizes of the input, whose sizes are " + to_string(sizes));
    std::vector<std::int64_t> dims;
    for (std::size_t d = leading; d < sizes.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    check_parameters(arguments, shape);
    return reduction(sizes, dims, true);
}

std::vector<ValueMeta> infer_layer_norm(const Arguments<ValueMeta>& arguments) {
    return infer_own(arguments, layer_rows(arguments).result());
}

std::vector<Tensor> eval_layer_norm(const Arguments<Tensor>& arguments) {
    const Reduction rows = layer_rows(arguments);
    const std::int64_t length = rows.count();
    const NormLayout layout{element_count(rows.result()), [=](std::int64_t i) { return i / length; },
                            [=](std::int64_t i) { return i % length; }};
    return eval_own(arguments, layout, rows.result());
}

std::vector<expr::Value> lower_layer_norm(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const expr::Value input = arguments.tensor("input");
    const Reduction rows = layer_rows(arguments);
    const auto leading = static_cast<std::ptrdiff_t>(rows.sizes.size() - rows.domain().size());
    const NormIndices indices{
        [rows](const expr::Index& index) { return rows.result_index(index); },
        [leading](const expr::Index& index) { return expr::Index(index.begin() + leading, index.end()); }};
    return lower_own(builder, arguments, convert(compute_dtype(input.dtype()), input), rows, indices);
}

// --- native_group_norm ---

struct Groups {
    std::int64_t batch, channels, area, groups;
    std::int64_t per_group() const { return channels / groups; }
};

Groups groups_of(const AnyArguments auto& arguments) {
    const Sizes sizes = operand_info(arguments.tensor("input")).sizes;
    const Groups groups{arguments.integer("N"), arguments.integer("C"), arguments.integer("HxW"),
                        arguments.integer("group")};
    const std::string op = "aten." + arguments.schema().name;
    const bool fits = sizes.size() >= 2 && sizes[0] == groups.batch && sizes[1] == groups.channels &&
                      element_count(sizes) == Checked(groups.batch) * groups.channels * groups.area;
    if (!fits)
        throw Error(op + ": found N=" + std::to_string(groups.batch) + ", C=" + std::to_string(groups.channels) +
                    " and HxW=" + std::to_string(groups.area) + " for an input of sizes " + to_string(sizes) +
                    ", expected N and C to be the first two sizes, and HxW the product of the other sizes");
    if (groups.groups <= 0 || groups.channels % groups.groups != 0)
        throw Error(op + ": found " + std::to_string(groups.groups) + " groups for " + std::to_string(groups.channels) +
                    " channels, expected a number of groups that divides the channels");
    check_parameters(arguments, {groups.channels});
    return groups;
}

std::vector<ValueMeta> infer_group_norm(const Arguments<ValueMeta>& arguments) {
    const Groups groups = groups_of(arguments);
    return infer_own(arguments, {groups.batch, groups.groups});
}

std::vector<Tensor> eval_group_norm(const Arguments<Tensor>& arguments) {
    const Groups groups = groups_of(arguments);
    const std::int64_t length = groups.per_group() * groups.area;
    const NormLayout layout{groups.batch * groups.groups, [=](std::int64_t i) { return i / length; },
                            [=](std::int64_t i) { return i / groups.area % groups.channels; }};
    return eval_own(arguments, layout, {groups.batch, groups.groups});
}

std::vector<expr::Value> lower_group_norm(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const expr::Value input = arguments.tensor("input");
    const Groups groups = groups_of(arguments);
    const DType compute = compute_dtype(input.dtype());
    const Expr per_group = expr::index(std::max<std::int64_t>(groups.per_group(), 1));
    Sizes grouped = {groups.batch, groups.groups, groups.per_group()};
    grouped.insert(grouped.end(), input.sizes().begin() + 2, input.sizes().end());
    const expr::Value split(compute, grouped, [=](const expr::Index& index) {
        expr::Index inner = {index[0], index[1] * per_group + index[2]};
        inner.insert(inner.end(), index.begin() + 3, index.end());
        return convert(compute, input(inner));
    });
    std::vector<std::int64_t> dims;
    for (std::size_t d = 2; d < grouped.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    const NormIndices indices{[=](const expr::Index& index) {
                                  return expr::Index{index[0], index[1] / per_group};
                              },
                              [](const expr::Index& index) { return expr::Index{index[1]}; }};
    return lower_own(builder, arguments, split, reduction(grouped, dims, false), indices);
}

// --- Composites ---

CallResults decompose_layer_norm(const Call& c) {
    return native_layer_norm(c.tensor("input"), c.integers("normalized_shape"), c.optional_tensor("weight"),
                             c.optional_tensor("bias"), c.number("eps"))[0];
}

V normalized_groups(const V& input, const OptionalV& weight, const OptionalV& bias, std::int64_t groups, double eps) {
    const Sizes& sizes = input.sizes();
    if (sizes.size() < 2)
        throw Error("group_norm: found an input of sizes " + to_string(sizes) +
                    ", expected at least 2 dimensions: batch and channels");
    const std::int64_t area = element_count(std::span(sizes).subspan(2));
    return native_group_norm(input, weight, bias, sizes[0], sizes[1], area, groups, eps)[0];
}

CallResults decompose_group_norm(const Call& c) {
    return normalized_groups(c.tensor("input"), c.optional_tensor("weight"), c.optional_tensor("bias"),
                             c.integer("num_groups"), c.number("eps"));
}

/// x / sqrt(mean(x^2) + eps) * weight, and what x is multiplied by, in f32 for half types; eps defaults to the dtype's
/// machine epsilon (Zhang and Sennrich 2019).
std::array<V, 2> rms_norm_of(const Call& c) {
    const V input = c.tensor("input");
    const Reduction rows = layer_rows(c);
    const DType dtype = input.dtype(), compute = compute_dtype(dtype);
    const double epsilon = compute == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
    std::vector<std::int64_t> dims;
    for (std::size_t d = 0; d < rows.reduced.size(); ++d)
        if (rows.reduced[d]) dims.push_back(static_cast<std::int64_t>(d));
    const V x = to(input, compute);
    const V squares = x * x;
    const V mean = aten::mean(squares, dims, true);
    const V shifted = mean + c.optional_number("eps").value_or(epsilon);
    const V scale = rsqrt(shifted);
    V result = x * scale;
    if (const auto weight = c.optional_tensor("weight")) result = result * *weight;
    return {to(result, dtype), scale};
}
CallResults decompose_rms_norm(const Call& c) { return rms_norm_of(c)[0]; }
CallResults decompose_fused_rms_norm(const Call& c) { return rms_norm_of(c); }

// --- weight norm ---

/// All dimensions of v but `dim`, which is the first or the last one. Throws Error where g does not fit.
std::vector<std::int64_t> normed_dims(const std::string& op, const V& v, const V& g, std::int64_t dim) {
    const auto rank = static_cast<std::int64_t>(v.sizes().size());
    const auto d = static_cast<std::size_t>(dim);
    if (rank == 0 || (dim != 0 && dim != rank - 1) || g.numel() != v.sizes()[d])
        throw Error(
            "aten." + op + ": found v of sizes " + to_string(v.sizes()) + ", g of " + to_string(g.sizes()) +
            " and dim " + std::to_string(dim) +
            ", expected dim to be the first or last dimension, and g to have one element for each index along dim");
    std::vector<std::int64_t> dims;
    for (std::int64_t other = 0; other < rank; ++other)
        if (other != dim) dims.push_back(other);
    return dims;
}

/// v * (g / |v|), and |v|; https://arxiv.org/abs/1602.07868
CallResults decompose_weight_norm(const Call& c) {
    const V v = c.tensor("v"), length = c.tensor("g");
    const auto dims = normed_dims(c.schema().name, v, length, c.integer("dim"));
    Sizes along(v.sizes().size(), 1);
    along[static_cast<std::size_t>(c.integer("dim"))] = length.numel();
    const V norms = reshaped(sqrt(summed(v * v, dims, true)), length.sizes());
    return {v * reshaped(length / norms, along), norms};
}

/// (g / |v|) (grad - v s / |v|^2) and s / |v|, with s = sum(grad * v).
CallResults decompose_weight_norm_backward(const Call& c) {
    const V grad = c.tensor("grad_w"), v = c.tensor("saved_v");
    const V length = c.tensor("saved_g");
    const auto dims = normed_dims(c.schema().name, v, length, c.integer("dim"));
    Sizes along(v.sizes().size(), 1);
    along[static_cast<std::size_t>(c.integer("dim"))] = length.numel();
    const V norms = reshaped(c.tensor("saved_norms"), along), gain = reshaped(length, along);
    const V sum = reshaped(summed(grad * v, dims, true), along);
    const V tangent = grad - v * (sum / (norms * norms));
    return {gain / norms * tangent, reshaped(sum / norms, length.sizes())};
}

void weight_norm_grad(Gradients& c) {
    if (!c.grad_if_any(0)) return;  // the norms are for this rule alone
    const auto gradients =
        _weight_norm_interface_backward(c.grad(), c.tensor("v"), c.tensor("g"), c.result(1), c.integer("dim"));
    if (c.needed("v")) c.set("v", gradients[0]);
    if (c.needed("g")) c.set("g", gradients[1]);
}

// --- Parts, for bounds ---

CallResults layer_norm_parts(const Call& c) {
    const V input = c.tensor("input");
    const auto normalized = static_cast<std::int64_t>(c.integers("normalized_shape").size());
    Ints dims;
    for (std::int64_t d = input.rank() - normalized; d < input.rank(); ++d) dims.push_back(d);
    const StatisticParts statistics = statistic_parts(input, dims, c.number("eps"));
    return {normalize_parts(input, statistics, c.optional_tensor("weight"), c.optional_tensor("bias")), statistics.mean,
            statistics.rstd};
}

CallResults group_norm_parts(const Call& c) {
    const V input = c.tensor("input");
    const Groups groups = groups_of(c);
    const auto shaped = [&](const V& value, const Sizes& sizes) { return reshape(value, sizes); };
    const V grouped = shaped(input, {groups.batch, groups.groups, groups.per_group() * groups.area});
    const StatisticParts statistics = statistic_parts(grouped, {2}, c.number("eps"));
    V result = shaped(normalize_parts(grouped, statistics, {}, {}), input.sizes());
    if (const auto weight = per_channel(c.optional_tensor("weight"), input.rank())) result = result * *weight;
    if (const auto bias = per_channel(c.optional_tensor("bias"), input.rank())) result = result + *bias;
    const Sizes rows = {groups.batch, groups.groups};
    return {c.builder().convert(result, input.dtype()), shaped(statistics.mean, rows), shaped(statistics.rstd, rows)};
}

void layer_norm_grad(Gradients& c) {
    const V x = c.tensor("input");
    const Ints normalized = c.integers("normalized_shape");
    set_parameters(c, "aten.native_layer_norm_backward.default",
                   {c.grad(), x, Arg::ints(normalized), result_arg(c, 1), result_arg(c, 2),
                    optional_arg(c.optional_tensor("weight")), optional_arg(c.optional_tensor("bias"))},
                   through_statistics(c, x, c.result(1).sizes(), element_count(normalized)));
}
void group_norm_grad(Gradients& c) {
    const V x = c.tensor("input");
    const std::int64_t n = c.integer("N"), channels = c.integer("C"), groups = c.integer("group");
    const std::int64_t area = c.integer("HxW"), count = channels / groups * area;
    OptionalV statistics = through_statistics(c, reshaped(x, Ints{n, groups, count}), {n, groups, 1}, count);
    if (statistics) statistics = reshaped(*statistics, x.sizes());
    set_parameters(c, "aten.native_group_norm_backward.default",
                   {c.grad(), x, result_arg(c, 1), result_arg(c, 2), optional_arg(c.optional_tensor("weight")), Arg(n),
                    Arg(channels), Arg(area), Arg(groups)},
                   statistics);
}

constexpr OpDef kNorm[] = {
    primitive("native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
              "(Tensor, Tensor, Tensor)",
              "normalized over trailing dimensions; also mean and 1 / sqrt(variance + eps)", kFloating,
              {infer_layer_norm, eval_layer_norm, lower_layer_norm}, layer_norm_grad, {.parts = layer_norm_parts}),
    composite("layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
              "eps=1e-05, bool cudnn_enable=True) -> Tensor",
              "the first result of native_layer_norm", kFloating, decompose_layer_norm),
    primitive("native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int "
              "group, float eps) -> (Tensor, Tensor, Tensor)",
              "normalized over groups of channels; also mean and 1 / sqrt(variance + eps)", kFloating,
              {infer_group_norm, eval_group_norm, lower_group_norm}, group_norm_grad, {.parts = group_norm_parts}),
    composite("group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
              "cudnn_enabled=True) -> Tensor",
              "the first result of native_group_norm", kFloating, decompose_group_norm),
    composite("rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
              "x / sqrt(mean(x^2) + eps) * weight over trailing dimensions", kFloating, decompose_rms_norm),
    composite(
        "_fused_rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
        "rms_norm, and 1 / sqrt(mean(x^2) + eps)", kFloating, decompose_fused_rms_norm),
    composite("_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
              "v scaled to the length g, and the length of v before: https://arxiv.org/abs/1602.07868",
              set_of(DType::f32) | set_of(DType::f64), decompose_weight_norm, weight_norm_grad),
    composite("_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int "
              "dim) -> (Tensor, Tensor)",
              "the gradients of _weight_norm_interface: https://arxiv.org/abs/1602.07868",
              set_of(DType::f32) | set_of(DType::f64), decompose_weight_norm_backward),
};

}  // namespace

std::span<const OpDef> norm_ops() { return kNorm; }

}  // namespace whittle
