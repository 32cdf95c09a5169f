// Functions of probability and geometry, element by element: xlogy, logaddexp, hypot, copysign, heaviside, sinc,
// nan_to_num and angles.
// Definitions: https://pytorch.org/docs/stable/special.html and torch.html#pointwise-ops; corners as ATen's CPU kernels
// have them, https://github.com/pytorch/pytorch/blob/v1.13.1/aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
#include <cmath>
#include <limits>

#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/own_copy.h"
#include "ops/core/pointwise.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

using expr::Op;

Expr absolute(const Expr& x) { return expr::unary(Op::abs, x); }
Expr larger(const Expr& a, const Expr& b) { return expr::select(a < b, b, a); }

// --- Of two operands ---

/// a log(b), 0 where a is, unless b is NaN.
struct Xlogy : FloatingFunction {
    template <Floating T>
    static T eval(T a, T b) {
        if (std::isnan(b)) return b;
        return a == 0 ? T(0) : a * std::log(b);
    }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr product = a * expr::unary(Op::log, b);
        return expr::select(is_nan(b), b, expr::select(expr::equal(a, constant(a, 0)), constant(a, 0), product));
    }
};

/// 0 below zero, 1 above, `values` at zero; 0 of NaN.
struct Heaviside : Arithmetic {
    static constexpr std::string_view right = "values";
    template <Number T>
    static T eval(T a, T b) {
        return a == 0 ? b : static_cast<T>(a > 0);
    }
    static bool eval(bool a, bool b) { return a || b; }
    static Expr lower(const Expr& a, const Expr& b) {
        if (a->dtype == DType::boolean) return a || b;
        const Expr step = expr::select(constant(a, 0) < a, constant(a, 1), constant(a, 0));
        return expr::select(expr::equal(a, constant(a, 0)), b, step);
    }
};
std::vector<ValueMeta> infer_heaviside(const Arguments<ValueMeta>& a) {
    const DType self = a.tensor("self").dtype, values = a.tensor("values").dtype;
    if (self != values)
        throw Error("heaviside: found values of dtype " + std::string(name(values)) + " for a tensor of dtype " +
                    std::string(name(self)) + ", expected equal dtypes");
    return infer_binary<Heaviside>(a);
}

/// Infinite where an operand is, whatever the other one; squares do not overflow.
struct Hypot : Arithmetic {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    template <Floating T>
    static T eval(T a, T b) {
        return std::hypot(a, b);
    }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr x = absolute(a), y = absolute(b), most = larger(x, y);
        const Expr least = expr::select(x < y, x, y), ratio = least / most;
        const Expr length = most * expr::unary(Op::sqrt, constant(a, 1) + ratio * ratio);
        const Expr finite = expr::select(expr::equal(most, constant(a, 0)), x + y, length);
        const Expr infinity = constant(a, std::numeric_limits<double>::infinity());
        const Expr nan_or_finite = expr::select(is_nan(x + y), x + y, finite);
        return expr::select(is_infinite(a) || is_infinite(b), infinity, nan_or_finite);
    }
};

/// log(exp(a) + exp(b)), the larger one taken out.
struct LogAddExp : Arithmetic {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    template <Floating T>
    static T eval(T a, T b) {
        if (std::isinf(a) && a == b) return a;
        return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
    }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr tail = expr::unary(Op::exp, expr::negate(absolute(a - b)));
        const Expr sum = larger(a, b) + expr::unary(Op::log1p, tail);
        return expr::select(is_infinite(a) && expr::equal(a, b), a, sum);
    }
};
/// log2(2^a + 2^b)
struct LogAddExp2 : Arithmetic {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    template <Floating T>
    static T eval(T a, T b) {
        if (std::isinf(a) && a == b) return a;
        return std::max(a, b) + std::log2(1 + std::exp2(-std::fabs(a - b)));
    }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr tail = expr::binary(Op::pow, constant(a, 2), expr::negate(absolute(a - b)));
        const Expr sum = larger(a, b) + expr::unary(Op::log2, constant(a, 1) + tail);
        return expr::select(is_infinite(a) && expr::equal(a, b), a, sum);
    }
};

