// CallGradients: what an op's `grad` is given and what it answers: the vector-Jacobian product of one call, as nodes of
// a graph. A rule reads like a line of ATen's derivatives.yaml.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/core/arguments.h"
#include "ops/core/builder.h"

namespace whittle {

class CallGradients {
  public:
    /// The gradient that flows into one operand of the call.
    struct Part {
        NodeRef operand;
        NodeValue gradient;
    };
    using Needed = std::function<bool(NodeRef operand)>;

    /// `results` are the call's, `grads` theirs, one each: nothing where no output depends on the result. `needed` says
    /// whether somebody asks for an operand's gradient. All outlive this.
    CallGradients(GraphBuilder& builder, const Arguments<NodeValue>& args, const std::vector<NodeValue>& results,
                  const std::vector<std::optional<NodeValue>>& grads, Needed needed);

    const Arguments<NodeValue>& args() const { return args_; }
    const NodeValue& result(std::size_t index = 0) const { return results_.at(index); }
    std::size_t result_count() const { return results_.size(); }
    /// Said by rules that hold for complex numbers, too: they conjugate what they multiply a gradient by. It is
    /// PyTorch's: of a real loss, in the direction of its steepest ascent, the gradients by the real and by the
    /// imaginary part as one number. Others refuse complex numbers by name.
    /// https://pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
    void takes_complex() { takes_complex_ = true; }

    /// Of a result, with its sizes and dtype; zeros where nothing depends on it. Throws Error for complex numbers where
    /// the rule does not take them.
    NodeValue grad(std::size_t index = 0);
    std::optional<NodeValue> grad_if_any(std::size_t index) const { return grads_.at(index); }

    /// Whether the parameter is a floating or complex tensor whose gradient is asked for. Rules compute nothing else.
    bool needed(std::string_view parameter) const;
    bool needed(const NodeValue& operand) const;
    /// The gradient of a parameter. Dimensions along which the operand was broadcast are summed, the dtype becomes the
    /// operand's: of real operands the real part counts. Nothing happens where it is not needed. Throws Error when the
    /// sizes do not fit.
    void set(std::string_view parameter, const NodeValue& gradient);
    /// Of one tensor of a list, or of any operand.
    void set(const NodeValue& operand, const NodeValue& gradient);

    const std::vector<Part>& parts() const { return parts_; }

  private:
    /// Nothing for a parameter that is none or a number.
    std::optional<NodeValue> operand(std::string_view parameter) const;

    GraphBuilder& b_;
    const Arguments<NodeValue>& args_;
    const std::vector<NodeValue>& results_;
    const std::vector<std::optional<NodeValue>>& grads_;
    /// Throws Error unless the rule takes them.
    void check(DType dtype) const;

    Needed needed_;
    std::vector<Part> parts_;
    bool takes_complex_ = false;
};

/// The rule of ops no result of which changes smoothly with an operand: comparisons, positions, bits, sizes, new
/// values, and of detach. Their results require no gradient, which is another thing than a gradient of zero.
void no_gradient(GraphBuilder& builder, CallGradients& call);
/// The rule of steps (sign, floor, round …): the gradient is zero, also where they jump.
void zero_gradient(GraphBuilder& builder, CallGradients& call);

/// The value summed over the dimensions that broadcasting added to `sizes` or stretched. Throws Error when it does not
/// come of broadcasting `sizes`.
NodeValue sum_to_size(GraphBuilder& builder, const NodeValue& value, const Sizes& sizes);

}  // namespace whittle
