// Functions of probability and geometry, element by element: xlogy, logaddexp, hypot, copysign, heaviside, sinc,
// nan_to_num and angles.
// Definitions: https://pytorch.org/docs/stable/special.html and torch.html#pointwise-ops; corners as ATen's CPU kernels
// have them, https://github.com/pytorch/pytorch/blob/v1.13.1/aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/pointwise.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

using namespace aten;

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
    static auto eval(Floating auto a, Floating auto b) { return std::hypot(a, b); }
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
    static constexpr Bound bound = with_exact(kBoundStep, Bound::Exact::never);  // the signs of zeros may differ
    static auto eval(Floating auto a, Floating auto b) { return std::copysign(a, b); }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr zero = constant(b, 0), negative_zero = expr::equal(b, zero) && constant(b, 1) / b < zero;
        return expr::select(b < zero || negative_zero, expr::negate(absolute(a)), absolute(a));
    }
};

/// Either operand may be a number.
void xlogy_grad(Gradients& c) {
    const Arg x = c.given("self"), y = c.given("other");
    if (c.needed("self")) {
        const V self = c.tensor("self"), zero = eq(self, 0);
        if (y.node()) {
            const V other = c.tensor("other");
            c.set("self", drop(logical_and(zero, le(other, 0)), xlogy(c.grad(), other)));
        } else {
            const V logs = xlogy(c.grad(), c.scalar("other"));
            c.set("self", c.number("other") <= 0 ? drop(zero, logs) : logs);
        }
    }
    if (c.needed("other")) c.set("other", c.grad() * x / y);
}

void hypot_grad(Gradients& c) {
    for (const char* operand : {"self", "other"})
        if (c.needed(operand)) c.set(operand, c.grad() * (c.tensor(operand) / c.result()));
}

/// Each operand's share of the sum: 1 / (1 + power(other - self)).
template <V (*Power)(const V&)>
void share_grad(Gradients& c) {
    const V x = c.tensor("self"), y = c.tensor("other");
    if (c.needed("self")) c.set("self", c.grad() / (Power(y - x) + 1));
    if (c.needed("other")) c.set("other", c.grad() / (Power(x - y) + 1));
}

/// 1 or -1, 0 at zeros; the sign's own is zero.
void copysign_grad(Gradients& c) {
    const V x = c.tensor("self");
    const V ratio = c.result() / x, zero = eq(x, 0);
    if (c.needed("self")) c.set("self", c.grad() * drop(zero, ratio));
    if (c.needed("other")) c.set("other", zeros_like(c.grad()));
}

// --- Of one ---

/// sin(pi x) / (pi x), 1 at 0
CallResults decompose_sinc(const Call& c) {
    const V x = c.tensor("self"), angle = x * M_PI;
    const V quotient = sin(angle) / angle;
    return masked_fill(quotient, eq(x, 0), 1);
}
V sinc_grad(const OfSelf& r) {
    const V angle = r.x * M_PI, square = r.x * r.x * M_PI;
    const V rise = angle * cos(angle) - sin(angle);
    return drop(eq(square, 0), r.g * (rise / square));
}

/// NaN and infinities replaced by numbers, which are 0 and the ends of the dtype where none are given.
CallResults decompose_nan_to_num(const Call& c) {
    const V x = c.tensor("self");
    if (!is_floating(x.dtype())) return own_copy(x);
    const double most = float_limits(x.dtype()).largest, infinity = std::numeric_limits<double>::infinity();
    const auto replaced = [&](const V& value, const V& where, const char* parameter, double otherwise) {
        const double number = c.optional_number(parameter).value_or(otherwise);
        return masked_fill(value, where, number);
    };
    const V numbers = replaced(x, isnan(x), "nan", 0);
    const V below = replaced(numbers, eq(x, infinity), "posinf", most);
    return replaced(below, eq(x, -infinity), "neginf", -most);
}

CallResults decompose_deg2rad(const Call& c) { return c.tensor("self") * (M_PI / 180); }
CallResults decompose_rad2deg(const Call& c) { return c.tensor("self") * (180 / M_PI); }

constexpr OpDef kSpecial[] = {
    binary_op<Xlogy>(
        "xlogy.{Tensor|Scalar_Other}(Tensor self, {Tensor|Scalar} other) -> Tensor",
        "self * log(other), but 0 where self is 0: https://pytorch.org/docs/stable/special.html#torch.special.xlogy",
        kAnyDType, xlogy_grad),
    binary_op<Hypot>("hypot(Tensor self, Tensor other) -> Tensor", "the length of (self, other)", kFloating,
                     hypot_grad),
    binary_op<LogAddExp>("logaddexp(Tensor self, Tensor other) -> Tensor", "log(exp(self) + exp(other))", kFloating,
                         share_grad<aten::exp>),
    binary_op<LogAddExp2>("logaddexp2(Tensor self, Tensor other) -> Tensor", "log2(2^self + 2^other)", kFloating,
                          share_grad<aten::exp2>),
    binary_op<CopySign>("copysign.Tensor(Tensor self, Tensor other) -> Tensor", "self with the sign of other",
                        kAnyDType, copysign_grad),
    primitive("heaviside(Tensor self, Tensor values) -> Tensor", "0 below zero, 1 above zero, and values at zero",
              kAnyDType, {infer_heaviside, eval_binary<Heaviside>, lower_binary<Heaviside>}, no_gradient, kBoundStep),
    composite("sinc(Tensor self) -> Tensor",
              "sin(pi x) / (pi x): https://pytorch.org/docs/stable/special.html#torch.special.sinc", kAnyDType,
              decompose_sinc, sinc_grad),
    composite("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
              "NaN and infinities replaced", kAnyDType, decompose_nan_to_num),
    composite("deg2rad(Tensor self) -> Tensor", "degrees in radians", kAnyDType, decompose_deg2rad),
    composite("rad2deg(Tensor self) -> Tensor", "radians in degrees", kAnyDType, decompose_rad2deg),
};

}  // namespace

std::span<const OpDef> special_ops() { return kSpecial; }

}  // namespace whittle
