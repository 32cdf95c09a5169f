// Layer, group and RMS normalization: statistics of the sample at hand; and of weights. Definitions:
// https://pytorch.org/docs/stable/nn.functional.html#normalization-functions
#include <limits>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/aten/layer_grad.h"
#include "ops/aten/normalize.h"

namespace whittle {

namespace {

// --- native_layer_norm ---

/// Rows are the trailing dimensions named by normalized_shape.
template <class T>
Reduction layer_rows(const Arguments<T>& arguments) {
    const Sizes sizes = operand_info(arguments.tensor("input")).sizes, shape = arguments.integers("normalized_shape");
    const std::size_t leading = sizes.size() - std::min(sizes.size(), shape.size());
    const bool fits = !shape.empty() && shape.size() <= sizes.size() &&
                      std::equal(shape.begin(), shape.end(), sizes.begin() + static_cast<std::ptrdiff_t>(leading));
    if (!fits)
        throw Error("aten." + arguments.schema().name + ": found normalized_shape " + to_string(shape) +
                    ", expected the last of the input's sizes " + to_string(sizes));
    std::vector<std::int64_t> dims;
    for (std::size_t d = leading; d < sizes.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    check_parameters(arguments, shape);
    return reduction(sizes, dims, true);
}

std::vector<ValueMeta> infer_layer_norm(const Arguments<ValueMeta>& arguments) {
    const ValueMeta input = arguments.tensor("input");
    const ValueMeta statistic = ValueMeta::contiguous(input.dtype, layer_rows(arguments).result());
    return {ValueMeta::contiguous(input.dtype, input.sizes), statistic, statistic};
}

std::vector<Tensor> eval_layer_norm(const Arguments<Tensor>& arguments) {
    const Tensor input = arguments.tensor("input");
    const Reduction rows = layer_rows(arguments);
    const std::int64_t length = rows.count();
    const NormLayout layout{element_count(rows.result()), [=](std::int64_t i) { return i / length; },
                            [=](std::int64_t i) { return i % length; }};
    const RowStatistics statistics = row_statistics(input.values<double>(), layout, arguments.number("eps"));
    return {
        normalize(input, layout, statistics, arguments.optional_tensor("weight"), arguments.optional_tensor("bias")),
        store(statistics.mean, input.dtype(), rows.result()), store(statistics.rstd, input.dtype(), rows.result())};
}

std::vector<expr::Value> lower_layer_norm(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const expr::Value input = arguments.tensor("input");
    const Reduction rows = layer_rows(arguments);
    const auto leading = static_cast<std::ptrdiff_t>(rows.sizes.size() - rows.domain().size());
    const Variance variance =
        lower_variance(builder, convert(compute_dtype(input.dtype()), input), rows, static_cast<double>(rows.count()));
    const expr::Value rstd = lower_rstd(builder, variance.variance, arguments.number("eps"));
    const NormIndices indices{
        [rows](const expr::Index& index) { return rows.result_index(index); },
        [leading](const expr::Index& index) { return expr::Index(index.begin() + leading, index.end()); }};
    return {normalize(input, variance.mean, rstd, indices, arguments.optional_tensor("weight"),
                      arguments.optional_tensor("bias")),
            convert(input.dtype(), variance.mean), convert(input.dtype(), rstd)};
}

// --- native_group_norm ---

struct Groups {
    std::int64_t batch, channels, area, groups;
    std::int64_t per_group() const { return channels / groups; }
};

template <class T>
Groups groups_of(const Arguments<T>& arguments) {
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
    const ValueMeta input = arguments.tensor("input");
    const Groups groups = groups_of(arguments);
    const ValueMeta statistic = ValueMeta::contiguous(input.dtype, {groups.batch, groups.groups});
    return {ValueMeta::contiguous(input.dtype, input.sizes), statistic, statistic};
}

std::vector<Tensor> eval_group_norm(const Arguments<Tensor>& arguments) {
    const Tensor input = arguments.tensor("input");
    const Groups groups = groups_of(arguments);
    const std::int64_t length = groups.per_group() * groups.area;
    const NormLayout layout{groups.batch * groups.groups, [=](std::int64_t i) { return i / length; },
                            [=](std::int64_t i) { return i / groups.area % groups.channels; }};
    const RowStatistics statistics = row_statistics(input.values<double>(), layout, arguments.number("eps"));
    const Sizes rows = {groups.batch, groups.groups};
    return {
        normalize(input, layout, statistics, arguments.optional_tensor("weight"), arguments.optional_tensor("bias")),
        store(statistics.mean, input.dtype(), rows), store(statistics.rstd, input.dtype(), rows)};
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
    const Reduction rows = reduction(grouped, dims, false);
    const Variance variance = lower_variance(builder, split, rows, static_cast<double>(rows.count()));
    const expr::Value rstd = lower_rstd(builder, variance.variance, arguments.number("eps"));
    const NormIndices indices{[=](const expr::Index& index) {
                                  return expr::Index{index[0], index[1] / per_group};
                              },
                              [](const expr::Index& index) { return expr::Index{index[1]}; }};
    return {normalize(input, variance.mean, rstd, indices, arguments.optional_tensor("weight"),
                      arguments.optional_tensor("bias")),
            convert(input.dtype(), variance.mean), convert(input.dtype(), rstd)};
}

// --- Composites ---

std::vector<NodeRef> decompose_layer_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    return {builder
                .call_multi("aten.native_layer_norm.default",
                            {arguments.tensor("input").ref, Arg::ints(arguments.integers("normalized_shape")),
                             optional_arg(arguments.optional_tensor("weight")),
                             optional_arg(arguments.optional_tensor("bias")), Arg(arguments.number("eps"))})[0]
                .ref};
}

NodeValue group_norm(GraphBuilder& builder, const NodeValue& input, const Arg& weight, const Arg& bias,
                     std::int64_t groups, double eps) {
    const Sizes& sizes = input.meta.sizes;
    if (sizes.size() < 2)
        throw Error("group_norm: found an input of sizes " + to_string(sizes) +
                    ", expected at least 2 dimensions: batch and channels");
    const std::int64_t area = element_count(std::span(sizes).subspan(2));
    return builder.call_multi("aten.native_group_norm.default", {input.ref, weight, bias, Arg(sizes[0]), Arg(sizes[1]),
                                                                 Arg(area), Arg(groups), Arg(eps)})[0];
}

std::vector<NodeRef> decompose_group_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    return {group_norm(builder, arguments.tensor("input"), optional_arg(arguments.optional_tensor("weight")),
                       optional_arg(arguments.optional_tensor("bias")), arguments.integer("num_groups"),
                       arguments.number("eps"))
                .ref};
}

/// x / sqrt(mean(x^2) + eps) * weight, in f32 for half types; eps defaults to the dtype's machine epsilon (Zhang and
/// Sennrich 2019).
std::vector<NodeRef> decompose_rms_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const NodeValue input = arguments.tensor("input");
    const Reduction rows = layer_rows(arguments);
    const DType dtype = input.meta.dtype, compute = compute_dtype(dtype);
    const double epsilon = compute == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
    std::vector<std::int64_t> dims;
    for (std::size_t d = 0; d < rows.reduced.size(); ++d)
        if (rows.reduced[d]) dims.push_back(static_cast<std::int64_t>(d));
    const NodeValue x = builder.call("aten.to.dtype", {input.ref, Arg(compute)});
    const NodeValue squares = builder.call("aten.mul.Tensor", {x.ref, x.ref});
    const NodeValue mean = builder.call("aten.mean.dim", {squares.ref, Arg::ints(dims), Arg(true)});
    const NodeValue shifted =
        builder.call("aten.add.Scalar", {mean.ref, Arg(arguments.optional_number("eps").value_or(epsilon))});
    const NodeValue scale = builder.call("aten.rsqrt.default", {shifted.ref});
    NodeValue result = builder.call("aten.mul.Tensor", {x.ref, scale.ref});
    if (const auto weight = arguments.optional_tensor("weight"))
        result = builder.call("aten.mul.Tensor", {result.ref, weight->ref});
    return {builder.call("aten.to.dtype", {result.ref, Arg(dtype)}).ref};
}

