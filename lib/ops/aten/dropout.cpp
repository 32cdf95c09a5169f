// Dropout: the operand itself in evaluation, masked by a random op in training. The composites are not random
// themselves; bernoulli is. Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/own_copy.h"

namespace whittle {

namespace {

/// Whether the call drops anything: in training, with a probability that is not 0.
bool drops(const Arguments<NodeValue>& a) {
    const double p = a.number("p");
    if (!(p >= 0 && p <= 1)) throw Error(a.schema().name + ": found p=" + std::to_string(p) + ", expected 0 to 1");
    return p != 0 && (!a.has("train") || a.boolean("train"));
}

std::vector<NodeRef> decompose_dropout(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue input = a.tensor("input");
    if (!drops(a)) return {b.call("aten.alias.default", {arg(input)}).ref};
    return {b.call_multi("aten.native_dropout.default", {arg(input), a.number("p"), true})[0].ref};
}

/// Kept with probability 1 - p and then multiplied by 1 / (1 - p); the mask says which elements were.
std::vector<NodeRef> decompose_native_dropout(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue input = a.tensor("input");
    if (!drops(a)) {
        const NodeValue ones = b.call("aten.full_like.default", {arg(input), true}, {{"dtype", DType::boolean}});
        return {own_copy(b, input).ref, ones.ref};
    }
    const double p = a.number("p");
    const NodeValue kept = b.call("aten.bernoulli.p", {arg(input), 1 - p});
    const NodeValue mask = b.call("aten._to_copy.default", {arg(kept)}, {{"dtype", DType::boolean}});
    const NodeValue masked = b.call("aten.mul.Tensor", {arg(input), arg(kept)});
    return {b.call("aten.mul.Tensor", {arg(masked), p == 1 ? 0.0 : 1 / (1 - p)}).ref, mask.ref};
}

std::vector<NodeRef> decompose_evaluation(GraphBuilder& b, const Arguments<NodeValue>& a) {
    if (drops(a))
        throw Error(a.schema().name + ": found dropout in training, expected evaluation: dropout is random",
                    "export the model in evaluation mode");
    return {b.call("aten.alias.default", {arg(a.tensor("input"))}).ref};
}

}  // namespace

std::span<const OpDef> dropout_ops() {
    static const OpDef ops[] = {
        {
            .name = "aten.dropout.default",
            .doc = "native_dropout's first result in training, the operand itself in evaluation: "
                   "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
            .schema = "dropout(Tensor input, float p, bool train) -> Tensor",
            .dtypes = kFloating,
            .decompose = decompose_dropout,
        },
        {
            .name = "aten.native_dropout.default",
            .doc = "elements zeroed with probability p, the rest scaled by 1 / (1 - p), and the mask of those kept: "
                   "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
            .schema = "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
            .dtypes = kFloating,
            .decompose = decompose_native_dropout,
        },
        {
            .name = "aten.feature_dropout.default",
            .doc = "the operand itself in evaluation; training is refused: "
                   "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout2d.html",
            .schema = "feature_dropout(Tensor input, float p, bool train) -> Tensor",
            .dtypes = kFloating,
            .decompose = decompose_evaluation,
        },
        {
            .name = "aten.alpha_dropout.default",
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
