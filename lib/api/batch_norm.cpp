// Batch and instance normalization in training: ATen's ops write the running statistics that they are given, which ops
// of the registry never do; so here they are issued as the ops they are made of.
// https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html
#define WHITTLE_API_IMPLEMENTATION
#include "api/call.h"

namespace whittle::api {
namespace {

struct NormArguments {
    const Tensor& input;
    const OptionalTensor &weight, &bias, &mean, &variance;
    bool training;
    double momentum, eps;
    bool updates() const { return training && (is_given(mean) || is_given(variance)); }

  private:
    static bool is_given(const OptionalTensor& tensor) { return tensor && tensor->defined(); }
};

/// running = (1 - momentum) * running + momentum * batch
void update(const OptionalTensor& running, const Tensor& batch, double momentum, void* pc) {
    if (!running || !running->defined()) return;
    Call call("aten.lerp_.Scalar", pc);
    call.add(*running);
    call.add(batch);
    call.add(Scalar(momentum));
    call.in_place(*running);
}

std::tuple<Tensor, Tensor, Tensor> train(const NormArguments& a, void* pc) {
    Call normalized("aten._native_batch_norm_legit.no_stats", pc);
    normalized.add(a.input);
    normalized.add(a.weight);
    normalized.add(a.bias);
    normalized.add(true);
    normalized.add(a.momentum);
    normalized.add(a.eps);
    auto results = normalized.tuple<3>();
    const NoGradGuard no_grad;
    update(a.mean, std::get<1>(results), a.momentum, pc);
    std::vector<std::int64_t> all_but_channels = {0};
    for (std::int64_t d = 2; d < a.input.dim(); ++d) all_but_channels.push_back(d);
    Call variance("aten.var.correction", pc);  // the unbiased one, by ATen's default
    variance.add(a.input);
    variance.add(IntList(all_but_channels));
    update(a.variance, variance.one(), a.momentum, pc);
    return results;
}

void add_all(Call& call, const NormArguments& a) {
    call.add(a.input);
    call.add(a.weight);
    call.add(a.bias);
    call.add(a.mean);
    call.add(a.variance);
    call.add(a.training);
    call.add(a.momentum);
    call.add(a.eps);
}

/// Of each channel of each sample, averaged over samples.
Tensor over_samples(const char* statistic, const Tensor& input, void* pc) {
    std::vector<std::int64_t> positions;
    for (std::int64_t d = 2; d < input.dim(); ++d) positions.push_back(d);
    Call each(statistic, pc);
    each.add(input);
    each.add(IntList(positions));
    Call mean("aten.mean.dim", pc);
    mean.add(each.one());
    mean.add(IntList({0}));
    return mean.one();
}

}  // namespace

Tensor instance_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                     const OptionalTensor& running_mean, const OptionalTensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool cudnn_enabled) {
    NormArguments arguments{input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps};
    void* const pc = __builtin_return_address(0);
    const OptionalTensor none;
    const bool updates = arguments.updates();
    Call call("aten.instance_norm.default", pc);
    add_all(call, {input, weight, bias, updates ? none : running_mean, updates ? none : running_var, use_input_stats,
                   momentum, eps});
    call.add(cudnn_enabled);
    Tensor result = call.one();
    if (!updates) return result;
    const NoGradGuard no_grad;
    update(running_mean, over_samples("aten.mean.dim", input, pc), momentum, pc);
    update(running_var, over_samples("aten.var.correction", input, pc), momentum, pc);
    return result;
}

Tensor batch_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                  const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training, double momentum,
                  double eps, bool cudnn_enabled) {
    const NormArguments arguments{input, weight, bias, running_mean, running_var, training, momentum, eps};
    void* const pc = __builtin_return_address(0);
    if (arguments.updates()) return std::get<0>(train(arguments, pc));
    Call call("aten.batch_norm.default", pc);
    add_all(call, arguments);
    call.add(cudnn_enabled);
    return call.one();
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const OptionalTensor& weight,
                                                     const OptionalTensor& bias, const OptionalTensor& running_mean,
                                                     const OptionalTensor& running_var, bool training, double momentum,
                                                     double eps) {
    const NormArguments arguments{input, weight, bias, running_mean, running_var, training, momentum, eps};
    void* const pc = __builtin_return_address(0);
    if (arguments.updates()) return train(arguments, pc);
    Call call("aten.native_batch_norm.default", pc);
    add_all(call, arguments);
    return call.tuple<3>();
}

}  // namespace whittle::api
