// Dropout: the operand itself in evaluation, masked by a random op in training. The composites are not random
// themselves; bernoulli is. Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
#include <cmath>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "tensor/shape.h"

namespace whittle {
namespace {

using namespace aten;

/// Whether the call drops anything: in training, with a probability that is not 0.
bool drops(const Arguments<V>& a) {
    const double p = a.number("p");
    if (!(p >= 0 && p <= 1)) throw Error(a.schema().name + ": found p=" + std::to_string(p) + ", expected 0 to 1");
    return p != 0 && (!a.has("train") || a.boolean("train"));
}

CallResults decompose_dropout(const Call& c) {
    const V input = c.tensor("input");
    if (!drops(c)) return alias(input);
    return native_dropout(input, c.number("p"), true)[0];
}

/// Kept with probability 1 - p and then multiplied by 1 / (1 - p); the mask says which elements were.
CallResults decompose_native_dropout(const Call& c) {
    const V input = c.tensor("input");
    if (!drops(c)) {
        const V ones = full_like(input, true, DType::boolean);
        return {own_copy(input), ones};
    }
    const double p = c.number("p");
    const V kept = bernoulli(input, 1 - p);
    const V mask = _to_copy(kept, DType::boolean);
    const V masked = input * kept;
    return {masked * (p == 1 ? 0.0 : 1 / (1 - p)), mask};
}

/// 1 with probability 1 - p, for each element or for each channel, whose sizes broadcast.
V kept_noise(const V& input, double p, bool channels) {
    if (!channels) return bernoulli(input, 1 - p);
    if (input.rank() < 2)
        throw Error("dropout of channels: found an operand of sizes " + to_string(input.sizes()) +
                    ", expected at least 2 dimensions");
    Ints sizes(static_cast<std::size_t>(input.rank()), 1);
    sizes[0] = input.size(0), sizes[1] = input.size(1);
    return bernoulli(new_zeros(input, sizes), 1 - p);
}

CallResults decompose_feature_dropout(const Call& c) {
    const V input = c.tensor("input");
    if (!drops(c)) return alias(input);
    const double p = c.number("p");
    return p == 1 ? input * 0.0 : input * (kept_noise(input, p, true) / (1 - p));
}

/// What is dropped becomes the least value of selu, and all is scaled so that mean and variance stay.
template <bool kChannels>
CallResults decompose_alpha_dropout(const Call& c) {
    const V input = c.tensor("input");
    if (!drops(c)) return alias(input);
    const double p = c.number("p"), alpha = 1.7580993408473766;
    if (p == 1) return input * 0.0;
    const double scale = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
    const V kept = kept_noise(input, p, kChannels);
    const V shift = (kept + -1) * (alpha * scale) + alpha * scale * p;
    return input * (kept * scale) + shift;
}

}  // namespace

std::span<const OpDef> dropout_ops() {
    static const OpDef ops[] = {
        composite("dropout(Tensor input, float p, bool train) -> Tensor",
                  "native_dropout's first result in training, the operand itself in evaluation: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
                  kFloating, decompose_dropout),
        composite(
            "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
            "elements zeroed with probability p, the rest scaled by 1 / (1 - p), and a mask of the kept elements: "
            "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
            kFloating, decompose_native_dropout),
        composite("feature_dropout(Tensor input, float p, bool train) -> Tensor",
                  "whole channels zeroed with probability p in training, the operand itself in evaluation: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout2d.html",
                  kFloating, decompose_feature_dropout),
        composite("alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                  "dropout that keeps mean and variance in training, the operand itself in evaluation: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.functional.alpha_dropout.html",
                  kFloating, decompose_alpha_dropout<false>),
        composite("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                  "alpha_dropout of whole channels: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.functional.feature_alpha_dropout.html",
                  kFloating, decompose_alpha_dropout<true>),
    };
    return ops;
}

}  // namespace whittle
