// One operand, element by element: signs, rounding, powers and roots, exponentials, trigonometry, predicates.
// Definitions: https://pytorch.org/docs/stable/torch.html#pointwise-ops
#include <cmath>
#include <complex>

#include "ops/aten/complex_grad.h"
#include "ops/aten/families.h"
#include "ops/aten/pointwise_grad.h"
#include "ops/core/complex.h"
#include "ops/core/pointwise.h"

namespace whittle {

namespace {

using expr::Op;

// --- Same dtype in and out ---

/// Integer negation that wraps.
std::int64_t negated(std::int64_t x) { return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)); }

/// The magnitude of complex numbers is real.
struct Abs : Arithmetic {
    static constexpr Bound bound = rounds_by(0);
    static DType result(DType dtype) { return real_of(dtype); }
    template <Floating T>
    static T eval(T x) {
        return std::fabs(x);
    }
    template <Complex T>
    static typename T::value_type eval(T x) {
        return std::abs(x);
    }
    static std::int64_t eval(std::int64_t x) { return x < 0 ? negated(x) : x; }
    static std::uint64_t eval(std::uint64_t x) { return x; }
    static Expr lower(const Expr& x) { return is_unsigned(x->dtype) ? x : expr::unary(Op::abs, x); }
};

struct Neg : Arithmetic {
    static constexpr Bound bound = rounds_by(0);
    template <class T>
    requires Floating<T> || Complex<T>
    static T eval(T x) { return -x; }
    static std::int64_t eval(std::int64_t x) { return negated(x); }
    static Expr lower(const Expr& x) { return expr::negate(x); }
};

/// (0 < x) - (x < 0), so that NaN gives 0.
struct Sign : Arithmetic {
    static constexpr Bound bound = kBoundStep;
    template <Number T>
    static T eval(T x) {
        return static_cast<T>((T(0) < x) - (x < T(0)));
    }
    template <std::same_as<bool> T>
    static T eval(T x) {
        return x;
    }
    static Expr lower(const Expr& x) {
        if (x->dtype == DType::boolean) return x;
        const auto constant = [&](int value) { return expr::constant(x->dtype, Scalar(value)); };
        const Expr positive = expr::select(constant(0) < x, constant(1), constant(0));
        return is_unsigned(x->dtype) ? positive : expr::select(x < constant(0), constant(-1), positive);
    }
};

/// sign; of complex numbers x / |x|.
struct Sgn : Sign {
    template <class T>
    requires requires(T x) { Sign::eval(x); }
    static T eval(T x) {  // no using-declaration: clang 14 takes the template below for the same and hides Sign's
        return Sign::eval(x);
    }
    template <Complex T>
    static T eval(T x) {
        const auto magnitude = std::abs(x);
        return magnitude == 0 ? T(0) : T(x.real() / magnitude, x.imag() / magnitude);
    }
};

/// Rounding: integers are as they are.
template <Op kOp>
struct Rounding : Arithmetic {
    static constexpr Bound bound = kBoundStep;
    static std::int64_t eval(std::int64_t x) { return x; }
    static Expr lower(const Expr& x) { return is_floating(x->dtype) ? expr::unary(kOp, x) : x; }
};
struct Floor : Rounding<Op::floor> {
    using Rounding::eval;
    template <Floating T>
    static T eval(T x) {
        return std::floor(x);
    }
};
struct Ceil : Rounding<Op::ceil> {
    using Rounding::eval;
    template <Floating T>
    static T eval(T x) {
        return std::ceil(x);
    }
};
struct Trunc : Rounding<Op::trunc> {
    using Rounding::eval;
    template <Floating T>
    static T eval(T x) {
        return std::trunc(x);
    }
};
/// Ties to even.
struct Round : Rounding<Op::round_even> {
    using Rounding::eval;
    template <Floating T>
    static T eval(T x) {
        return std::nearbyint(x);
    }
};
/// In units of 10^-decimals; of half types in f32, as later versions of ATen compute it.
std::vector<NodeRef> round_decimals(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self"), x = b.convert(self, compute_dtype(self.meta.dtype));
    const auto decimals = static_cast<double>(a.integer("decimals"));
    const Arg unit(std::pow(10.0, std::fabs(decimals)));
    std::string_view up = "aten.mul.Scalar", down = "aten.div.Scalar";
    if (decimals < 0) std::swap(up, down);
    const NodeValue rounded = b.call("aten.round.default", {arg(b.call(up, {arg(x), unit}))});
    return {b.convert(b.call(down, {arg(rounded), unit}), self.meta.dtype).ref};
}

struct Frac : Arithmetic {
    static constexpr Bound bound = kBoundStep;
    template <Floating T>
    static T eval(T x) {
        return x - std::trunc(x);
    }
    static Expr lower(const Expr& x) { return x - expr::unary(Op::trunc, x); }
};