/// The sign of the second one, of a zero, too. (Of a NaN expressions do not see it: that of a positive one.)
struct CopySign : FloatingFunction {
    static constexpr Bound bound = kBoundStep;
    template <Floating T>
    static T eval(T a, T b) {
        return std::copysign(a, b);
    }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr zero = constant(b, 0), negative_zero = expr::equal(b, zero) && constant(b, 1) / b < zero;
        return expr::select(b < zero || negative_zero, expr::negate(absolute(a)), absolute(a));
    }
};

void xlogy_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const Arg x = r.operand("self"), y = r.operand("other");
    if (r.needed("self")) {
        const NodeValue logs = b.call(y.node() ? "aten.xlogy.Tensor" : "aten.xlogy.Scalar_Other", {arg(r.grad()), y});
        const NodeValue zero = b.call("aten.eq.Scalar", {x, 0});
        if (y.node()) {
            const NodeValue no_log = b.call("aten.le.Scalar", {y, 0});
            r.set("self", r.drop(r.call("aten.logical_and.default", {arg(zero), arg(no_log)}), logs));
        } else {
            r.set("self", c.args().number("other") <= 0 ? r.drop(zero, logs) : logs);
        }
    }
    if (r.needed("other")) r.set("other", r.div(r.mul(r.grad(), x), y));
}

void hypot_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    for (const char* operand : {"self", "other"})
        if (r.needed(operand)) r.set(operand, r.mul(r.grad(), r.div(r.tensor(operand), arg(r.result()))));
}

/// Each operand's share of the sum: 1 / (1 + power(other - self)).
void share_grad(GraphBuilder& b, CallGradients& c, std::string_view power) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("self"), y = r.tensor("other");
    const auto share = [&](const NodeValue& from, const NodeValue& to) {
        return r.div(r.grad(), arg(r.add(r.of(power, r.sub(from, to)), 1)));
    };
    if (r.needed("self")) r.set("self", share(y, x));
    if (r.needed("other")) r.set("other", share(x, y));
}
void logaddexp_grad(GraphBuilder& b, CallGradients& c) { share_grad(b, c, "aten.exp.default"); }
void logaddexp2_grad(GraphBuilder& b, CallGradients& c) { share_grad(b, c, "aten.exp2.default"); }

/// 1 or -1, 0 at zeros; the sign's own is zero.
void copysign_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("self");
    const NodeValue ratio = r.div(r.result(), arg(x)), zero = r.call("aten.eq.Scalar", {arg(x), 0});
    if (r.needed("self")) r.set("self", r.mul(r.grad(), r.drop(zero, ratio)));
    if (r.needed("other")) r.set("other", r.zeros_like(r.grad()));
}

// --- Of one ---

/// sin(pi x) / (pi x), 1 at 0
std::vector<NodeRef> sinc(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), angle = g.mul(x, Arg(M_PI));
    const NodeValue quotient = g.div(g.call("aten.sin.default", {arg(angle)}), arg(angle));
    return {g.call("aten.masked_fill.Scalar", {arg(quotient), arg(g.call("aten.eq.Scalar", {arg(x), 0})), 1}).ref};
}
void sinc_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const NodeValue angle = r.mul(r.x, Arg(M_PI)), square = r.mul(r.mul(r.x, r.x), Arg(M_PI));
    const NodeValue rise = r.sub(r.mul(angle, r.of("aten.cos.default", angle)), r.of("aten.sin.default", angle));
    r.set(r.drop(r.call("aten.eq.Scalar", {arg(square), 0}), r.mul(r.g, r.div(rise, arg(square)))));
}

/// NaN and infinities replaced by numbers, which are 0 and the ends of the dtype where none are given.
std::vector<NodeRef> nan_to_num(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    if (!is_floating(x.meta.dtype)) return {own_copy(b, x).ref};
    const double most = float_limits(x.meta.dtype).largest, infinity = std::numeric_limits<double>::infinity();
    const auto replaced = [&](const NodeValue& value, const NodeValue& where, const char* parameter, double otherwise) {
        const double number = a.optional_number(parameter).value_or(otherwise);
        return g.call("aten.masked_fill.Scalar", {arg(value), arg(where), Arg(number)});
    };
    const NodeValue numbers = replaced(x, g.of("aten.isnan.default", x), "nan", 0);
    const NodeValue below = replaced(numbers, g.when("eq", x, Arg(infinity)), "posinf", most);
    return {replaced(below, g.when("eq", x, Arg(-infinity)), "neginf", -most).ref};
}

