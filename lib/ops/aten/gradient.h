// What gradient rules are written with. A rule reads like a line of ATen's derivatives.yaml, and makes the calls that
// LibTorch's autograd makes, so that joint graphs look like functorch's.
// https://github.com/pytorch/pytorch/blob/v1.13.1/tools/autograd/derivatives.yaml
#pragma once

#include <variant>

#include "ops/aten/backward.h"

namespace whittle {

/// The type of a rule, to declare many in a line.
using GradRule = void(GraphBuilder&, CallGradients&);

/// The result's, as it is: of frac, and of views and casts, whose other sizes and dtypes set() takes back.
GradRule pass_gradient;

class Rule : public Gradient {
  public:
    Rule(GraphBuilder& builder, CallGradients& call) : Gradient(builder), b(builder), c(call) {}

    NodeValue grad(std::size_t index = 0) const { return c.grad(index); }
    NodeValue result(std::size_t index = 0) const { return c.result(index); }
    NodeValue tensor(std::string_view name) const { return c.args().tensor(name); }
    /// A Tensor parameter, which may have been given as a number.
    Arg operand(std::string_view name) const {
        const std::variant<NodeValue, Scalar> value = c.args().operand(name);
        if (const NodeValue* tensor = std::get_if<NodeValue>(&value)) return arg(*tensor);
        return Arg(std::get<Scalar>(value));
    }
    Arg optional(std::string_view name) const {
        const std::optional<NodeValue> value = c.args().optional_tensor(name);
        return value ? arg(*value) : Arg();
    }
    bool needed(std::string_view name) const { return c.needed(name); }
    void set(std::string_view name, const NodeValue& gradient) const { c.set(name, gradient); }

    /// x by a number, which may be 1.
    NodeValue scaled(const NodeValue& x, const Scalar& by) const { return by.to_double() == 1 ? x : mul(x, Arg(by)); }
    NodeValue pow(const NodeValue& x, const Arg& exponent) const {
        return call("aten.pow.Tensor_Scalar", {arg(x), exponent});
    }
    NodeValue zeros_like(const NodeValue& x) const { return of("aten.zeros_like.default", x); }

    /// The conjugate of a Tensor parameter, which may have been given as a number.
    Arg conjugate(std::string_view name) const {
        const Arg given = operand(name);
        return given.node() ? arg(conj(tensor(name))) : given;
    }

  protected:
    GraphBuilder& b;
    CallGradients& c;
};

/// A rule of a function of "self" alone.
struct OfSelf : Rule {
    OfSelf(GraphBuilder& builder, CallGradients& call)
        : Rule(builder, call), g(call.grad()), x(call.args().tensor("self")), y(call.result()) {}
    void set(const NodeValue& gradient) const { c.set("self", gradient); }

    NodeValue g, x, y;
};

/// A rule that holds for complex numbers, too: what a gradient is multiplied by is conjugated, or it is moved and added
/// only.
template <class R>
struct OfComplex : R {
    template <class... Rest>
    OfComplex(GraphBuilder& builder, CallGradients& call, const Rest&... rest)
        : R(builder, (call.takes_complex(), call), rest...) {}
};
using LinearOfSelf = OfComplex<OfSelf>;
using Linear = OfComplex<Rule>;

}  // namespace whittle
