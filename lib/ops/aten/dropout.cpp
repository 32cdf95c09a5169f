// Dropout: the operand itself in evaluation, masked by a random op in training. The composites are not random
// themselves; bernoulli is. Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

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

CallResults decompose_evaluation(const Call& c) {
    if (drops(c))
        throw Error(c.schema().name + ": found dropout in training, expected evaluation: dropout is random",
                    "export the model in evaluation mode");
    return alias(c.tensor("input"));
}

}  // namespace

std::span<const OpDef> dropout_ops() {
    static const OpDef ops[] = {
        {
            .doc = "native_dropout's first result in training, the operand itself in evaluation: "
                   "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
            .schema = "dropout(Tensor input, float p, bool train) -> Tensor",
            .dtypes = kFloating,
            .decompose = decompose_dropout,
        },
        {
            .doc = "elements zeroed with probability p, the rest scaled by 1 / (1 - p), and the mask of those kept: "
                   "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
            .schema = "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
            .dtypes = kFloating,
            .decompose = decompose_native_dropout,
        },
        {
            .doc = "the operand itself in evaluation; training is refused: "
                   "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout2d.html",
            .schema = "feature_dropout(Tensor input, float p, bool train) -> Tensor",
            .dtypes = kFloating,
            .decompose = decompose_evaluation,
        },
        {
            .doc = "the operand itself in evaluation; training is refused: "
                   "https://pytorch.org/docs/stable/generated/torch.nn.functional.alpha_dropout.html",
            .schema = "alpha_dropout(Tensor input, float p, bool train) -> Tensor",
            .dtypes = kFloating,
            .decompose = decompose_evaluation,
        },
    };
    return ops;
}

}  // namespace whittle
