// ONNX's activation functions.
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

Results leaky_relu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.leaky_relu.default", op.tensor("X"), op.number("alpha")).ref};
}

Results elu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.elu.default", op.tensor("X"), op.number("alpha")).ref};
}

/// gamma * (alpha * e^x - alpha) below 0, gamma * x above: ATen's elu with a scale.
Results selu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.elu.default", op.tensor("X"), op.number("alpha"), op.number("gamma")).ref};
}

Results celu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.celu.default", op.tensor("X"), op.number("alpha")).ref};
}

/// slope * x below 0; the slope broadcasts to x, not the other way round.
Results prelu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X"), slope = op.tensor("slope");
    const NodeValue scaled = op("aten.mul.Tensor", x, slope);
    if (scaled.meta.sizes != x.meta.sizes)
        throw Error("found a slope of sizes " + to_string(slope.meta.sizes) + ", expected sizes that broadcast to " +
                    to_string(x.meta.sizes) + ", the sizes of X");
    return {op("aten.where.self", op("aten.lt.Scalar", x, 0.0), scaled, x).ref};
}

/// alpha * x + beta between 0 and 1.
NodeValue clamped_line(const Rewrite& op, const NodeValue& x, double alpha, double beta) {
    return op("aten.clamp.default", op("aten.add.Tensor", op("aten.mul.Tensor", x, alpha), beta), 0.0, 1.0);
}

Results hard_sigmoid(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {clamped_line(op, op.tensor("X"), op.number("alpha"), op.number("beta")).ref};
}

/// x HardSigmoid(x); ATen's own divides last, and six times a large x is infinite.
Results hard_swish(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    return {op("aten.mul.Tensor", x, clamped_line(op, x, 1 / 6., 0.5)).ref};
}

/// x sigmoid(alpha x)
Results swish(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    return {op("aten.mul.Tensor", x, op("aten.sigmoid.default", op("aten.mul.Tensor", x, op.number("alpha")))).ref};
}

/// log(1 + e^x)
Results softplus(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.softplus.default", op.tensor("X")).ref};
}

/// x / (1 + |x|)
Results softsign(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("input");
    return {op("aten.div.Tensor", x, op("aten.add.Tensor", op("aten.abs.default", x), 1.0)).ref};
}

/// x where it is above alpha, else 0.
Results thresholded_relu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X"), zero = op.full({}, Scalar(0.0), x.meta.dtype);
    return {op("aten.where.self", op("aten.gt.Scalar", x, op.number("alpha")), x, zero).ref};
}

/// x + bias below -lambd, x - bias above lambd, else 0.
Results shrink(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("input"), zero = op.full({}, Scalar(0.0), x.meta.dtype);
    const double bias = op.number("bias"), lambd = op.number("lambd");
    const NodeValue above = op("aten.where.self", op("aten.gt.Scalar", x, lambd), op("aten.sub.Tensor", x, bias), zero);
    return {op("aten.where.self", op("aten.lt.Scalar", x, -lambd), op("aten.add.Tensor", x, bias), above).ref};
}

/// x times the normal distribution up to x.
Results gelu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const std::string approximate = arguments.text("approximate");
    if (approximate != "none" && approximate != "tanh")
        throw Error("found approximate '" + approximate + "', expected none or tanh");
    return {builder.call("aten.gelu.default", {arg(op.tensor("X"))}, {{"approximate", Arg(approximate)}}).ref};
}

