// Gradients of convolution, normalization and losses, by the backward ops that LibTorch's autograd calls.
#include "ops/aten/layer_grad.h"
#include "ops/aten/formulas.h"

namespace whittle {

namespace {

using namespace aten;

/// What a backward op gives of input, weight and bias, where they are needed.
/// `through_statistics`: what flows into the input beside that.
void set_parameters(Gradients& c, std::string_view backward, ArgList args, const OptionalV& through_statistics = {}) {
    const char* names[] = {"input", "weight", "bias"};
    ArgList mask;
    for (const char* name : names) mask.emplace_back(c.needed(name));
    args.emplace_back(mask);
    const Vs gradients = c.builder().call_multi(backward, std::move(args));
    for (std::size_t i = 0; i < std::size(names); ++i)
        if (c.needed(names[i]))
            c.set(names[i], i == 0 && through_statistics ? gradients[i] + *through_statistics : gradients[i]);
}

/// Into x by way of results 1 and 2, its mean and rstd over `count` elements each, which are of `shape` to broadcast to
/// x: (g1 - g2 x^ rstd^2) / count with x^ = (x - mean) rstd. Nothing where no output depends on them; a gradient's
/// gradient does.
OptionalV through_statistics(Gradients& c, const V& x, const Sizes& shape, std::int64_t count) {
    if (!c.grad_if_any(1) && !c.grad_if_any(2)) return std::nullopt;
    const V mean = reshaped(c.result(1), shape), rstd = reshaped(c.result(2), shape);
    const V normal = (x - mean) * rstd;
    const V slope = normal * (rstd * rstd) * reshaped(c.grad(2), shape);
    return (reshaped(c.grad(1), shape) - slope) / static_cast<double>(count);
}

Arg result_arg(Gradients& c, std::size_t index) { return c.result(index); }

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

}  // namespace

void convolution_grad(Gradients& c) {
    c.takes_complex();
    const auto ints = [&](const char* name) { return Arg::ints(c.integers(name)); };
    const OptionalV bias = c.optional_tensor("bias");
    set_parameters(c, "aten.convolution_backward.default",
                   {c.grad(), conjugate(c.tensor("input")), conjugate(c.tensor("weight")),
                    bias ? Arg::ints(bias->meta.sizes) : Arg(), ints("stride"), ints("padding"), ints("dilation"),
                    c.boolean("transposed"), ints("output_padding"), c.integer("groups")});
}
void layer_norm_grad(Gradients& c) {
    const V x = c.tensor("input");
    const Ints normalized = c.integers("normalized_shape");
    set_parameters(c, "aten.native_layer_norm_backward.default",
                   {c.grad(), x, Arg::ints(normalized), result_arg(c, 1), result_arg(c, 2),
                    optional_arg(c.optional_tensor("weight")), optional_arg(c.optional_tensor("bias"))},
                   through_statistics(c, x, c.result(1).sizes(), element_count(normalized)));
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
V nll_loss_grad(const OfSelf& r) {
    return nll_loss_backward(r.g, r.x, r.call.tensor("target"), r.call.optional_tensor("weight"),
                             r.call.integer("reduction"), r.call.integer("ignore_index"), r.call.result(1));
}
void smooth_l1_loss_grad(Gradients& c) {
    const V gradient = smooth_l1_loss_backward(c.grad(), c.tensor("self"), c.tensor("target"), c.integer("reduction"),
                                               c.number("beta"));
    c.set("self", gradient);
    if (c.needed("target")) c.set("target", -gradient);
}
void mse_loss_grad(Gradients& c) {
    const V gradient = mse_loss_backward(c.grad(), c.tensor("self"), c.tensor("target"), c.integer("reduction"));
    c.set("self", gradient);
    if (c.needed("target")) c.set("target", -gradient);
}

}  // namespace whittle
