// ONNX's optimizers, one step of each: Adagrad, Adam, Momentum. Their inputs are lists: all variables, then all
// gradients, then all of each further state; their outputs are the variables and the states after the step.
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// The operands of one variable: X, G and the states.
std::vector<Vs> by_variable(const Call& c, std::size_t kinds) {
    const Vs all = c.tensors("inputs");
    if (all.empty() || all.size() % kinds != 0)
        throw Error("found " + std::to_string(all.size()) + " inputs, expected a positive multiple of " +
                    std::to_string(kinds) + ", the number of inputs for each variable");
    const std::size_t count = all.size() / kinds;
    std::vector<Vs> variables(count);
    for (std::size_t i = 0; i < all.size(); ++i) variables[i % count].push_back(all[i]);
    return variables;
}

/// Results of all variables in the order of the outputs: each kind for all of them.
Vs by_kind(const std::vector<Vs>& variables) {
    Vs results;
    for (std::size_t kind = 0; kind < variables.front().size(); ++kind)
        for (const auto& variable : variables) results.push_back(variable[kind]);
    return results;
}

V number_like(const Call& c, std::string_view name, const V& x) {
    return cast(reshaped(c.tensor(name), {}), x.dtype());
}

/// The gradient with that of norm_coefficient / 2 * |x|^2.
V regularized(const Call& c, const V& x, const V& gradient) { return x * number32(c, "norm_coefficient") + gradient; }

CallResults adagrad(const Call& c) {
    auto variables = by_variable(c, 3);
    for (auto& variable : variables) {
        const V x = variable[0], t = number_like(c, "T", x);
        const V rate = number_like(c, "R", x) / (t * number32(c, "decay_factor") + 1.0);
        const V gradient = regularized(c, x, variable[1]);
        const V squares = variable[2] + gradient * gradient;
        variable = {x - gradient * rate / (sqrt(squares) + number32(c, "epsilon")), squares};
    }
    return by_kind(variables);
}

CallResults adam(const Call& c) {
    const double alpha = number32(c, "alpha"), beta = number32(c, "beta");
    auto variables = by_variable(c, 4);
    for (auto& variable : variables) {
        const V x = variable[0], t = number_like(c, "T", x), given = number_like(c, "R", x);
        const V corrected = given * sqrt(rsub(pow(beta, t), 1.0)) / rsub(pow(alpha, t), 1.0);
        const V rate = where(gt(t, 0), corrected, given);
        const V gradient = regularized(c, x, variable[1]);
        const V mean = variable[2] * alpha + gradient * (1 - alpha);
        const V squares = variable[3] * beta + gradient * gradient * (1 - beta);
        const V moved = x - mean * rate / (sqrt(squares) + number32(c, "epsilon"));
        variable = {moved * (1 - number32(c, "norm_coefficient_post")), mean, squares};
    }
    return by_kind(variables);
}

CallResults momentum(const Call& c) {
    const std::string mode = c.text("mode");
    if (mode != "standard" && mode != "nesterov")
        throw Error("found mode '" + mode + "', expected 'standard' or 'nesterov'");
    const double alpha = number32(c, "alpha");
    auto variables = by_variable(c, 3);
    for (auto& variable : variables) {
        const V x = variable[0], rate = number_like(c, "R", x), t = number_like(c, "T", x);
        const V weight = where(gt(t, 0), number32(c, "beta"), full(c.builder(), {}, 1.0, x.dtype()));
        const V gradient = regularized(c, x, variable[1]);
        const V velocity = variable[2] * alpha + gradient * weight;
        const V direction = mode == "standard" ? velocity : gradient + velocity * alpha;
        variable = {x - direction * rate, velocity};
    }
    return by_kind(variables);
}

constexpr DTypeSet kTrained = set_of(DType::f32) | set_of(DType::f64);

constexpr OpDef kTrainingOps[] = {
    composite("Adagrad(Tensor R, Tensor T, Tensor[] inputs, *, float decay_factor=0.0, float epsilon=1e-06, float "
              "norm_coefficient=0.0) -> Tensor[]",
              "A step of ADAGRAD. onnx Operators.md#ai.onnx.preview.training.Adagrad", kTrained, adagrad),
    composite("Adam(Tensor R, Tensor T, Tensor[] inputs, *, float alpha=0.9, float beta=0.999, float epsilon=1e-06, "
              "float norm_coefficient=0.0, float norm_coefficient_post=0.0) -> Tensor[]",
              "A step of Adam. onnx Operators.md#ai.onnx.preview.training.Adam", kTrained, adam),
    composite("Momentum(Tensor R, Tensor T, Tensor[] inputs, *, float alpha, float beta, str mode, float "
              "norm_coefficient) -> Tensor[]",
              "A step of gradient descent with momentum. onnx Operators.md#ai.onnx.preview.training.Momentum", kTrained,
              momentum),
};

}  // namespace

std::span<const OpDef> onnx_training_ops() { return kTrainingOps; }

}  // namespace whittle
