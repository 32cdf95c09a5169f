// One operand, element by element: signs, rounding, powers and roots, exponentials, trigonometry, predicates.
// Definitions: https://pytorch.org/docs/stable/torch.html#pointwise-ops
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/complex.h"
#include "ops/core/integer.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;
using expr::Op;

// --- Same dtype in and out ---

/// The magnitude of complex numbers is real.
struct Abs : Arithmetic {
    static constexpr Bound bound = rounds_by(0);
    static DType result(DType dtype) { return real_of(dtype); }
    static auto eval(Floating auto x) { return std::fabs(x); }
    static auto eval(Complex auto x) { return std::abs(x); }
    static std::int64_t eval(std::int64_t x) { return x < 0 ? wrapping_negate(x) : x; }
    static std::uint64_t eval(std::uint64_t x) { return x; }
    static Expr lower(const Expr& x) { return is_unsigned(x->dtype) ? x : expr::unary(Op::abs, x); }
};

struct Neg : Arithmetic {
    static constexpr Bound bound = rounds_by(0);
    template <class T>
    requires Floating<T> || Complex<T>
    static T eval(T x) { return -x; }
    static std::int64_t eval(std::int64_t x) { return wrapping_negate(x); }
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
    static auto eval(Floating auto x) { return std::floor(x); }
};
struct Ceil : Rounding<Op::ceil> {
    using Rounding::eval;
    static auto eval(Floating auto x) { return std::ceil(x); }
};
struct Trunc : Rounding<Op::trunc> {
    using Rounding::eval;
    static auto eval(Floating auto x) { return std::trunc(x); }
};
/// Ties to even.
struct Round : Rounding<Op::round_even> {
    using Rounding::eval;
    static auto eval(Floating auto x) { return std::nearbyint(x); }
};
/// In units of 10^-decimals; of half types in f32, as later versions of ATen compute it.
CallResults round_decimals(const Call& c) {
    const V x = c.tensor("self"), wide = c.builder().convert(x, compute_dtype(x.dtype()));
    const auto decimals = static_cast<double>(c.integer("decimals"));
    const Scalar unit(std::pow(10.0, std::fabs(decimals)));
    const V rounded = decimals < 0 ? mul(round(div(wide, unit)), unit) : div(round(mul(wide, unit)), unit);
    return c.builder().convert(rounded, x.dtype());
}

struct Frac : Arithmetic {
    static constexpr Bound bound = kBoundStep;
    static auto eval(Floating auto x) { return x - std::trunc(x); }
    static Expr lower(const Expr& x) { return x - expr::unary(Op::trunc, x); }
};

/// pow(x, 2), which promotes bool to the exponent's i64.
struct Square : Arithmetic {
    static DType common(DType dtype) { return dtype == DType::boolean ? DType::i64 : dtype; }
    static DType result(DType dtype) { return common(dtype); }
    static auto eval(Floating auto x) { return x * x; }
    static auto eval(Complex auto x) { return product(x, x); }
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
    static auto eval(Floating auto x) { return std::erfc(x); }
    static Expr lower(const Expr& x) { return expr::unary(Op::erfc, x); }
};
struct Exp2 : FloatingFunction {
    static auto eval(Floating auto x) { return std::exp2(x); }
    static Expr lower(const Expr& x) { return expr::binary(Op::pow, constant(x, 2), x); }
};

// --- Predicates ---

struct IsNan : Predicate {
    static bool eval(auto x) { return x != x; }
    static Expr lower(const Expr& x) { return is_nan(x); }
};