// --- weight norm ---

/// All dimensions of v but `dim`, which is the first or the last one. Throws Error where g does not fit.
std::vector<std::int64_t> normed_dims(const std::string& op, const NodeValue& v, const NodeValue& g, std::int64_t dim) {
    const auto rank = static_cast<std::int64_t>(v.meta.sizes.size());
    const auto d = static_cast<std::size_t>(dim);
    if (rank == 0 || (dim != 0 && dim != rank - 1) || g.meta.numel() != v.meta.sizes[d])
        throw Error("aten." + op + ": found v of sizes " + to_string(v.meta.sizes) + ", g of " +
                    to_string(g.meta.sizes) + " and dim " + std::to_string(dim) +
                    ", expected the first or last dimension and a g for each of its indices");
    std::vector<std::int64_t> dims;
    for (std::int64_t other = 0; other < rank; ++other)
        if (other != dim) dims.push_back(other);
    return dims;
}

/// v * (g / |v|), and |v|; https://arxiv.org/abs/1602.07868
std::vector<NodeRef> decompose_weight_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Gradient g(builder);
    const NodeValue v = arguments.tensor("v"), length = arguments.tensor("g");
    const auto dims = normed_dims(arguments.schema().name, v, length, arguments.integer("dim"));
    Sizes along(v.meta.sizes.size(), 1);
    along[static_cast<std::size_t>(arguments.integer("dim"))] = length.meta.numel();
    const NodeValue norms = g.reshape(g.of("aten.sqrt.default", g.sum(g.mul(v, v), dims, true)), length.meta.sizes);
    return {g.mul(v, g.reshape(g.div(length, arg(norms)), along)).ref, norms.ref};
}

