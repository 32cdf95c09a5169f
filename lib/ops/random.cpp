// Ops that draw random numbers in training and are something plain in evaluation: dropout. Training is refused: there
// is no generator that a recorded run could be repeated with. Definition:
// https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
#include "base/error.h"
#include "ops/families.h"
#include "ops/samples.h"

namespace whittle {

namespace {

using samples::t;

void refuse_training(const Arguments<NodeValue>& arguments) {
    const double p = arguments.number("p");
    if (p < 0 || p > 1)
        throw Error("aten." + arguments.schema().name + ": p is " + std::to_string(p) + ", expected 0 to 1");
    if (arguments.has("train") && arguments.boolean("train") && p != 0)
        throw Error("aten." + arguments.schema().name + ": dropout in training is random",
                    "export the model in evaluation mode");
}

/// The input itself.
std::vector<NodeRef> decompose_dropout(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    refuse_training(arguments);
    return {builder.call("aten.alias.default", {arguments.tensor("input").ref}).ref};
}

/// The input itself and a mask that keeps everything.
std::vector<NodeRef> decompose_native(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    refuse_training(arguments);
    const NodeValue input = arguments.tensor("input");
    const NodeValue ones =
        builder.call("aten.full_like.default", {input.ref, Arg(true)}, {{"dtype", Arg(DType::boolean)}});
    return {builder.call("aten.alias.default", {input.ref}).ref, ones.ref};
}

std::vector<Sample> dropout_samples(DType dtype) {
    std::vector<Sample> result = samples::unary(dtype, {Arg(0.5), Arg(false)});
    result.push_back({"p 0", {samples::ramp(dtype, {2, 3})}, {t(0), Arg(0.0), Arg(true)}});
    return result;
}

OpDef dropout_op(std::string_view name, std::string_view schema) {
    return {.name = name,
            .doc = "the input itself in evaluation; training is refused",
            .schema = schema,
            .dtypes = kFloating,
            .decompose = decompose_dropout,
            .samples = dropout_samples};
}

const OpDef kRandom[] = {
    dropout_op("aten.dropout.default", "dropout(Tensor input, float p, bool train) -> Tensor"),
    dropout_op("aten.feature_dropout.default", "feature_dropout(Tensor input, float p, bool train) -> Tensor"),
    dropout_op("aten.alpha_dropout.default", "alpha_dropout(Tensor input, float p, bool train) -> Tensor"),
    {.name = "aten.native_dropout.default",
     .doc = "the input itself and a mask of ones in evaluation; training is refused",
     .schema = "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = decompose_native,
     .samples = dropout_samples},
};

}  // namespace

std::span<const OpDef> random_ops() { return kRandom; }

}  // namespace whittle
