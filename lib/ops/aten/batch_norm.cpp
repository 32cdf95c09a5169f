// Batch and instance normalization: statistics per channel, dimension 1 of the input, given or of the input itself.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#normalization-functions
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/normalize.h"

namespace whittle {
namespace {

using namespace aten;

std::int64_t channels_of(const AnyArguments auto& arguments) {
    const Sizes sizes = operand_info(arguments.tensor("input")).sizes;
    if (sizes.size() < 2)
        throw Error("aten." + arguments.schema().name + ": found sizes " + to_string(sizes) +
                    ", expected at least 2 dimensions: batch and channels");
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

void check_statistics(const AnyArguments auto& arguments) {
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
    return {normalize(arguments, channel_layout(input.sizes()), statistics), nothing, nothing};
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
    return {normalize(arguments, mean, rstd, channel_indices()), nothing, nothing};
}

// --- With the batch's own statistics ---

void check_training(const AnyArguments auto& arguments) {
    if (!arguments.boolean("training"))
        throw Error("aten." + arguments.schema().name +
                    ": found training=False without running statistics, expected training=True");
}

std::vector<ValueMeta> infer_batch(const Arguments<ValueMeta>& arguments) {
    check_training(arguments);
    return infer_own(arguments, {channels_of(arguments)});
}

std::vector<Tensor> eval_batch(const Arguments<Tensor>& arguments) {
    check_training(arguments);
    const Sizes channels = {channels_of(arguments)};
    return eval_own(arguments, channel_layout(arguments.tensor("input").sizes()), channels);
}

std::vector<expr::Value> lower_batch(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    check_training(arguments);
    channels_of(arguments);
    const expr::Value input = arguments.tensor("input");
    std::vector<std::int64_t> dims = {0};
    for (std::int64_t d = 2; d < input.rank(); ++d) dims.push_back(d);
    return lower_own(builder, arguments, convert(compute_dtype(input.dtype()), input),
                     reduction(input.sizes(), dims, false), channel_indices());
}

// --- Composites ---

/// Throws Error for running statistics, which training would have to update.
void refuse_running_statistics(const Call& arguments) {
    for (const char* name : {"running_mean", "running_var"})
        if (arguments.has(name))
            throw Error("aten." + arguments.schema().name + ": found " + name +
                            " in training, expected no running statistics: training updates them in place",
                        "pass neither running_mean nor running_var, or export the model in evaluation mode");
}

/// All three results of batch norm; running statistics that training would have to update are refused.
std::array<V, 3> normalized_batch(const Call& arguments, bool training) {
    const auto mean = arguments.optional_tensor("running_mean"), variance = arguments.optional_tensor("running_var");
    const OptionalV weight = arguments.optional_tensor("weight"), bias = arguments.optional_tensor("bias");
    const V input = arguments.tensor("input");
    const double momentum = arguments.number("momentum"), eps = arguments.number("eps");
    if (!training) {
        if (!mean || !variance)
            throw Error("aten." + arguments.schema().name + ": found no " + (mean ? "running_var" : "running_mean") +
                        " in evaluation mode, expected both running_mean and running_var");
        return _native_batch_norm_legit_no_training(input, weight, bias, *mean, *variance, momentum, eps);
    }
    refuse_running_statistics(arguments);
    return _native_batch_norm_legit(input, weight, bias, true, momentum, eps);
}

CallResults decompose_native_batch_norm(const Call& c) { return normalized_batch(c, c.boolean("training")); }
CallResults decompose_batch_norm(const Call& c) { return normalized_batch(c, c.boolean("training"))[0]; }

/// Running statistics moved towards those of the batch, which no gradient flows through.
std::array<V, 2> moved_statistics(const Call& c) {
    const V mean = c.tensor("running_mean"), variance = c.tensor("running_var");
    const V x = as(c.tensor("input"), mean.dtype());
    Ints dims = {0};
    for (std::int64_t d = 2; d < x.rank(); ++d) dims.push_back(d);
    const double momentum = c.number("momentum");
    return {detach(lerp(mean, aten::mean(x, dims), momentum)),
            detach(lerp(variance, var(x, std::optional<Ints>(dims), std::optional<Scalar>(1)), momentum))};
}
std::array<V, 3> normalized_by(const Call& c, bool training) {
    const OptionalV weight = c.optional_tensor("weight"), bias = c.optional_tensor("bias");
    const V input = c.tensor("input");
    const double momentum = c.number("momentum"), eps = c.number("eps");
    if (training) return _native_batch_norm_legit(input, weight, bias, true, momentum, eps);
    return _native_batch_norm_legit_no_training(input, weight, bias, c.tensor("running_mean"), c.tensor("running_var"),
                                                momentum, eps);
}
/// What writes running statistics elsewhere gives them as results.
CallResults decompose_functional(const Call& c) {
    const bool training = c.boolean("training");
    check_statistics(c);
    CallResults results = normalized_by(c, training);
    const std::array<V, 2> running = training ? moved_statistics(c)
                                              : std::array<V, 2>{own_copy(detach(c.tensor("running_mean"))),
                                                                 own_copy(detach(c.tensor("running_var")))};
    results.insert(results.end(), running.begin(), running.end());
    return results;
}
/// The fourth result is memory for a GPU's kernels.
V reserved(const Call& c) { return zeros(c.builder(), Ints{0}, DType::u8); }
CallResults decompose_with_update(const Call& c) {
    check_statistics(c);
    CallResults results = normalized_by(c, true);
    const std::array<V, 2> running = moved_statistics(c);
    results.insert(results.end(), {reserved(c), running[0], running[1]});
    return results;
}
CallResults decompose_no_update(const Call& c) {
    CallResults results = normalized_batch(c, false);
    results.push_back(reserved(c));
    return results;
}

/// With the input's statistics, a group norm with a group per channel.
CallResults decompose_instance_norm(const Call& c) {
    if (!c.boolean("use_input_stats")) return normalized_batch(c, false)[0];
    refuse_running_statistics(c);
    const std::int64_t channels = channels_of(c);
    return group_norm(c.tensor("input"), channels, c.optional_tensor("weight"), c.optional_tensor("bias"),
                      c.number("eps"));
}

// --- Parts, for bounds ---

CallResults channel_parts(const Call& arguments, const StatisticParts& statistics, const V& mean, const V& rstd) {
    const V input = arguments.tensor("input");
    const std::int64_t rank = input.rank();
    const V result = normalize_parts(input, statistics, per_channel(arguments.optional_tensor("weight"), rank),
                                     per_channel(arguments.optional_tensor("bias"), rank));
    return {result, mean, rstd};
}

CallResults inference_parts(const Call& c) {
    const V input = c.tensor("input"), mean = c.tensor("running_mean");
    const std::int64_t rank = input.rank();
    const V variance = *per_channel(c.tensor("running_var"), rank);
    const V none = c.builder().convert(slice(mean, 0, 0, 0), input.dtype());
    return channel_parts(c, {*per_channel(mean, rank), rstd_parts(variance, c.number("eps"))}, none, none);
}

CallResults batch_parts(const Call& c) {
    const V input = c.tensor("input");
    Ints dims = {0};
    for (std::int64_t d = 2; d < input.rank(); ++d) dims.push_back(d);
    const StatisticParts statistics = statistic_parts(input, dims, c.number("eps"));
    const auto row = [&](const V& value) { return reshape(value, Ints{input.sizes()[1]}); };
    return channel_parts(c, statistics, row(statistics.mean), row(statistics.rstd));
}

void set_batch_norm(Gradients& c, const Arg& mean, const Arg& variance, bool batch) {
    const Arg save_mean = batch ? result_arg(c, 1) : Arg(), save_rstd = batch ? result_arg(c, 2) : Arg();
    const V x = c.tensor("input");
    OptionalV statistics;
    if (batch && x.numel() > 0) {
        Sizes by_channel(x.sizes().size(), 1);
        by_channel.at(1) = x.sizes()[1];
        statistics = through_statistics(c, x, by_channel, x.numel() / x.sizes()[1]);
    }
    set_parameters(c, "aten.native_batch_norm_backward.default",
                   {c.grad(), x, optional_arg(c.optional_tensor("weight")), mean, variance, save_mean, save_rstd, batch,
                    c.number("eps")},
                   statistics);
}
void batch_norm_inference_grad(Gradients& c) {
    set_batch_norm(c, optional_arg(c.optional_tensor("running_mean")), optional_arg(c.optional_tensor("running_var")),
                   false);
}
void batch_norm_batch_grad(Gradients& c) { set_batch_norm(c, Arg(), Arg(), true); }
void batch_norm_grad(Gradients& c) {
    set_batch_norm(c, optional_arg(c.optional_tensor("running_mean")), optional_arg(c.optional_tensor("running_var")),
                   c.boolean("training"));
}

constexpr OpDef kBatchNorm[] = {
    primitive("_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
              "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
              "normalized by running statistics per channel; two empty results", kFloating,
              {infer_inference, eval_inference, lower_inference}, batch_norm_inference_grad,
              {.parts = inference_parts}),
    primitive("_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float "
              "momentum, float eps) -> (Tensor, Tensor, Tensor)",
              "normalized by the batch's statistics per channel; also mean and 1 / sqrt(variance + eps)", kFloating,
              {infer_batch, eval_batch, lower_batch}, batch_norm_batch_grad, {.parts = batch_parts}),
    composite("native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
              "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
              "normalized by the running statistics, or, in training, by the statistics of the batch", kFloating,
              decompose_native_batch_norm, batch_norm_grad),
    composite("_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
              "Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor "
              "running_mean_out, Tensor running_var_out)",
              "native_batch_norm, which also returns the updated running statistics", kFloating, decompose_functional),
    composite("_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
              "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor "
              "running_mean_out, Tensor running_var_out)",
              "native_batch_norm in training, which also returns the updated running statistics", kFloating,
              decompose_with_update),
    composite("_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
              "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
              "native_batch_norm by running statistics", kFloating, decompose_no_update),
    composite("batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
              "training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
              "the first result of native_batch_norm", kFloating, decompose_batch_norm),
    composite("instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
              "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
              "normalized per sample and channel, or by running statistics", kFloating, decompose_instance_norm),
};

}  // namespace

std::span<const OpDef> batch_norm_ops() { return kBatchNorm; }

}  // namespace whittle