/// (g / |v|) (grad - v s / |v|^2) and s / |v|, with s = sum(grad * v).
std::vector<NodeRef> decompose_weight_norm_backward(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Gradient g(builder);
    const NodeValue grad = arguments.tensor("grad_w"), v = arguments.tensor("saved_v");
    const NodeValue length = arguments.tensor("saved_g");
    const auto dims = normed_dims(arguments.schema().name, v, length, arguments.integer("dim"));
    Sizes along(v.meta.sizes.size(), 1);
    along[static_cast<std::size_t>(arguments.integer("dim"))] = length.meta.numel();
    const NodeValue norms = g.reshape(arguments.tensor("saved_norms"), along), gain = g.reshape(length, along);
    const NodeValue sum = g.reshape(g.sum(g.mul(grad, v), dims, true), along);
    const NodeValue tangent = g.sub(grad, g.mul(v, g.div(sum, arg(g.mul(norms, norms)))));
    return {g.mul(g.div(gain, arg(norms)), tangent).ref, g.reshape(g.div(sum, arg(norms)), length.meta.sizes).ref};
}

void weight_norm_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    if (!c.grad_if_any(0)) return;  // the norms are for this rule alone
    const std::vector<NodeValue> gradients = b.call_multi(
        "aten._weight_norm_interface_backward.default",
        {arg(r.grad()), arg(r.tensor("v")), arg(r.tensor("g")), arg(r.result(1)), c.args().integer("dim")});
    if (r.needed("v")) r.set("v", gradients[0]);
    if (r.needed("g")) r.set("g", gradients[1]);
}

// --- Parts, for bounds ---