struct IsInf : Predicate {
    static bool eval(Real auto x) { return std::isinf(static_cast<double>(x)); }
    static bool eval(Complex auto x) { return std::isinf(x.real()) || std::isinf(x.imag()); }
    static Expr lower(const Expr& x) { return is_infinite(x); }
};
struct IsFinite : Predicate {
    static bool eval(Real auto x) { return std::isfinite(static_cast<double>(x)); }
    static bool eval(Complex auto x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }
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

// --- Gradients ---

/// 1 / sqrt(1 - x^2)
V inverse_cosine_of_sine(const V& x) { return rsqrt(complement(pow(x, 2))); }

V bell(const V& x) { return exp(-pow(x, 2)) * (2 / std::sqrt(std::numbers::pi)); }

V tanh_grad(const OfSelf& r) {
    return is_complex(r.x.dtype()) ? r.g * conjugate(complement(r.y * r.y)) : tanh_backward(r.g, r.y);
}

V acosh_grad(const OfSelf& r) {
    if (!is_complex(r.x.dtype())) return r.g * rsqrt(pow(r.x, 2) + -1);
    return r.g * conjugate(rsqrt(r.x + -1) * rsqrt(r.x + 1));  // the root of the product may have the other sign
}

/// The slope of lgamma. Numbers up to 0 are reflected: psi(x) = psi(1 - x) - pi / tan(pi x); others are moved beyond
/// 10, psi(x) = psi(x + 1) - 1 / x, where the asymptotic series holds (Abramowitz and Stegun 6.3.5 to 6.3.18). As terms
/// cancel, what is shorter than f32 is computed in it.
V psi(const V& given) {
    if (size_of(given.dtype()) < size_of(DType::f32)) return as(psi(as(given, DType::f32)), given.dtype());
    const V below = le(given, 0), x = where(below, complement(given), given);
    constexpr int kSteps = 10;
    V steps = reciprocal(x);
    for (int i = 1; i < kSteps; ++i) steps = steps + reciprocal(x + i);
    const V far = x + kSteps, square = reciprocal(far * far);
    V series = square * (1.0 / 12);  // -B(2k) / 2k, the last first
    constexpr double kTerms[] = {-691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
    for (const double term : kTerms) series = (series + term) * square;
    const V logarithm = log(far) - reciprocal(far) * 0.5, psi = logarithm - series - steps;
    const V part = where(eq(given, 0), given, frac(given));  // the sign of 0 decides
    const V reflected = psi - reciprocal(tan(part * std::numbers::pi)) * std::numbers::pi;
    const V pole = logical_and(lt(given, 0), eq(part, 0));
    return where(below, masked_fill(reflected, pole, std::numeric_limits<double>::quiet_NaN()), psi);
}

/// 0 of real numbers, and at 0; of others what does not change the magnitude.
V sgn_grad(const OfSelf& r) {
    if (!is_complex(r.x.dtype())) return zeros_like(r.g);
    const V along = r.y * real_part(conjugate(r.y) * r.g);
    const V magnitude = abs(r.x);
    return drop(eq(magnitude, 0), (r.g - along) / magnitude);
}

CallResults decompose_digamma(const Call& c) {
    const V x = c.tensor("self");
    return psi(c.builder().convert(x, floating_result(x.dtype())));
}

constexpr OpDef kUnary[] = {
    unary_op<Abs>("abs(Tensor self) -> Tensor", "|x|; the smallest integer stays itself",
                  kNumbers | kLimited | kComplex,
                  [](const OfSelf& r) { return r.g * (is_complex(r.x.dtype()) ? sgn(r.x) : sign(r.x)); }),
    unary_op<Neg>("neg(Tensor self) -> Tensor", "-x; integers wrap", kNumbers | kLimited | kComplex,
                  [](const OfSelf& r) { return -r.g; }),
    unary_op<Sign>("sign(Tensor self) -> Tensor", "-1, 0 or 1; 0 for NaN", kOrdered, zero_gradient),
    unary_op<Sgn>("sgn(Tensor self) -> Tensor", "sign, and x / |x| of complex numbers", kOrdered | kComplex, sgn_grad),
    unary_op<Floor>("floor(Tensor self) -> Tensor", "round towards -inf", kNumbers, zero_gradient),
    unary_op<Ceil>("ceil(Tensor self) -> Tensor", "round towards +inf", kNumbers, zero_gradient),
    unary_op<Trunc>("trunc(Tensor self) -> Tensor", "round towards zero", kNumbers, zero_gradient),
    unary_op<Round>("round(Tensor self) -> Tensor", "round to nearest, ties to even", kNumbers, zero_gradient),
    composite("round.decimals(Tensor self, *, int decimals) -> Tensor",
              "round to nearest in units of 10^-decimals, ties to even", kFloating, round_decimals, zero_gradient),
    unary_op<Frac>("frac(Tensor self) -> Tensor", "x - trunc(x)", kFloating, aten::pass_gradient),
    unary_op<Square>("square(Tensor self) -> Tensor", "x * x; bool gives i64", kAnyDType | kComplex,
                     [](const OfSelf& r) { return r.g * conjugate(r.x * 2); }),
    unary_op<BitwiseNot>("bitwise_not(Tensor self) -> Tensor", "~x; not x for bool", kIntegers | kLimited | kBool,
                         no_gradient),
    unary_op<Exp>("exp(Tensor self) -> Tensor", "e to the x", kAnyDType | kComplex,
                  [](const OfSelf& r) { return r.g * conjugate(r.y); }),
    unary_op<Exp2>("exp2(Tensor self) -> Tensor", "2 to the x", kAnyDType,
                   [](const OfSelf& r) { return r.g * r.y * std::numbers::ln2; }),
    unary_op<Expm1>("expm1(Tensor self) -> Tensor", "e to the x, minus 1, exact near 0", kAnyDType,
                    [](const OfSelf& r) { return r.g * (r.y + 1); }),
    unary_op<Log>("log(Tensor self) -> Tensor", "natural logarithm", kAnyDType | kComplex,
                  [](const OfSelf& r) { return r.g / conjugate(r.x); }),
    unary_op<Log1p>("log1p(Tensor self) -> Tensor", "logarithm of 1 + x, exact near 0", kAnyDType,
                    [](const OfSelf& r) { return r.g / (r.x + 1); }),
    unary_op<Log2>("log2(Tensor self) -> Tensor", "logarithm to base 2", kAnyDType,
                   [](const OfSelf& r) { return r.g / (r.x * std::numbers::ln2); }),
    unary_op<Log10>("log10(Tensor self) -> Tensor", "logarithm to base 10", kAnyDType | kComplex,
                    [](const OfSelf& r) { return r.g / conjugate(r.x * std::numbers::ln10); }),
    unary_op<Sqrt>("sqrt(Tensor self) -> Tensor", "square root; NaN below zero", kAnyDType | kComplex,
                   [](const OfSelf& r) { return r.g / conjugate(r.y * 2); }),
    unary_op<Rsqrt>("rsqrt(Tensor self) -> Tensor", "1 / sqrt(x)", kAnyDType | kComplex,
                    [](const OfSelf& r) { return r.g * -0.5 * conjugate(pow(r.y, 3)); }),
    unary_op<Reciprocal>("reciprocal(Tensor self) -> Tensor", "1 / x", kAnyDType | kComplex,
                         [](const OfSelf& r) { return -r.g * conjugate(r.y * r.y); }),
    unary_op<Sin>("sin(Tensor self) -> Tensor", "sine, radians", kAnyDType | kComplex,
                  [](const OfSelf& r) { return r.g * conjugate(cos(r.x)); }),
    unary_op<Cos>("cos(Tensor self) -> Tensor", "cosine, radians", kAnyDType | kComplex,
                  [](const OfSelf& r) { return r.g * conjugate(-sin(r.x)); }),
    unary_op<Tan>("tan(Tensor self) -> Tensor", "tangent, radians", kAnyDType | kComplex,
                  [](const OfSelf& r) { return r.g * conjugate(pow(r.y, 2) + 1); }),
    unary_op<Asin>("asin(Tensor self) -> Tensor", "inverse sine", kAnyDType | kComplex,
                   [](const OfSelf& r) { return r.g * conjugate(inverse_cosine_of_sine(r.x)); }),
    unary_op<Acos>("acos(Tensor self) -> Tensor", "inverse cosine", kAnyDType | kComplex,
                   [](const OfSelf& r) { return r.g * conjugate(-inverse_cosine_of_sine(r.x)); }),
    unary_op<Atan>("atan(Tensor self) -> Tensor", "inverse tangent", kAnyDType | kComplex,
                   [](const OfSelf& r) { return r.g / conjugate(pow(r.x, 2) + 1); }),
    unary_op<Sinh>("sinh(Tensor self) -> Tensor", "hyperbolic sine", kAnyDType | kComplex,
                   [](const OfSelf& r) { return r.g * conjugate(cosh(r.x)); }),
    unary_op<Cosh>("cosh(Tensor self) -> Tensor", "hyperbolic cosine", kAnyDType | kComplex,
                   [](const OfSelf& r) { return r.g * conjugate(sinh(r.x)); }),
    unary_op<Tanh>("tanh(Tensor self) -> Tensor", "hyperbolic tangent", kAnyDType | kComplex, tanh_grad),
    unary_op<Asinh>("asinh(Tensor self) -> Tensor", "inverse hyperbolic sine", kAnyDType | kComplex,
                    [](const OfSelf& r) { return r.g * conjugate(rsqrt(pow(r.x, 2) + 1)); }),
    unary_op<Acosh>("acosh(Tensor self) -> Tensor", "inverse hyperbolic cosine", kAnyDType | kComplex, acosh_grad),
    unary_op<Atanh>("atanh(Tensor self) -> Tensor", "inverse hyperbolic tangent", kAnyDType | kComplex,
                    [](const OfSelf& r) { return r.g / conjugate(complement(pow(r.x, 2))); }),
    unary_op<Erf>("erf(Tensor self) -> Tensor", "the Gauss error function", kAnyDType,
                  [](const OfSelf& r) { return bell(r.x) * r.g; }),
    unary_op<Erfc>("erfc(Tensor self) -> Tensor", "1 - erf(x), computed without cancellation", kAnyDType,
                   [](const OfSelf& r) { return -bell(r.x) * r.g; }),
    unary_op<Lgamma>("lgamma(Tensor self) -> Tensor", "logarithm of |gamma(x)|", kAnyDType,
                     [](const OfSelf& r) { return r.g * psi(r.x); }),
    composite("digamma(Tensor self) -> Tensor", "the slope of lgamma", kAnyDType, decompose_digamma,
              [](const OfSelf& r) { return r.g * polygamma(1, r.x); }),
    unary_op<IsNan>("isnan(Tensor self) -> Tensor", "whether x is NaN; false for integers", kAnyDType | kComplex,
                    no_gradient),
    unary_op<IsInf>("isinf(Tensor self) -> Tensor", "whether x is an infinity", kAnyDType | kComplex, no_gradient),
    unary_op<IsFinite>("isfinite(Tensor self) -> Tensor", "whether x is neither NaN nor an infinity",
                       kAnyDType | kComplex, no_gradient),
    unary_op<LogicalNot>("logical_not(Tensor self) -> Tensor", "x == 0", kOrdered | kComplex, no_gradient),
};

}  // namespace

std::span<const OpDef> unary_ops() { return kUnary; }

}  // namespace whittle
