// ONNX's optimizers, one step of each: Adagrad, Adam, Momentum. Their inputs are lists: all variables, then all
// gradients, then all of each further state; their outputs are the variables and the states after the step.
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// One op's arithmetic on NodeValues and numbers.
class OptimizerStep {
  public:
    explicit OptimizerStep(const Rewrite& op) : op_(op) {}

    template <class B>
    NodeValue add(const NodeValue& a, const B& b) const {
        return op_("aten.add.Tensor", a, b);
    }
    template <class B>
    NodeValue mul(const NodeValue& a, const B& b) const {
        return op_("aten.mul.Tensor", a, b);
    }
    NodeValue sub(const NodeValue& a, const NodeValue& b) const { return op_("aten.sub.Tensor", a, b); }
    NodeValue div(const NodeValue& a, const NodeValue& b) const { return op_("aten.div.Tensor", a, b); }
    NodeValue sqrt(const NodeValue& a) const { return op_("aten.sqrt.default", a); }
    /// base ** count
    NodeValue power(double base, const NodeValue& count) const { return op_("aten.pow.Scalar", base, count); }
    NodeValue one_minus(const NodeValue& a) const { return op_("aten.rsub.Scalar", a, 1.0); }
    /// `then` where the step's count is positive, else `otherwise`.
    template <class Then, class Otherwise>
    NodeValue if_positive(const NodeValue& count, const Then& then, const Otherwise& otherwise) const {
        return op_("aten.where.self", op_("aten.gt.Scalar", count, 0), then, otherwise);
    }
    /// The gradient with that of norm_coefficient / 2 * |x|^2.
    NodeValue regularized(const NodeValue& x, const NodeValue& gradient) const {
        return add(mul(x, op_.number("norm_coefficient")), gradient);
    }

  private:
    const Rewrite& op_;
};

/// The operands of one variable: X, G and the states.
std::vector<std::vector<NodeValue>> by_variable(const Rewrite& op, std::size_t kinds) {
    const std::vector<NodeValue> all = op.arguments().tensors("inputs");
    if (all.empty() || all.size() % kinds != 0)
        throw Error("found " + std::to_string(all.size()) + " inputs, expected a positive multiple of " +
                    std::to_string(kinds) + ", the number of inputs for each variable");
    const std::size_t count = all.size() / kinds;
    std::vector<std::vector<NodeValue>> variables(count);
    for (std::size_t i = 0; i < all.size(); ++i) variables[i % count].push_back(all[i]);
    return variables;
}

/// Results of all variables in the order of the outputs: each kind for all of them.
Results by_kind(const std::vector<std::vector<NodeValue>>& variables) {
    Results results;
    for (std::size_t kind = 0; kind < variables.front().size(); ++kind)
        for (const auto& variable : variables) results.push_back(variable[kind].ref);
    return results;
}

NodeValue number_like(const Rewrite& op, std::string_view name, const NodeValue& x) {
    return op.cast(op.reshape(op.tensor(name), {}), x.meta.dtype);
}

Results adagrad(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const OptimizerStep step(op);
    auto variables = by_variable(op, 3);
    for (auto& variable : variables) {
        const NodeValue x = variable[0], t = number_like(op, "T", x);
        const NodeValue decay = step.add(step.mul(t, op.number("decay_factor")), 1.0);
        const NodeValue rate = step.div(number_like(op, "R", x), decay);
        const NodeValue gradient = step.regularized(x, variable[1]);
        const NodeValue squares = step.add(variable[2], step.mul(gradient, gradient));
        const NodeValue length = step.add(step.sqrt(squares), op.number("epsilon"));
        variable = {step.sub(x, step.div(step.mul(gradient, rate), length)), squares};
    }
    return by_kind(variables);
}

Results adam(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const OptimizerStep step(op);
    const double alpha = op.number("alpha"), beta = op.number("beta");
    auto variables = by_variable(op, 4);
    for (auto& variable : variables) {
        const NodeValue x = variable[0], t = number_like(op, "T", x), given = number_like(op, "R", x);
        const NodeValue corrected = step.div(step.mul(given, step.sqrt(step.one_minus(step.power(beta, t)))),
                                             step.one_minus(step.power(alpha, t)));
        const NodeValue rate = step.if_positive(t, corrected, given);
        const NodeValue gradient = step.regularized(x, variable[1]);
        const NodeValue mean = step.add(step.mul(variable[2], alpha), step.mul(gradient, 1 - alpha));
        const NodeValue squares =
            step.add(step.mul(variable[3], beta), step.mul(step.mul(gradient, gradient), 1 - beta));
        const NodeValue length = step.add(step.sqrt(squares), op.number("epsilon"));
        const NodeValue moved = step.sub(x, step.div(step.mul(mean, rate), length));
        variable = {step.mul(moved, 1 - op.number("norm_coefficient_post")), mean, squares};
    }
    return by_kind(variables);
}

Results momentum(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const OptimizerStep step(op);
    const std::string mode = arguments.text("mode");
    if (mode != "standard" && mode != "nesterov")
        throw Error("found mode '" + mode + "', expected standard or nesterov");
    const double alpha = op.number("alpha");
    auto variables = by_variable(op, 3);
    for (auto& variable : variables) {
        const NodeValue x = variable[0], rate = number_like(op, "R", x), t = number_like(op, "T", x);
        const NodeValue weight = step.if_positive(t, op.full({}, Scalar(op.number("beta")), x.meta.dtype),
                                                  op.full({}, Scalar(1.0), x.meta.dtype));
        const NodeValue gradient = step.regularized(x, variable[1]);
        const NodeValue velocity = step.add(step.mul(variable[2], alpha), step.mul(gradient, weight));
        const NodeValue direction = mode == "standard" ? velocity : step.add(gradient, step.mul(velocity, alpha));
        variable = {step.sub(x, step.mul(direction, rate)), velocity};
    }
    return by_kind(variables);
}

constexpr DTypeSet kTrained = set_of(DType::f32) | set_of(DType::f64);

constexpr OpDef kTrainingOps[] = {
    {.name = "ai.onnx.preview.training.Adagrad",
     .doc = "A step of ADAGRAD. onnx Operators.md#ai.onnx.preview.training.Adagrad",
     .schema = "Adagrad(Tensor R, Tensor T, Tensor[] inputs, *, float decay_factor=0.0, float epsilon=1e-06, "
               "float norm_coefficient=0.0) -> Tensor[]",
     .dtypes = kTrained,
     .decompose = adagrad},
    {.name = "ai.onnx.preview.training.Adam",
     .doc = "A step of Adam. onnx Operators.md#ai.onnx.preview.training.Adam",
     .schema = "Adam(Tensor R, Tensor T, Tensor[] inputs, *, float alpha=0.9, float beta=0.999, float epsilon=1e-06, "
               "float norm_coefficient=0.0, float norm_coefficient_post=0.0) -> Tensor[]",
     .dtypes = kTrained,
     .decompose = adam},
    {.name = "ai.onnx.preview.training.Momentum",
     .doc = "A step of gradient descent with momentum. onnx Operators.md#ai.onnx.preview.training.Momentum",
     .schema = "Momentum(Tensor R, Tensor T, Tensor[] inputs, *, float alpha, float beta, str mode, "
               "float norm_coefficient) -> Tensor[]",
     .dtypes = kTrained,
     .decompose = momentum},
};

}  // namespace

std::span<const OpDef> onnx_training_ops() { return kTrainingOps; }

}  // namespace whittle
