// Samples of lib/ops/aten/batch_norm.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Weight, bias, mean and variance for 3 channels.
std::vector<Tensor> channel_parameters(DType dtype) {
    return {uniform(dtype, {3}, 0.5, 2), random(dtype, {3}, 2), random(dtype, {3}, 3),
            strided(uniform(dtype, {3}, 0.1, 4))};
}

std::vector<std::pair<std::string, Tensor>> channel_inputs(DType dtype) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    return {{"images", random(dtype, {2, 3, 4, 2}, 7)},
            {"no area", random(dtype, {4, 3}, 8)},
            {"sequence", transposed(random(dtype, {2, 3, 5}, 9))},
            {"negative stride", negative(random(dtype, {2, 3, 5}, 9))},
            {"expanded", expanded(random(dtype, {3, 1}, 9), {2, 3, 4})},
            {"special", values(dtype, {1, nan, 2, 3, inf, -1, 0, -0.0, 5, 6, 7, 8}, {2, 3, 2})}};
}

/// input, weight, bias, statistics, then `rest`: with and without the parameters.
Samples with_statistics(DType dtype, const ArgList& rest) {
    const std::vector<Tensor> p = channel_parameters(dtype);
    const ArgList affine = joined({t(0), t(1), t(2), t(3), t(4)}, rest);
    const ArgList plain = joined({t(0), Arg(), Arg(), t(1), t(2)}, rest);
    Samples result;
    for (const auto& [label, x] : channel_inputs(dtype)) {
        result.push_back({label, {x, p[0], p[1], p[2], p[3]}, affine});
        result.push_back({label + " no parameters", {x, p[2], p[3]}, plain});
    }
    result.push_back({"empty", {ramp(dtype, {0, 3, 2}), p[0], p[1], p[2], p[3]}, affine});
    return result;
}

/// input, weight, bias, then `rest`.
Samples without_statistics(DType dtype, const ArgList& rest) {
    const std::vector<Tensor> p = channel_parameters(dtype);
    const ArgList affine = joined({t(0), t(1), t(2)}, rest), plain = joined({t(0), Arg(), Arg()}, rest);
    Samples result;
    for (const auto& [label, x] : channel_inputs(dtype)) {
        result.push_back({label + " batch", {x, p[0], p[1]}, affine});
        result.push_back({label + " batch, no parameters", {x}, plain});
    }
    return result;
}

Samples inference_samples(DType dtype) { return with_statistics(dtype, {Arg(0.1), Arg(1e-5)}); }
Samples batch_samples(DType dtype) { return without_statistics(dtype, {Arg(true), Arg(0.1), Arg(1e-3)}); }
Samples native_samples(DType dtype) {
    return with_statistics(dtype, {Arg(false), Arg(0.1), Arg(1e-5)}) +
           without_statistics(dtype, {Arg(), Arg(), Arg(true), Arg(0.1), Arg(1e-3)});
}
Samples batch_norm_samples(DType dtype) {
    Samples result = native_samples(dtype);
    for (Sample& sample : result) sample.args.emplace_back(false);
    return result;
}
Samples instance_samples(DType dtype) {
    return with_statistics(dtype, {Arg(false), Arg(0.1), Arg(1e-5), Arg(false)}) +
           without_statistics(dtype, {Arg(), Arg(), Arg(true), Arg(0.1), Arg(1e-3), Arg(false)});
}

Samples functional_samples(DType dtype) {
    Samples training = with_statistics(dtype, {Arg(true), Arg(0.1), Arg(1e-3)});
    std::erase_if(training, [](const Sample& sample) { return sample.label == "empty"; });
    for (Sample& sample : training) sample.label += ", training";
    return with_statistics(dtype, {Arg(false), Arg(0.1), Arg(1e-5)}) + training;
}
Samples update_samples(DType dtype) {
    Samples result = inference_samples(dtype);
    std::erase_if(result, [](const Sample& sample) { return sample.label == "empty"; });
    return result;
}

}  // namespace

Table batch_norm_table() {
    return {{{"aten._native_batch_norm_legit_functional.default"}, functional_samples},
            {{"aten._batch_norm_with_update_functional.default"}, update_samples},
            {{"aten._batch_norm_no_update.default"}, inference_samples},
            {{"aten._native_batch_norm_legit_no_training.default"}, inference_samples},
            {{"aten._native_batch_norm_legit.no_stats"}, batch_samples},
            {{"aten.native_batch_norm.default"}, native_samples},
            {{"aten.batch_norm.default"}, batch_norm_samples},
            {{"aten.instance_norm.default"}, instance_samples}};
}

}  // namespace whittle::samples
