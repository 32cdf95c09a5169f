// Batch and instance normalization: statistics per channel, dimension 1 of the input, given or of the input itself.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#normalization-functions
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/layer_grad.h"
#include "ops/aten/normalize.h"

namespace whittle {

namespace {

template <class T>
std::int64_t channels_of(const Arguments<T>& arguments) {
    const Sizes sizes = operand_info(arguments.tensor("input")).sizes;
    if (sizes.size() < 2)
        throw Error("aten." + arguments.schema().name + ": found sizes " + to_string(sizes) +
                    ", expected a dimension of channels");
    check_parameters(arguments, {sizes[1]});
    return sizes[1];
}

NormLayout channel_layout(const Sizes& sizes) {
    const std::int64_t channels = sizes[1], area = element_count(std::span(sizes).subspan(2));
    const auto channel = [=](std::int64_t i) { return i / area % channels; };
    return {channels, channel, channel};
}

NormIndices channel_indices() {
    const auto channel = [](const expr::Index& index) { return expr::Index{index[1]}; };
    return {channel, channel};
}

// --- With given statistics: inference ---

template <class T>
void check_statistics(const Arguments<T>& arguments) {
    const Sizes channels = {channels_of(arguments)};
    for (const char* name : {"running_mean", "running_var"})
        check_parameter(arguments.schema(), name, operand_info(arguments.tensor(name)), channels);
}

std::vector<ValueMeta> infer_inference(const Arguments<ValueMeta>& arguments) {
    check_statistics(arguments);
    const ValueMeta input = arguments.tensor("input"), nothing = ValueMeta::contiguous(input.dtype, {0});
    return {ValueMeta::contiguous(input.dtype, input.sizes), nothing, nothing};
}

std::vector<Tensor> eval_inference(const Arguments<Tensor>& arguments) {
    check_statistics(arguments);
    const Tensor input = arguments.tensor("input"), nothing(input.dtype(), {0});
    RowStatistics statistics{arguments.tensor("running_mean").values<double>(),
                             arguments.tensor("running_var").values<double>()};
    for (double& value : statistics.rstd) value = 1 / std::sqrt(value + arguments.number("eps"));
    return {normalize(input, channel_layout(input.sizes()), statistics, arguments.optional_tensor("weight"),
                      arguments.optional_tensor("bias")),
            nothing, nothing};
}

std::vector<expr::Value> lower_inference(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    check_statistics(arguments);
    const expr::Value input = arguments.tensor("input");
    const DType compute = compute_dtype(input.dtype());
    const expr::Value mean = convert(compute, arguments.tensor("running_mean"));
    const expr::Value rstd =
        lower_rstd(builder, convert(compute, arguments.tensor("running_var")), arguments.number("eps"));
    const Expr zero = expr::constant(compute, Scalar(0));
    const expr::Value nothing =
        expr::Value(input.dtype(), {0}, [=](const expr::Index&) { return convert(input.dtype(), zero); });
    return {normalize(input, mean, rstd, channel_indices(), arguments.optional_tensor("weight"),
                      arguments.optional_tensor("bias")),
            nothing, nothing};
}

// --- With the batch's own statistics ---

template <class T>
void check_training(const Arguments<T>& arguments) {
    if (!arguments.boolean("training"))
        throw Error("aten." + arguments.schema().name +
                    ": found no running statistics outside training, expected training=True");
}

std::vector<ValueMeta> infer_batch(const Arguments<ValueMeta>& arguments) {
    check_training(arguments);
    const ValueMeta input = arguments.tensor("input");
    const ValueMeta statistic = ValueMeta::contiguous(input.dtype, {channels_of(arguments)});
    return {ValueMeta::contiguous(input.dtype, input.sizes), statistic, statistic};
}

std::vector<Tensor> eval_batch(const Arguments<Tensor>& arguments) {
    check_training(arguments);
    const Tensor input = arguments.tensor("input");
    const Sizes channels = {channels_of(arguments)};
    const NormLayout layout = channel_layout(input.sizes());
    const RowStatistics statistics = row_statistics(input.values<double>(), layout, arguments.number("eps"));
    return {
        normalize(input, layout, statistics, arguments.optional_tensor("weight"), arguments.optional_tensor("bias")),
        store(statistics.mean, input.dtype(), channels), store(statistics.rstd, input.dtype(), channels)};
}

std::vector<expr::Value> lower_batch(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    check_training(arguments);
    channels_of(arguments);
    const expr::Value input = arguments.tensor("input");
    std::vector<std::int64_t> dims = {0};
    for (std::int64_t d = 2; d < input.rank(); ++d) dims.push_back(d);
    const Reduction rows = reduction(input.sizes(), dims, false);
    const Variance variance =
        lower_variance(builder, convert(compute_dtype(input.dtype()), input), rows, static_cast<double>(rows.count()));
    const expr::Value rstd = lower_rstd(builder, variance.variance, arguments.number("eps"));
    return {normalize(input, variance.mean, rstd, channel_indices(), arguments.optional_tensor("weight"),
                      arguments.optional_tensor("bias")),
            convert(input.dtype(), variance.mean), convert(input.dtype(), rstd)};
}

// --- Composites ---

/// All three results of batch norm; running statistics that training would have to update are refused.
std::vector<NodeValue> batch_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments, bool training) {
    const auto mean = arguments.optional_tensor("running_mean"), variance = arguments.optional_tensor("running_var");
    const Arg weight = optional_arg(arguments.optional_tensor("weight")),
              bias = optional_arg(arguments.optional_tensor("bias"));
    const NodeValue input = arguments.tensor("input");
    const std::string op = "aten." + arguments.schema().name;
    const Arg momentum = Arg(arguments.number("momentum")), eps = Arg(arguments.number("eps"));
    if (!training) {
        if (!mean || !variance)
            throw Error(op + ": found no running_mean or no running_var in evaluation mode, expected both");
        return builder.call_multi("aten._native_batch_norm_legit_no_training.default",
                                  {input.ref, weight, bias, mean->ref, variance->ref, momentum, eps});
    }
    if (mean || variance)
        throw Error(
            op + ": found running_mean or running_var in training, expected neither: training updates both in place",
            "pass neither of them, or export the model in evaluation mode");
    return builder.call_multi("aten._native_batch_norm_legit.no_stats",
                              {input.ref, weight, bias, Arg(true), momentum, eps});
}

std::vector<NodeRef> decompose_native_batch_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    std::vector<NodeRef> results;
    for (const NodeValue& value : batch_norm(builder, arguments, arguments.boolean("training")))
        results.push_back(value.ref);
    return results;
}