std::vector<NodeRef> layer_norm_parts(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const NodeValue input = arguments.tensor("input");
    const auto normalized = static_cast<std::int64_t>(arguments.integers("normalized_shape").size());
    std::vector<std::int64_t> dims;
    for (std::int64_t d = rank_of(input) - normalized; d < rank_of(input); ++d) dims.push_back(d);
    const StatisticParts statistics = statistic_parts(builder, input, dims, arguments.number("eps"));
    return {normalize_parts(builder, input, statistics, arguments.optional_tensor("weight"),
                            arguments.optional_tensor("bias"))
                .ref,
            statistics.mean.ref, statistics.rstd.ref};
}

std::vector<NodeRef> group_norm_parts(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const NodeValue input = arguments.tensor("input");
    const Groups groups = groups_of(arguments);
    const auto shaped = [&](const NodeValue& value, const Sizes& sizes) {
        return builder.call("aten.reshape.default", {value.ref, Arg::ints(sizes)});
    };
    const NodeValue grouped = shaped(input, {groups.batch, groups.groups, groups.per_group() * groups.area});
    const StatisticParts statistics = statistic_parts(builder, grouped, {2}, arguments.number("eps"));
    NodeValue result = shaped(normalize_parts(builder, grouped, statistics, {}, {}), input.meta.sizes);
    if (const auto weight = per_channel(builder, arguments.optional_tensor("weight"), rank_of(input)))
        result = builder.call("aten.mul.Tensor", {result.ref, weight->ref});
    if (const auto bias = per_channel(builder, arguments.optional_tensor("bias"), rank_of(input)))
        result = builder.call("aten.add.Tensor", {result.ref, bias->ref});
    const Sizes rows = {groups.batch, groups.groups};
    return {builder.convert(result, input.meta.dtype).ref, shaped(statistics.mean, rows).ref,
            shaped(statistics.rstd, rows).ref};
}

constexpr OpDef kNorm[] = {
    {.name = "aten.native_layer_norm.default",
     .doc = "normalized over trailing dimensions; also mean and 1 / sqrt(variance + eps)",
     .schema = "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
               "(Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_layer_norm,
     .eval = eval_layer_norm,
     .lower = lower_layer_norm,
     .grad = layer_norm_grad,
     .bound = {.parts = layer_norm_parts}},
    {.name = "aten.layer_norm.default",
     .doc = "the first result of native_layer_norm",
     .schema = "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
               "eps=1e-05, bool cudnn_enable=True) -> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_layer_norm},
    {.name = "aten.native_group_norm.default",
     .doc = "normalized over groups of channels; also mean and 1 / sqrt(variance + eps)",
     .schema = "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int "
               "group, float eps) -> (Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_group_norm,
     .eval = eval_group_norm,
     .lower = lower_group_norm,
     .grad = group_norm_grad,
     .bound = {.parts = group_norm_parts}},
    {.name = "aten.group_norm.default",
     .doc = "the first result of native_group_norm",
     .schema = "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
               "cudnn_enabled=True) -> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_group_norm},
    {.name = "aten.rms_norm.default",
     .doc = "x / sqrt(mean(x^2) + eps) * weight over trailing dimensions",
     .schema = "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_rms_norm},
    {.name = "aten._weight_norm_interface.default",
     .doc = "v of the length g, and its own lengths: https://arxiv.org/abs/1602.07868",
     .schema = "_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
     .dtypes = set_of(DType::f32) | set_of(DType::f64),
     .decompose = decompose_weight_norm,
     .grad = weight_norm_grad},
    {.name = "aten._weight_norm_interface_backward.default",
     .doc = "the gradients of _weight_norm_interface: https://arxiv.org/abs/1602.07868",
     .schema = "_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int "
               "dim) -> (Tensor, Tensor)",
     .dtypes = set_of(DType::f32) | set_of(DType::f64),
     .decompose = decompose_weight_norm_backward},
};

}  // namespace

std::span<const OpDef> norm_ops() { return kNorm; }

}  // namespace whittle