/// pow(x, 2), which promotes bool to the exponent's i64.
struct Square : Arithmetic {
    static DType common(DType dtype) { return dtype == DType::boolean ? DType::i64 : dtype; }
    static DType result(DType dtype) { return common(dtype); }
    template <Floating T>
    static T eval(T x) {
        return x * x;
    }
    template <Complex T>
    static T eval(T x) {
        return product(x, x);
    }
    static std::int64_t eval(std::int64_t x) {
        const auto bits = static_cast<std::uint64_t>(x);
        return static_cast<std::int64_t>(bits * bits);
    }
    static Expr lower(const Expr& x) { return x * x; }
};

struct BitwiseNot : Arithmetic {
    static constexpr Bound bound = Bound();
    static std::int64_t eval(std::int64_t x) { return ~x; }
    static bool eval(bool x) { return !x; }
    static Expr lower(const Expr& x) {
        return x->dtype == DType::boolean ? expr::logical_not(x) : expr::unary(Op::bit_not, x);
    }
};

// --- Floating functions ---

/// A function that expressions have under the same name. Its ulps: scripts/measure-ulps, with a margin.
#define WHITTLE_MATH(Name, function, ...)                                         \
    struct Name : FloatingFunction {                                              \
        static constexpr Bound bound = rounds_by(__VA_ARGS__);                    \
        template <Floating T>                                                     \
        static T eval(T x) {                                                      \
            return std::function(x);                                              \
        }                                                                         \
        static Expr lower(const Expr& x) { return expr::unary(Op::function, x); } \
    };
/// One that complex numbers have, too.
#define WHITTLE_COMPLEX_MATH(Name, function, ulps)                                \
    struct Name : FloatingFunction {                                              \
        static constexpr Bound bound = rounds_by(ulps);                           \
        template <class T>                                                        \
        requires Floating<T> || Complex<T>                                        \
        static T eval(T x) { return std::function(x); }                           \
        static Expr lower(const Expr& x) { return expr::unary(Op::function, x); } \
    };
WHITTLE_COMPLEX_MATH(Exp, exp, 4)
WHITTLE_MATH(Expm1, expm1, 4)
WHITTLE_COMPLEX_MATH(Log, log, 4)
WHITTLE_MATH(Log1p, log1p, 4)
WHITTLE_MATH(Log2, log2, 4)
WHITTLE_COMPLEX_MATH(Log10, log10, 4)
WHITTLE_COMPLEX_MATH(Sqrt, sqrt, 1)
WHITTLE_COMPLEX_MATH(Sin, sin, 4)
WHITTLE_COMPLEX_MATH(Cos, cos, 4)
WHITTLE_COMPLEX_MATH(Tan, tan, 4)
WHITTLE_COMPLEX_MATH(Asin, asin, 8)
WHITTLE_COMPLEX_MATH(Acos, acos, 8)
WHITTLE_COMPLEX_MATH(Atan, atan, 8)
WHITTLE_COMPLEX_MATH(Sinh, sinh, 4)
WHITTLE_COMPLEX_MATH(Cosh, cosh, 4)
WHITTLE_COMPLEX_MATH(Tanh, tanh, 8)
WHITTLE_COMPLEX_MATH(Asinh, asinh, 4)
WHITTLE_COMPLEX_MATH(Acosh, acosh, 4)
WHITTLE_COMPLEX_MATH(Atanh, atanh, 4)
WHITTLE_MATH(Erf, erf, 4)
WHITTLE_MATH(Lgamma, lgamma, 4, Bound::Rule::terms)  // its roots below 0 are where two terms cancel
#undef WHITTLE_COMPLEX_MATH
#undef WHITTLE_MATH

struct Rsqrt : FloatingFunction {
    template <Floating T>
    static T eval(T x) {
        return T(1) / std::sqrt(x);
    }
    template <Complex T>
    static T eval(T x) {
        return quotient(T(1), std::sqrt(x));
    }
    static Expr lower(const Expr& x) { return constant(x, 1) / expr::unary(Op::sqrt, x); }
};
struct Reciprocal : FloatingFunction {
    template <Floating T>
    static T eval(T x) {
        return T(1) / x;
    }
    template <Complex T>
    static T eval(T x) {
        return quotient(T(1), x);
    }
    static Expr lower(const Expr& x) { return constant(x, 1) / x; }
};
struct Erfc : FloatingFunction {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    template <Floating T>
    static T eval(T x) {
        return std::erfc(x);
    }
    static Expr lower(const Expr& x) { return expr::unary(Op::erfc, x); }
};
struct Exp2 : FloatingFunction {
    template <Floating T>
    static T eval(T x) {
        return std::exp2(x);
    }
    static Expr lower(const Expr& x) { return expr::binary(Op::pow, constant(x, 2), x); }
};

