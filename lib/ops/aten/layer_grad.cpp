// Gradients of convolution, normalization and losses, by the backward ops that LibTorch's autograd calls.
#include "ops/aten/layer_grad.h"

namespace whittle {

namespace {

/// What a backward op gives of input, weight and bias, where they are needed.
/// `through_statistics`: what flows into the input beside that.
void set_parameters(GraphBuilder& b, const Rule& r, std::string_view backward, ArgList args,
                    const std::optional<NodeValue>& through_statistics = {}) {
    const char* names[] = {"input", "weight", "bias"};
    ArgList mask;
    for (const char* name : names) mask.emplace_back(r.needed(name));
    args.emplace_back(mask);
    const std::vector<NodeValue> gradients = b.call_multi(backward, std::move(args));
    for (std::size_t i = 0; i < std::size(names); ++i)
        if (r.needed(names[i]))
            r.set(names[i], i == 0 && through_statistics ? r.add(gradients[i], *through_statistics) : gradients[i]);
}

/// Into x by way of results 1 and 2, its mean and rstd over `count` elements each, which are of `shape` to broadcast to
/// x: (g1 - g2 x^ rstd^2) / count with x^ = (x - mean) rstd. Nothing where no output depends on them; a gradient's
/// gradient does.
std::optional<NodeValue> through_statistics(const Rule& r, CallGradients& c, const NodeValue& x, const Sizes& shape,
                                            std::int64_t count) {
    if (!c.grad_if_any(1) && !c.grad_if_any(2)) return std::nullopt;
    const NodeValue mean = r.reshape(c.result(1), shape), rstd = r.reshape(c.result(2), shape);
    const NodeValue normal = r.mul(r.sub(x, mean), rstd);
    const NodeValue slope = r.mul(r.mul(normal, r.mul(rstd, rstd)), r.reshape(r.grad(2), shape));
    return r.div(r.sub(r.reshape(r.grad(1), shape), slope), Arg(static_cast<double>(count)));
}

Arg result_arg(CallGradients& c, std::size_t index) { return arg(c.result(index)); }

void set_batch_norm(GraphBuilder& b, CallGradients& c, const Arg& mean, const Arg& variance, bool batch) {
    const Rule r(b, c);
    const Arg save_mean = batch ? result_arg(c, 1) : Arg(), save_rstd = batch ? result_arg(c, 2) : Arg();
    const NodeValue x = r.tensor("input");
    std::optional<NodeValue> statistics;
    if (batch && x.meta.numel() > 0) {
        Sizes by_channel(x.meta.sizes.size(), 1);
        by_channel.at(1) = x.meta.sizes[1];
        statistics = through_statistics(r, c, x, by_channel, x.meta.numel() / x.meta.sizes[1]);
    }
    set_parameters(b, r, "aten.native_batch_norm_backward.default",
                   {arg(r.grad()), arg(x), r.optional("weight"), mean, variance, save_mean, save_rstd, batch,
                    c.args().number("eps")},
                   statistics);
}

}  // namespace

void convolution_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    const std::optional<NodeValue> bias = c.args().optional_tensor("bias");
    set_parameters(b, r, "aten.convolution_backward.default",
                   {arg(r.grad()), arg(r.conj(r.tensor("input"))), arg(r.conj(r.tensor("weight"))),
                    bias ? Arg::ints(bias->meta.sizes) : Arg(), ints("stride"), ints("padding"), ints("dilation"),
                    c.args().boolean("transposed"), ints("output_padding"), c.args().integer("groups")});
}
void layer_norm_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("input");
    const Ints normalized = c.args().integers("normalized_shape");
    set_parameters(b, r, "aten.native_layer_norm_backward.default",
                   {arg(r.grad()), arg(x), Arg::ints(normalized), result_arg(c, 1), result_arg(c, 2),
                    r.optional("weight"), r.optional("bias")},
                   through_statistics(r, c, x, c.result(1).meta.sizes, element_count(normalized)));
}
void batch_norm_inference_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    set_batch_norm(b, c, r.optional("running_mean"), r.optional("running_var"), false);
}
void batch_norm_batch_grad(GraphBuilder& b, CallGradients& c) { set_batch_norm(b, c, Arg(), Arg(), true); }
void batch_norm_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    set_batch_norm(b, c, r.optional("running_mean"), r.optional("running_var"), c.args().boolean("training"));
}
void group_norm_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("input");
    const std::int64_t n = c.args().integer("N"), channels = c.args().integer("C"), groups = c.args().integer("group");
    const std::int64_t area = c.args().integer("HxW"), count = channels / groups * area;
    std::optional<NodeValue> statistics =
        through_statistics(r, c, r.reshape(x, {n, groups, count}), {n, groups, 1}, count);
    if (statistics) statistics = r.reshape(*statistics, x.meta.sizes);
    set_parameters(b, r, "aten.native_group_norm_backward.default",
                   {arg(r.grad()), arg(x), result_arg(c, 1), result_arg(c, 2), r.optional("weight"), Arg(n),
                    Arg(channels), Arg(area), Arg(groups)},
                   statistics);
}
void nll_loss_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten.nll_loss_backward.default",
                 {arg(r.g), arg(r.x), arg(r.tensor("target")), r.optional("weight"), c.args().integer("reduction"),
                  c.args().integer("ignore_index"), arg(c.result(1))}));
}
void smooth_l1_loss_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const NodeValue gradient = r.call(
        "aten.smooth_l1_loss_backward.default",
        {arg(r.g), arg(r.x), arg(r.tensor("target")), c.args().integer("reduction"), Arg(c.args().number("beta"))});
    r.set(gradient);
    if (r.needed("target")) c.set("target", r.neg(gradient));
}
void mse_loss_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const NodeValue gradient = r.call("aten.mse_loss_backward.default",
                                      {arg(r.g), arg(r.x), arg(r.tensor("target")), c.args().integer("reduction")});
    r.set(gradient);
    if (r.needed("target")) c.set("target", r.neg(gradient));
}

}  // namespace whittle