std::vector<NodeRef> decompose_batch_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    return {batch_norm(builder, arguments, arguments.boolean("training"))[0].ref};
}

/// With the input's statistics, a group norm with a group per channel.
std::vector<NodeRef> decompose_instance_norm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    if (!arguments.boolean("use_input_stats")) return {batch_norm(builder, arguments, false)[0].ref};
    if (arguments.has("running_mean") || arguments.has("running_var"))
        throw Error(
            "aten.instance_norm.default: found running_mean or running_var in training, expected neither: training "
            "updates both in place",
            "pass neither of them, or export the model in evaluation mode");
    const std::int64_t channels = channels_of(arguments);
    return {builder
                .call("aten.group_norm.default",
                      {arguments.tensor("input").ref, Arg(channels), optional_arg(arguments.optional_tensor("weight")),
                       optional_arg(arguments.optional_tensor("bias")), Arg(arguments.number("eps"))})
                .ref};
}

// --- Parts, for bounds ---

std::vector<NodeRef> channel_parts(GraphBuilder& builder, const Arguments<NodeValue>& arguments,
                                   const StatisticParts& statistics, const std::vector<NodeRef>& others) {
    const NodeValue input = arguments.tensor("input");
    const std::int64_t rank = rank_of(input);
    const NodeValue result =
        normalize_parts(builder, input, statistics, per_channel(builder, arguments.optional_tensor("weight"), rank),
                        per_channel(builder, arguments.optional_tensor("bias"), rank));
    return {result.ref, others[0], others[1]};
}

std::vector<NodeRef> inference_parts(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const NodeValue input = arguments.tensor("input"), mean = arguments.tensor("running_mean");
    const std::int64_t rank = rank_of(input);
    const NodeValue variance = *per_channel(builder, arguments.tensor("running_var"), rank);
    const NodeValue none = builder.convert(
        builder.call("aten.slice.Tensor", {mean.ref, Arg(0), Arg(0), Arg(0), Arg(1)}), input.meta.dtype);
    return channel_parts(builder, arguments,
                         {*per_channel(builder, mean, rank), rstd_parts(builder, variance, arguments.number("eps"))},
                         {none.ref, none.ref});
}

std::vector<NodeRef> batch_parts(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const NodeValue input = arguments.tensor("input");
    std::vector<std::int64_t> dims = {0};
    for (std::int64_t d = 2; d < rank_of(input); ++d) dims.push_back(d);
    const StatisticParts statistics = statistic_parts(builder, input, dims, arguments.number("eps"));
    const auto row = [&](const NodeValue& value) {
        return builder.call("aten.reshape.default", {value.ref, Arg::ints({input.meta.sizes[1]})}).ref;
    };
    return channel_parts(builder, arguments, statistics, {row(statistics.mean), row(statistics.rstd)});
}

// --- Records ---

constexpr OpDef kBatchNorm[] = {
    {.name = "aten._native_batch_norm_legit_no_training.default",
     .doc = "normalized by running statistics per channel; two empty results",
     .schema = "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
               "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_inference,
     .eval = eval_inference,
     .lower = lower_inference,
     .grad = batch_norm_inference_grad,
     .bound = {.parts = inference_parts}},
    {.name = "aten._native_batch_norm_legit.no_stats",
     .doc = "normalized by the batch's statistics per channel; also mean and 1 / sqrt(variance + eps)",
     .schema = "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float "
               "momentum, float eps) -> (Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_batch,
     .eval = eval_batch,
     .lower = lower_batch,
     .grad = batch_norm_batch_grad,
     .bound = {.parts = batch_parts}},
    {.name = "aten.native_batch_norm.default",
     .doc = "by running statistics, or in training by the batch's",
     .schema = "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = decompose_native_batch_norm,
     .grad = batch_norm_grad},
    {.name = "aten.batch_norm.default",
     .doc = "the first result of native_batch_norm",
     .schema = "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
               "training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_batch_norm},
    {.name = "aten.instance_norm.default",
     .doc = "normalized per sample and channel, or by running statistics",
     .schema = "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
               "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_instance_norm},
};

}  // namespace

std::span<const OpDef> batch_norm_ops() { return kBatchNorm; }

}  // namespace whittle
