// Samples of lib/ops/onnx/norm.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples batch_samples(DType dtype) {
    const auto batch = [&](const std::string& label, std::int64_t opset, const Sizes& sizes) {
        return at_opset(opset, label,
                        {random(dtype, sizes), random(dtype, {3}, 2), random(dtype, {3}, 3), random(dtype, {3}, 4),
                         uniform(dtype, {3}, 0.5, 2)},
                        {{"epsilon", 1e-3}});
    };
    Sample training = batch("training", 14, {2, 3, 4, 5});
    training.kwargs.insert(training.kwargs.end(), {{"training_mode", 1}, {"num_outputs", 3}});
    return {batch("2-d", 9, {2, 3, 4, 5}), batch("matrix", 15, {4, 3}), training};
}

Samples instance_samples(DType dtype) {
    return {at_opset(13, "2-d", {random(dtype, {2, 3, 4, 5}), random(dtype, {3}, 2), random(dtype, {3}, 3)})};
}

Samples group_samples(DType dtype) {
    const auto group = [&](const std::string& label, std::int64_t opset, std::int64_t count) {
        return at_opset(opset, label,
                        {random(dtype, {2, 6, 3, 2}), random(dtype, {count}, 2), random(dtype, {count}, 3)},
                        {{"num_groups", 2}});
    };
    return {group("per group", 18, 2), group("per channel", 21, 6)};
}

Samples layer_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 4});
    return {at_opset(17, "last", {x, random(dtype, {4}, 2), random(dtype, {4}, 3)}),
            at_opset(17, "two, all results", {x, random(dtype, {3, 4}, 2)}, {{"axis", 1}, {"num_outputs", 3}})};
}

Samples rms_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 4});
    return {at_opset(23, "last", {x, random(dtype, {4}, 2)}),
            at_opset(23, "two", {x, random(dtype, {3, 4}, 2)}, {{"axis", 1}, {"epsilon", 0.1}}),
            at_opset(23, "one scale, stash f64", {x, random(dtype, {1}, 2)},
                     {{"axis", -3}, {"stash_type", info_of(DType::f64).onnx}})};
}

Samples lrn_samples(DType dtype) {
    return {at_opset(13, "4 of 5", {random(dtype, {1, 5, 2, 2})}, {{"alpha", 0.01}, {"size", 4}})};
}

Samples mean_variance_samples(DType dtype) { return {at_opset(13, "default", {random(dtype, {2, 3, 4, 5})})}; }

Samples lp_samples(DType dtype) {
    const Tensor x = uniform(dtype, {2, 3}, 1, 2), zeros = values(dtype, {0, 0, 3, -4}, {2, 2});
    return {at_opset(13, "p 1", {x}, {{"p", 1}}), at_opset(13, "p 2", {x}, {{"p", 2}}),
            at_opset(13, "zeros, p 1", {zeros}, {{"p", 1}}), at_opset(13, "zeros, p 2", {zeros}, {{"p", 2}})};
}

}  // namespace

Table onnx_norm_table() {
    return {
        {{"onnx.BatchNormalization"}, batch_samples},
        {{"onnx.GroupNormalization"}, group_samples},
        {{"onnx.InstanceNormalization"}, instance_samples},
        {{"onnx.LRN"}, lrn_samples},
        {{"onnx.LayerNormalization"}, layer_samples},
        {{"onnx.LpNormalization"}, lp_samples},
        {{"onnx.MeanVarianceNormalization"}, mean_variance_samples},
        {{"onnx.RMSNormalization"}, rms_samples},
    };
}

}  // namespace whittle::samples