// --- Predicates ---

struct IsNan : Predicate {
    template <class T>
    static bool eval(T x) {
        return x != x;
    }
    static Expr lower(const Expr& x) { return is_nan(x); }
};

struct IsInf : Predicate {
    template <Real T>
    static bool eval(T x) {
        return std::isinf(static_cast<double>(x));
    }
    template <Complex T>
    static bool eval(T x) {
        return std::isinf(x.real()) || std::isinf(x.imag());
    }
    static Expr lower(const Expr& x) { return is_infinite(x); }
};
struct IsFinite : Predicate {
    template <Real T>
    static bool eval(T x) {
        return std::isfinite(static_cast<double>(x));
    }
    template <Complex T>
    static bool eval(T x) {
        return std::isfinite(x.real()) && std::isfinite(x.imag());
    }
    static Expr lower(const Expr& x) { return expr::logical_not(is_infinite(x) || is_nan(x)); }
};
struct LogicalNot : Predicate {
    template <class T>
    static bool eval(T x) {
        return x == T(0);
    }
    static Expr lower(const Expr& x) {
        return x->dtype == DType::boolean ? expr::logical_not(x) : expr::equal(x, expr::constant(x->dtype, Scalar(0)));
    }
};

constexpr OpDef kUnary[] = {
    with_gradient(unary_op<Abs>("aten.abs.default", "abs(Tensor self) -> Tensor",
                                "|x|; the smallest integer stays itself", kNumbers | kLimited | kComplex),
                  abs_grad),
    with_gradient(unary_op<Neg>("aten.neg.default", "neg(Tensor self) -> Tensor", "-x; integers wrap",
                                kNumbers | kLimited | kComplex),
                  neg_grad),
    with_gradient(unary_op<Sign>("aten.sign.default", "sign(Tensor self) -> Tensor", "-1, 0 or 1; 0 for NaN", kOrdered),
                  zero_gradient),
    with_gradient(unary_op<Sgn>("aten.sgn.default", "sgn(Tensor self) -> Tensor",
                                "sign, and x / |x| of complex numbers", kOrdered | kComplex),
                  sgn_grad),
    with_gradient(unary_op<Floor>("aten.floor.default", "floor(Tensor self) -> Tensor", "round towards -inf", kNumbers),
                  zero_gradient),
    with_gradient(unary_op<Ceil>("aten.ceil.default", "ceil(Tensor self) -> Tensor", "round towards +inf", kNumbers),
                  zero_gradient),
    with_gradient(unary_op<Trunc>("aten.trunc.default", "trunc(Tensor self) -> Tensor", "round towards zero", kNumbers),
                  zero_gradient),
    with_gradient(unary_op<Round>("aten.round.default", "round(Tensor self) -> Tensor",
                                  "round to nearest, ties to even", kNumbers),
                  zero_gradient),
    {.name = "aten.round.decimals",
     .doc = "round to nearest in units of 10^-decimals, ties to even: "
            "https://pytorch.org/docs/stable/generated/torch.round.html",
     .schema = "round.decimals(Tensor self, *, int decimals) -> Tensor",
     .dtypes = kFloating,
     .decompose = round_decimals,
     .grad = zero_gradient},
    with_gradient(unary_op<Frac>("aten.frac.default", "frac(Tensor self) -> Tensor", "x - trunc(x)", kFloating),
                  pass_gradient),
    with_gradient(unary_op<Square>("aten.square.default", "square(Tensor self) -> Tensor", "x * x; bool gives i64",
                                   kAnyDType | kComplex),
                  square_grad),
    with_gradient(unary_op<BitwiseNot>("aten.bitwise_not.default", "bitwise_not(Tensor self) -> Tensor",
                                       "~x; not x for bool", kIntegers | kLimited | kBool),
                  no_gradient),
    with_gradient(unary_op<Exp>("aten.exp.default", "exp(Tensor self) -> Tensor", "e to the x", kAnyDType | kComplex),
                  exp_grad),
    with_gradient(unary_op<Exp2>("aten.exp2.default", "exp2(Tensor self) -> Tensor", "2 to the x"), exp2_grad),
    with_gradient(
        unary_op<Expm1>("aten.expm1.default", "expm1(Tensor self) -> Tensor", "e to the x, minus 1, exact near 0"),
        expm1_grad),
    with_gradient(
        unary_op<Log>("aten.log.default", "log(Tensor self) -> Tensor", "natural logarithm", kAnyDType | kComplex),
        log_grad),
    with_gradient(
        unary_op<Log1p>("aten.log1p.default", "log1p(Tensor self) -> Tensor", "logarithm of 1 + x, exact near 0"),
        log1p_grad),
    with_gradient(unary_op<Log2>("aten.log2.default", "log2(Tensor self) -> Tensor", "logarithm to base 2"), log2_grad),
    with_gradient(unary_op<Log10>("aten.log10.default", "log10(Tensor self) -> Tensor", "logarithm to base 10",
                                  kAnyDType | kComplex),
                  log10_grad),
    with_gradient(unary_op<Sqrt>("aten.sqrt.default", "sqrt(Tensor self) -> Tensor", "square root; NaN below zero",
                                 kAnyDType | kComplex),
                  sqrt_grad),
    with_gradient(
        unary_op<Rsqrt>("aten.rsqrt.default", "rsqrt(Tensor self) -> Tensor", "1 / sqrt(x)", kAnyDType | kComplex),
        rsqrt_grad),
    with_gradient(unary_op<Reciprocal>("aten.reciprocal.default", "reciprocal(Tensor self) -> Tensor", "1 / x",
                                       kAnyDType | kComplex),
                  reciprocal_grad),
    with_gradient(
        unary_op<Sin>("aten.sin.default", "sin(Tensor self) -> Tensor", "sine, radians", kAnyDType | kComplex),
        sin_grad),
    with_gradient(
        unary_op<Cos>("aten.cos.default", "cos(Tensor self) -> Tensor", "cosine, radians", kAnyDType | kComplex),
        cos_grad),
    with_gradient(
        unary_op<Tan>("aten.tan.default", "tan(Tensor self) -> Tensor", "tangent, radians", kAnyDType | kComplex),
        tan_grad),
    with_gradient(
        unary_op<Asin>("aten.asin.default", "asin(Tensor self) -> Tensor", "inverse sine", kAnyDType | kComplex),
        asin_grad),
    with_gradient(
        unary_op<Acos>("aten.acos.default", "acos(Tensor self) -> Tensor", "inverse cosine", kAnyDType | kComplex),
        acos_grad),
    with_gradient(
        unary_op<Atan>("aten.atan.default", "atan(Tensor self) -> Tensor", "inverse tangent", kAnyDType | kComplex),
        atan_grad),
    with_gradient(
        unary_op<Sinh>("aten.sinh.default", "sinh(Tensor self) -> Tensor", "hyperbolic sine", kAnyDType | kComplex),
        sinh_grad),
    with_gradient(
        unary_op<Cosh>("aten.cosh.default", "cosh(Tensor self) -> Tensor", "hyperbolic cosine", kAnyDType | kComplex),
        cosh_grad),
    with_gradient(
        unary_op<Tanh>("aten.tanh.default", "tanh(Tensor self) -> Tensor", "hyperbolic tangent", kAnyDType | kComplex),
        tanh_grad),
    with_gradient(unary_op<Asinh>("aten.asinh.default", "asinh(Tensor self) -> Tensor", "inverse hyperbolic sine",
                                  kAnyDType | kComplex),
                  asinh_grad),
    with_gradient(unary_op<Acosh>("aten.acosh.default", "acosh(Tensor self) -> Tensor", "inverse hyperbolic cosine",
                                  kAnyDType | kComplex),
                  acosh_grad),
    with_gradient(unary_op<Atanh>("aten.atanh.default", "atanh(Tensor self) -> Tensor", "inverse hyperbolic tangent",
                                  kAnyDType | kComplex),
                  atanh_grad),
    with_gradient(unary_op<Erf>("aten.erf.default", "erf(Tensor self) -> Tensor", "the Gauss error function"),
                  erf_grad),
    with_gradient(
        unary_op<Erfc>("aten.erfc.default", "erfc(Tensor self) -> Tensor", "1 - erf(x), without its cancellation"),
        erfc_grad),
    with_gradient(unary_op<Lgamma>("aten.lgamma.default", "lgamma(Tensor self) -> Tensor", "logarithm of |gamma(x)|"),
                  lgamma_grad),
    with_gradient(unary_op<IsNan>("aten.isnan.default", "isnan(Tensor self) -> Tensor", "is NaN; false for integers",
                                  kAnyDType | kComplex),
                  no_gradient),
    with_gradient(
        unary_op<IsInf>("aten.isinf.default", "isinf(Tensor self) -> Tensor", "is an infinity", kAnyDType | kComplex),
        no_gradient),
    with_gradient(unary_op<IsFinite>("aten.isfinite.default", "isfinite(Tensor self) -> Tensor",
                                     "is neither NaN nor an infinity", kAnyDType | kComplex),
                  no_gradient),
    with_gradient(unary_op<LogicalNot>("aten.logical_not.default", "logical_not(Tensor self) -> Tensor", "x == 0",
                                       kOrdered | kComplex),
                  no_gradient),
};

}  // namespace

std::span<const OpDef> unary_ops() { return kUnary; }

}  // namespace whittle
