// Samples of lib/ops/onnx/training.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

/// There are two variables with `states` states each, at step 0 and at a later one.
Samples optimizer_samples(DType dtype, int states, const Kwargs& kwargs, const std::string& suffix = {}) {
    Samples result;
    for (const int count : {0, 3}) {
        Sample sample{.label = "step " + std::to_string(count) + suffix,
                      .tensors = {scalar(dtype, 0.1), scalar(DType::i64, count)},
                      .args = {t(0), t(1)},
                      .kwargs = kwargs,
                      .opset_imports = {{"ai.onnx.preview.training", 1}}};
        ArgList inputs;
        for (int kind = 0; kind < 2 + states; ++kind)
            for (const Sizes& sizes : {Sizes{2, 3}, Sizes{4}}) {
                const std::size_t position = sample.tensors.size();
                inputs.push_back(t(static_cast<int>(position)));
                sample.tensors.push_back(uniform(dtype, sizes, 0.5, 2, position));
            }
        sample.args.emplace_back(std::move(inputs));
        result.push_back(std::move(sample));
    }
    return result;
}

Samples adagrad_samples(DType dtype) {
    return optimizer_samples(dtype, 1, {{"decay_factor", 0.1}, {"norm_coefficient", 0.001}});
}
Samples adam_samples(DType dtype) {
    return optimizer_samples(dtype, 2, {{"norm_coefficient", 0.001}, {"norm_coefficient_post", 0.01}});
}
Samples momentum_samples(DType dtype) {
    const auto of_mode = [&](const char* mode) {
        return optimizer_samples(dtype, 1, {{"alpha", 0.9}, {"beta", 0.5}, {"mode", mode}, {"norm_coefficient", 0.001}},
                                 std::string(", ") + mode);
    };
    return of_mode("standard") + of_mode("nesterov");
}

}  // namespace

Table onnx_training_table() {
    return {
        {{"ai.onnx.preview.training.Adagrad"}, adagrad_samples},
        {{"ai.onnx.preview.training.Adam"}, adam_samples},
        {{"ai.onnx.preview.training.Momentum"}, momentum_samples},
    };
}

}  // namespace whittle::samples
