#include "ops/samples/onnx/shared.h"

#include <algorithm>

#include "ops/onnx/opset.h"

namespace whittle::samples {

Sample at_opset(std::int64_t opset, const std::string& label, const Operands& operands, Kwargs kwargs,
                const std::vector<std::size_t>& constants) {
    Sample sample{.label = label, .tensors = {}, .kwargs = std::move(kwargs), .opset_imports = {{"", opset}}};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::size_t position = sample.tensors.size();
        sample.args.push_back(operands[i] ? t(static_cast<int>(position)) : Arg());
        if (operands[i]) sample.tensors.push_back(*operands[i]);
        if (std::find(constants.begin(), constants.end(), i) != constants.end()) sample.constants.push_back(position);
    }
    return sample;
}

Sample list_at_opset(std::int64_t opset, const std::string& label, const Operands& operands, Kwargs kwargs) {
    Sample sample = at_opset(opset, label, operands, std::move(kwargs));
    sample.args = {Arg(std::exchange(sample.args, {}))};
    return sample;
}

Samples unary_samples(DType dtype) {
    return {at_opset(kMaxOpset, "ramp", {ramp(dtype, {2, 3, 4})}), at_opset(kMaxOpset, "0-d", {scalar(dtype, 1)}),
            at_opset(kMaxOpset, "empty", {Tensor(dtype, {2, 0})}), at_opset(kMaxOpset, "special", {special(dtype)})};
}

Samples unit_samples(DType dtype) { return {at_opset(kMaxOpset, "unit", {uniform(dtype, {2, 3, 4}, 0.05, 0.95)})}; }

Samples binary_samples(DType dtype) {
    const Tensor a = ramp(dtype, {2, 3, 4}), b = values(dtype, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, {3, 4});
    return {at_opset(kMaxOpset, "same", {a, uniform(dtype, {2, 3, 4}, 1, 5)}), at_opset(kMaxOpset, "broadcast", {a, b}),
            at_opset(kMaxOpset, "both broadcast", {ramp(dtype, {3, 1}), uniform(dtype, {2, 1, 4}, 1, 5)}),
            at_opset(kMaxOpset, "0-d", {a, scalar(dtype, 2)})};
}

}  // namespace whittle::samples