constexpr OpDef kActivationOps[] = {
    {.name = "onnx.Gelu",
     .doc = "x times the normal distribution up to x, exactly or through tanh. onnx Operators.md#Gelu",
     .schema = "Gelu(Tensor X, *, str approximate=\"none\") -> Tensor",
     .dtypes = kFloating,
     .decompose = gelu},
    {.name = "onnx.Mish",
     .doc = "x tanh(log(1 + e^x)). onnx Operators.md#Mish",
     .schema = "Mish(Tensor X) -> Tensor",
     .dtypes = kFloating,
     .decompose = same_as_unary<"aten.mish.default">},
    {.name = "onnx.Relu",
     .doc = "max(x, 0). onnx Operators.md#Relu",
     .schema = "Relu(Tensor X) -> Tensor",
     .dtypes = kNumbers,
     .decompose = same_as_unary<"aten.relu.default">},
    {.name = "onnx.LeakyRelu",
     .doc = "alpha x below 0. onnx Operators.md#LeakyRelu",
     .schema = "LeakyRelu(Tensor X, *, float alpha=0.01) -> Tensor",
     .dtypes = kFloating,
     .decompose = leaky_relu},
    {.name = "onnx.Elu",
     .doc = "alpha (e^x - 1) below 0. onnx Operators.md#Elu",
     .schema = "Elu(Tensor X, *, float alpha=1.0) -> Tensor",
     .dtypes = kFloating,
     .decompose = elu},
    {.name = "onnx.Selu",
     .doc = "The scaled Elu that keeps mean and variance. onnx Operators.md#Selu",
     .schema = "Selu(Tensor X, *, float alpha=1.67326319217681884765625, float gamma=1.05070102214813232421875) "
               "-> Tensor",
     .dtypes = kFloating,
     .decompose = selu},
    {.name = "onnx.Celu",
     .doc = "alpha (e^(x / alpha) - 1) below 0. onnx Operators.md#Celu",
     .schema = "Celu(Tensor X, *, float alpha=1.0) -> Tensor",
     .dtypes = kFloating,
     .decompose = celu},
    {.name = "onnx.PRelu",
     .doc = "slope x below 0, the slope a tensor. onnx Operators.md#PRelu",
     .schema = "PRelu(Tensor X, Tensor slope) -> Tensor",
     .dtypes = kFloating,
     .decompose = prelu},
    {.name = "onnx.Sigmoid",
     .doc = "1 / (1 + e^-x). onnx Operators.md#Sigmoid",
     .schema = "Sigmoid(Tensor X) -> Tensor",
     .dtypes = kFloating,
     .decompose = same_as_unary<"aten.sigmoid.default">},
    {.name = "onnx.HardSigmoid",
     .doc = "alpha x + beta between 0 and 1. onnx Operators.md#HardSigmoid",
     .schema = "HardSigmoid(Tensor X, *, float alpha=0.2, float beta=0.5) -> Tensor",
     .dtypes = kFloating,
     .decompose = hard_sigmoid},
    {.name = "onnx.HardSwish",
     .doc = "x times x / 6 + 1 / 2 between 0 and 1. onnx Operators.md#HardSwish",
     .schema = "HardSwish(Tensor X) -> Tensor",
     .dtypes = kFloating,
     .decompose = hard_swish},
    {.name = "onnx.Swish",
     .doc = "x / (1 + e^-(alpha x)). onnx Operators.md#Swish",
     .schema = "Swish(Tensor X, *, float alpha=1.0) -> Tensor",
     .dtypes = kFloating,
     .decompose = swish},
    {.name = "onnx.Softplus",
     .doc = "log(1 + e^x). onnx Operators.md#Softplus",
     .schema = "Softplus(Tensor X) -> Tensor",
     .dtypes = kFloating,
     .decompose = softplus},
    {.name = "onnx.Softsign",
     .doc = "x / (1 + |x|). onnx Operators.md#Softsign",
     .schema = "Softsign(Tensor input) -> Tensor",
     .dtypes = kFloating,
     .decompose = softsign},
    {.name = "onnx.ThresholdedRelu",
     .doc = "x above alpha, else 0. onnx Operators.md#ThresholdedRelu",
     .schema = "ThresholdedRelu(Tensor X, *, float alpha=1.0) -> Tensor",
     .dtypes = kFloating,
     .decompose = thresholded_relu},
    {.name = "onnx.Shrink",
     .doc = "Towards 0 by bias, 0 within lambd of it. onnx Operators.md#Shrink",
     .schema = "Shrink(Tensor input, *, float bias=0.0, float lambd=0.5) -> Tensor",
     .dtypes = kFloating,
     .decompose = shrink},
};

}  // namespace

std::span<const OpDef> onnx_activation_ops() { return kActivationOps; }

}  // namespace whittle