std::vector<NodeRef> deg2rad(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {Gradient(b).mul(a.tensor("self"), Arg(M_PI / 180)).ref};
}
std::vector<NodeRef> rad2deg(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {Gradient(b).mul(a.tensor("self"), Arg(180 / M_PI)).ref};
}

// --- Records ---

constexpr OpDef kSpecial[] = {
    binary_op<Xlogy>(
        "aten.xlogy.Tensor", "xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
        "self log(other), 0 where self is: https://pytorch.org/docs/stable/special.html#torch.special.xlogy", kAnyDType,
        xlogy_grad),
    binary_op<Xlogy>("aten.xlogy.Scalar_Other", "xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
                     "self log(other), 0 where self is: "
                     "https://pytorch.org/docs/stable/special.html#torch.special.xlogy",
                     kAnyDType, xlogy_grad),
    binary_op<Hypot>("aten.hypot.default", "hypot(Tensor self, Tensor other) -> Tensor",
                     "the length of (self, other): https://pytorch.org/docs/stable/generated/torch.hypot.html",
                     kFloating, hypot_grad),
    binary_op<LogAddExp>("aten.logaddexp.default", "logaddexp(Tensor self, Tensor other) -> Tensor",
                         "log(exp(self) + exp(other)): https://pytorch.org/docs/stable/generated/torch.logaddexp.html",
                         kFloating, logaddexp_grad),
    binary_op<LogAddExp2>("aten.logaddexp2.default", "logaddexp2(Tensor self, Tensor other) -> Tensor",
                          "log2(2^self + 2^other): https://pytorch.org/docs/stable/generated/torch.logaddexp2.html",
                          kFloating, logaddexp2_grad),
    binary_op<CopySign>("aten.copysign.Tensor", "copysign.Tensor(Tensor self, Tensor other) -> Tensor",
                        "self with the sign of other: https://pytorch.org/docs/stable/generated/torch.copysign.html",
                        kAnyDType, copysign_grad),
    {.name = "aten.heaviside.default",
     .doc = "0 below zero, 1 above, values at zero: https://pytorch.org/docs/stable/generated/torch.heaviside.html",
     .schema = "heaviside(Tensor self, Tensor values) -> Tensor",
     .dtypes = kAnyDType,
     .infer = infer_heaviside,
     .eval = eval_binary<Heaviside>,
     .lower = lower_binary<Heaviside>,
     .grad = no_gradient,
     .bound = kBoundStep},
    {.name = "aten.sinc.default",
     .doc = "sin(pi x) / (pi x): https://pytorch.org/docs/stable/special.html#torch.special.sinc",
     .schema = "sinc(Tensor self) -> Tensor",
     .dtypes = kAnyDType,
     .decompose = sinc,
     .grad = sinc_grad},
    {.name = "aten.nan_to_num.default",
     .doc = "NaN and infinities replaced: https://pytorch.org/docs/stable/generated/torch.nan_to_num.html",
     .schema = "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
     .dtypes = kAnyDType,
     .decompose = nan_to_num},
    {.name = "aten.deg2rad.default",
     .doc = "degrees in radians: https://pytorch.org/docs/stable/generated/torch.deg2rad.html",
     .schema = "deg2rad(Tensor self) -> Tensor",
     .dtypes = kAnyDType,
     .decompose = deg2rad},
    {.name = "aten.rad2deg.default",
     .doc = "radians in degrees: https://pytorch.org/docs/stable/generated/torch.rad2deg.html",
     .schema = "rad2deg(Tensor self) -> Tensor",
     .dtypes = kAnyDType,
     .decompose = rad2deg},
};

}  // namespace

std::span<const OpDef> special_ops() { return kSpecial; }

}  // namespace whittle
