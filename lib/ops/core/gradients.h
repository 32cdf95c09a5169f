// Gradients: what an op's `grad` is given and what it answers: the vector-Jacobian product of one call, as nodes of
// a graph. A rule reads like a line of ATen's derivatives.yaml.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/core/value.h"

namespace whittle {

class Gradients : public Call {
  public:
    /// The gradient that flows into one operand of the call.
    struct Part {
        NodeRef operand;
        V gradient;
    };
    using Needed = std::function<bool(NodeRef operand)>;

    /// `results` are the call's, `grads` theirs, one each: nothing where no output depends on the result. `needed` says
    /// whether somebody asks for an operand's gradient. `results` and `grads` outlive this. `call` is what Call is made
    /// of.
    template <class... CallArguments>
    Gradients(const Vs& results, const std::vector<OptionalV>& grads, Needed needed, GraphBuilder& builder,
              const CallArguments&... call)
        : Call(builder, call...), results_(results), grads_(grads), needed_(std::move(needed)) {}

    const V& result(std::size_t index = 0) const { return results_.at(index); }
    std::size_t result_count() const { return results_.size(); }
    /// Said by rules that hold for complex numbers, too: they conjugate what they multiply a gradient by. It is
    /// PyTorch's: of a real loss, in the direction of its steepest ascent, the gradients by the real and by the
    /// imaginary part as one number. Others refuse complex numbers by name.
    /// https://pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
    void takes_complex() { takes_complex_ = true; }

    /// Of a result, with its sizes and dtype; zeros where nothing depends on it. Throws Error for complex numbers where
    /// the rule does not take them.
    V grad(std::size_t index = 0) const;
    OptionalV grad_if_any(std::size_t index) const { return grads_.at(index); }

    /// Whether the parameter is a floating or complex tensor whose gradient is asked for. Rules compute nothing else.
    bool needed(std::string_view parameter) const;
    bool needed(const V& operand) const;
    /// The gradient of a parameter. Dimensions along which the operand was broadcast are summed, the dtype becomes the
    /// operand's: of real operands the real part counts. Nothing happens where it is not needed. Throws Error when the
    /// sizes do not fit.
    void set(std::string_view parameter, const V& gradient);
    /// Of one tensor of a list, or of any operand.
    void set(const V& operand, const V& gradient);
    /// The conjugate of a Tensor parameter, which may have been given as a number.
    Arg conjugate(std::string_view name) const;

    const std::vector<Part>& parts() const { return parts_; }

  private:
    /// Nothing for a parameter that is none or a number.
    OptionalV tensor_if_any(std::string_view parameter) const;
    /// Throws Error unless the rule takes them.
    void check(DType dtype) const;

    const Vs& results_;
    const std::vector<OptionalV>& grads_;
    Needed needed_;
    std::vector<Part> parts_;
    bool takes_complex_ = false;
};
/// What the rule of a function of "self" alone is a formula of: the gradient of its result, self, and the result. The
/// formula holds for complex numbers, too, where the op takes them: it conjugates what it multiplies g by.
struct OfSelf {
    V g, x, y;
    const Gradients& call;
};

/// Of the call, for rules that refuse complex numbers.
inline OfSelf of_self(const Gradients& call) { return {call.grad(), call.tensor("self"), call.result(), call}; }

/// An op's vector-Jacobian product: null where there is none.
class GradientRule {
  public:
    using General = void (*)(Gradients&);
    using Formula = V (*)(const OfSelf&);  ///< the gradient of self

    constexpr GradientRule() = default;
    constexpr GradientRule(std::nullptr_t) {}
    constexpr GradientRule(General rule) : general_(rule) {}
    constexpr GradientRule(Formula rule) : formula_(rule) {}
    template <class Lambda>
    requires std::is_class_v<Lambda> && std::convertible_to<Lambda, Formula>
    constexpr GradientRule(Lambda rule) : formula_(rule) {}
    template <class Lambda>
    requires std::is_class_v<Lambda> && std::convertible_to<Lambda, General>
    constexpr GradientRule(Lambda rule) : general_(rule) {}

    explicit constexpr operator bool() const { return general_ || formula_; }
    bool operator==(const GradientRule&) const = default;
    void operator()(Gradients& call) const;

  private:
    General general_ = nullptr;
    Formula formula_ = nullptr;
};

/// The rule of ops no result of which changes smoothly with an operand: comparisons, positions, bits, sizes, new
/// values, and of detach. Their results require no gradient, which is another thing than a gradient of zero.
void no_gradient(Gradients& call);
/// The rule of steps (sign, floor, round …): the gradient is zero, also where they jump.
void zero_gradient(Gradients& call);

/// The value summed over the dimensions that broadcasting added to `sizes` or stretched. Throws Error when it does not
/// come of broadcasting `sizes`.
V sum_to_size(const V& value, const Sizes& sizes);

}  // namespace whittle
