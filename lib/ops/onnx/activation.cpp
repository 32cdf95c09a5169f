// ONNX's activation functions.
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

CallResults onnx_leaky_relu(const Call& c) { return leaky_relu(c.tensor("X"), number32(c, "alpha")); }

CallResults onnx_elu(const Call& c) { return elu(c.tensor("X"), number32(c, "alpha")); }

/// gamma * (alpha * e^x - alpha) below 0, gamma * x above: ATen's elu with a scale.
CallResults onnx_selu(const Call& c) { return elu(c.tensor("X"), number32(c, "alpha"), number32(c, "gamma")); }

CallResults onnx_celu(const Call& c) { return celu(c.tensor("X"), number32(c, "alpha")); }

/// slope * x below 0; the slope broadcasts to x, not the other way round.
CallResults onnx_prelu(const Call& c) {
    const V x = c.tensor("X"), slope = c.tensor("slope");
    const V scaled = x * slope;
    if (scaled.sizes() != x.sizes())
        throw Error("found a slope of sizes " + to_string(slope.sizes()) + ", expected sizes that broadcast to " +
                    to_string(x.sizes()) + ", the sizes of X");
    return where(lt(x, 0.0), scaled, x);
}

/// alpha * x + beta between 0 and 1.
V clamped_line(const V& x, double alpha, double beta) { return clamp(x * alpha + beta, 0.0, 1.0); }

CallResults hard_sigmoid(const Call& c) {
    return clamped_line(c.tensor("X"), number32(c, "alpha"), number32(c, "beta"));
}

/// x HardSigmoid(x); ATen's own divides last, and six times a large x is infinite.
CallResults hard_swish(const Call& c) {
    const V x = c.tensor("X");
    return x * clamped_line(x, 1 / 6., 0.5);
}

/// x sigmoid(alpha x)
CallResults swish(const Call& c) {
    const V x = c.tensor("X");
    return x * sigmoid(x * number32(c, "alpha"));
}

/// log(1 + e^x)
CallResults onnx_softplus(const Call& c) { return softplus(c.tensor("X")); }

/// x / (1 + |x|)
CallResults softsign(const Call& c) {
    const V x = c.tensor("input");
    return x / (abs(x) + 1.0);
}

/// x where it is above alpha, else 0.
CallResults thresholded_relu(const Call& c) {
    const V x = c.tensor("X");
    return keep(gt(x, number32(c, "alpha")), x);
}

/// x + bias below -lambd, x - bias above lambd, else 0.
CallResults shrink(const Call& c) {
    const V x = c.tensor("input");
    const double bias = number32(c, "bias"), lambd = number32(c, "lambd");
    const V above = keep(gt(x, lambd), x - bias);
    return where(lt(x, -lambd), x + bias, above);
}

/// x times the normal distribution up to x.
CallResults onnx_gelu(const Call& c) {
    const std::string approximate = c.text("approximate");
    if (approximate != "none" && approximate != "tanh")
        throw Error("found approximate '" + approximate + "', expected 'none' or 'tanh'");
    return gelu(c.tensor("X"), approximate);
}

constexpr OpDef kActivationOps[] = {
    composite("Gelu(Tensor X, *, str approximate=\"none\") -> Tensor",
              "x times the normal distribution up to x, exactly or through tanh", kFloating, onnx_gelu),
    composite("Mish(Tensor X) -> Tensor", "x tanh(log(1 + e^x))", kFloating, same_as_unary<mish>),
    composite("Relu(Tensor X) -> Tensor", "max(x, 0)", kNumbers, same_as_unary<relu>),
    composite("LeakyRelu(Tensor X, *, float alpha=0.01) -> Tensor", "x, but alpha x below 0", kFloating,
              onnx_leaky_relu),
    composite("Elu(Tensor X, *, float alpha=1.0) -> Tensor", "x, but alpha (e^x - 1) below 0", kFloating, onnx_elu),
    composite(
        "Selu(Tensor X, *, float alpha=1.67326319217681884765625, float gamma=1.05070102214813232421875) -> Tensor",
        "The scaled Elu that keeps mean and variance", kFloating, onnx_selu),
    composite("Celu(Tensor X, *, float alpha=1.0) -> Tensor", "x, but alpha (e^(x / alpha) - 1) below 0", kFloating,
              onnx_celu),
    composite("PRelu(Tensor X, Tensor slope) -> Tensor", "x, but slope x below 0, where the slope is a tensor",
              kFloating, onnx_prelu),
    composite("Sigmoid(Tensor X) -> Tensor", "1 / (1 + e^-x)", kFloating, same_as_unary<sigmoid>),
    composite("HardSigmoid(Tensor X, *, float alpha=0.2, float beta=0.5) -> Tensor", "alpha x + beta, clamped to 0 … 1",
              kFloating, hard_sigmoid),
    composite("HardSwish(Tensor X) -> Tensor", "x times (x / 6 + 1 / 2), where the sum is clamped to 0 … 1", kFloating,
              hard_swish),
    composite("Swish(Tensor X, *, float alpha=1.0) -> Tensor", "x / (1 + e^-(alpha x))", kFloating, swish),
    composite("Softplus(Tensor X) -> Tensor", "log(1 + e^x)", kFloating, onnx_softplus),
    composite("Softsign(Tensor input) -> Tensor", "x / (1 + |x|)", kFloating, softsign),
    composite("ThresholdedRelu(Tensor X, *, float alpha=1.0) -> Tensor", "x above alpha, else 0", kFloating,
              thresholded_relu),
    composite("Shrink(Tensor input, *, float bias=0.0, float lambd=0.5) -> Tensor",
              "x moved toward 0 by bias; 0 if |x| is at most lambd", kFloating, shrink),
};

}  // namespace

std::span<const OpDef> onnx_activation_ops() { return kActivationOps; }

}  // namespace whittle
