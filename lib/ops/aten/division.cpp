// Quotients and remainders of two operands, element by element, in ATen's three roundings: none, floor, trunc; common
// divisors and multiples.
// Floating floor division and remainder are Python's: https://github.com/python/cpython/blob/main/Objects/floatobject.c
#include <cmath>
#include <numeric>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/complex.h"
#include "ops/core/integer.h"
#include "ops/core/open_rules.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using expr::Op;

/// True division: integers give floats.
struct Divide : FloatingFunction {
    static constexpr Bound bound = rounds_by(2, Bound::Rule::quotient);
    static constexpr bool exact_numbers = true;
    static auto eval(Floating auto a, Floating auto b) { return a / b; }
    static auto eval(Complex auto a, Complex auto b) { return quotient(a, b); }
    static Expr lower(const Expr& a, const Expr& b) { return a / b; }
};

/// x < 0, never for unsigned integers.
Expr is_negative(const Expr& x) { return x < constant(x, 0); }
Expr is_zero(const Expr& x) { return expr::equal(x, constant(x, 0)); }

struct DivideFloor : Arithmetic {
    static constexpr Bound bound = rounds_by(1, Bound::Rule::step);
    /// The multiple of b is exact when fmod is; the quotient is then near an integer, to which it is rounded.
    template <Floating T>
    static T eval(T a, T b) {
        if (b == 0) return a / b;
        const T mod = std::fmod(a, b);
        T quotient = (a - mod) / b;
        if (mod != 0 && (b < 0) != (mod < 0)) quotient -= 1;
        if (quotient == 0) return std::copysign(T(0), a / b);
        const T floored = std::floor(quotient);
        return quotient - floored > T(0.5) ? floored + 1 : floored;
    }
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return floored_div(a, b); }
    static std::uint64_t eval(std::uint64_t a, std::uint64_t b) { return unsigned_div(a, b); }
    static Expr lower(const Expr& a, const Expr& b) {
        if (is_floating(a->dtype)) return lower_floating(a, b);
        const Expr quotient = a / b;  // Euclidean: rounds up where b is negative
        if (is_unsigned(a->dtype)) return quotient;
        const Expr up = is_negative(b) && expr::logical_not(is_zero(a % b));
        return expr::select(up, quotient - constant(a, 1), quotient);
    }
    static Expr lower_floating(const Expr& a, const Expr& b) {
        const Expr mod = a % b, exact = (a - mod) / b;
        const Expr below = expr::not_equal(mod, constant(a, 0)) && expr::not_equal(is_negative(b), is_negative(mod));
        const Expr quotient = expr::select(below, exact - constant(a, 1), exact);
        const Expr floored = expr::unary(Op::floor, quotient);
        const Expr rounded = expr::select(constant(a, 0.5) < quotient - floored, floored + constant(a, 1), floored);
        const Expr signed_zero = a / b * constant(a, 0);  // a / b is finite where it is used
        return expr::select(is_zero(b), a / b, expr::select(is_zero(quotient), signed_zero, rounded));
    }
};

struct DivideTrunc : Arithmetic {
    static auto eval(Floating auto a, Floating auto b) { return std::trunc(a / b); }
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return truncated_div(a, b); }
    static std::uint64_t eval(std::uint64_t a, std::uint64_t b) { return unsigned_div(a, b); }
    static Expr lower(const Expr& a, const Expr& b) {
        if (is_floating(a->dtype)) return expr::unary(Op::trunc, a / b);
        const Expr quotient = a / b;  // Euclidean: rounds away from zero where a is negative
        if (is_unsigned(a->dtype)) return quotient;
        const Expr away = is_negative(a) && expr::logical_not(is_zero(a % b));
        const Expr nearer = expr::select(is_negative(b), quotient - constant(a, 1), quotient + constant(a, 1));
        return expr::select(away, nearer, quotient);
    }
};

/// The sign of b.
struct Remainder : Arithmetic {
    static constexpr Bound bound = rounds_by(1, Bound::Rule::step);
    template <Floating T>
    static T eval(T a, T b) {
        const T mod = std::fmod(a, b);
        return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
    }
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return floored_mod(a, b); }
    static std::uint64_t eval(std::uint64_t a, std::uint64_t b) { return unsigned_mod(a, b); }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr mod = a % b;
        if (is_floating(a->dtype)) {
            const Expr other_sign =
                expr::not_equal(mod, constant(a, 0)) && expr::not_equal(is_negative(b), is_negative(mod));
            return expr::select(other_sign, mod + b, mod);
        }
        if (is_unsigned(a->dtype)) return mod;
        return expr::select(is_negative(b) && expr::logical_not(is_zero(mod)), mod + b, mod);
    }
};

/// The sign of a.
struct Fmod : Arithmetic {
    static constexpr Bound bound = rounds_by(1, Bound::Rule::step);
    static auto eval(Floating auto a, Floating auto b) { return std::fmod(a, b); }
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return truncated_mod(a, b); }
    static std::uint64_t eval(std::uint64_t a, std::uint64_t b) { return unsigned_mod(a, b); }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr mod = a % b;
        if (is_floating(a->dtype) || is_unsigned(a->dtype)) return mod;
        const Expr magnitude = expr::select(is_negative(b), constant(b, 0) - b, b);
        return expr::select(is_negative(a) && expr::logical_not(is_zero(mod)), mod - magnitude, mod);
    }
};

// --- Common divisors and multiples ---

/// Never negative, but where it is 2^63, which wraps; of two zeros 0.
struct Gcd : Arithmetic {
    static std::int64_t eval(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(std::gcd(magnitude(a), magnitude(b)));
    }
    static std::uint64_t magnitude(std::int64_t x) {
        return static_cast<std::uint64_t>(x < 0 ? wrapping_negate(x) : x);
    }
};
struct Lcm : Arithmetic {
    static std::int64_t eval(std::int64_t a, std::int64_t b) {
        const std::int64_t divisor = Gcd::eval(a, b);
        return divisor == 0 ? 0 : static_cast<std::int64_t>(Gcd::magnitude(wrapping_mul(a / divisor, b)));
    }
};

// --- div with rounding_mode ---

enum class Mode { exact, floor, trunc };

Mode rounding_mode_of(const AnyArguments auto& arguments) {
    if (!arguments.has("rounding_mode")) return Mode::exact;
    const std::string mode = arguments.text("rounding_mode");
    if (mode == "floor") return Mode::floor;
    if (mode == "trunc") return Mode::trunc;
    throw Error("aten." + arguments.schema().name + ": found rounding_mode '" + mode +
                "', expected no rounding_mode, 'floor' or 'trunc'");
}

std::vector<ValueMeta> infer_mode(const Arguments<ValueMeta>& arguments) {
    return rounding_mode_of(arguments) == Mode::exact ? infer_binary<Divide>(arguments)
                                                      : infer_binary<DivideFloor>(arguments);
}

/// ATen rounds a quotient of half types to the type before it truncates: 43.98 in bf16 is 44.
bool rounds_quotient(const AnyArguments auto& arguments) {
    const DType dtype = binary_types<DivideTrunc>(arguments).result;
    return compute_dtype(dtype) != dtype;
}

std::vector<Tensor> eval_trunc(const Arguments<Tensor>& arguments) {
    if (!rounds_quotient(arguments)) return eval_binary<DivideTrunc>(arguments);
    const Tensor quotient = eval_binary<Divide>(arguments)[0];
    return {map<float, float>(quotient, quotient.dtype(), quotient.dtype(), &std::trunc)};
}

std::vector<expr::Value> lower_trunc(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    if (!rounds_quotient(arguments)) return lower_binary<DivideTrunc>(builder, arguments);
    const expr::Value quotient = lower_binary<Divide>(builder, arguments)[0];
    return {pointwise({read(quotient, quotient.sizes(), quotient.dtype())}, quotient.sizes(), quotient.dtype(),
                      [](const std::vector<Expr>& x) { return expr::unary(Op::trunc, x[0]); })};
}

std::vector<Tensor> eval_mode(const Arguments<Tensor>& arguments) {
    const Mode mode = rounding_mode_of(arguments);
    if (mode == Mode::exact) return eval_binary<Divide>(arguments);
    return mode == Mode::floor ? eval_binary<DivideFloor>(arguments) : eval_trunc(arguments);
}

std::vector<expr::Value> lower_mode(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const Mode mode = rounding_mode_of(arguments);
    if (mode == Mode::exact) return lower_binary<Divide>(builder, arguments);
    return mode == Mode::floor ? lower_binary<DivideFloor>(builder, arguments) : lower_trunc(builder, arguments);
}

// --- Gradients ---

using namespace aten;

/// Of self - other * rounded(self / other).
void modulo_grad(Gradients& c, const char* rounding) {
    c.set("self", c.grad());
    if (!c.needed("other")) return;
    const V quotient = c.builder().call("aten.div.Tensor_mode", {c.given("self"), c.given("other")},
                                        {{"rounding_mode", Arg(rounding)}});
    c.set("other", -c.grad() * quotient);
}

void div_grad(Gradients& c) {
    c.takes_complex();
    const Arg y = c.conjugate("other");
    if (c.needed("self")) c.set("self", c.grad() / y);
    if (!c.needed("other")) return;
    const V quotient = c.builder().call("aten.div.Tensor", {c.conjugate("self"), y});  // self may be a number
    c.set("other", -c.grad() * (quotient / y));
}
void div_mode_grad(Gradients& c) {
    if (!c.has("rounding_mode")) return div_grad(c);
    const V zero = zeros_like(c.grad());
    for (const char* name : {"self", "other"})
        if (c.needed(name)) c.set(name, zero);
}
void remainder_grad(Gradients& c) { modulo_grad(c, "floor"); }
void fmod_grad(Gradients& c) { modulo_grad(c, "trunc"); }

constexpr OpDef mode_op(std::string_view schema) {
    return primitive(schema, "self / other, with rounding_mode: none, 'floor' or 'trunc'", kNumbers | kLimited,
                     {infer_mode, eval_mode, lower_mode}, div_mode_grad, rounds_by(2, Bound::Rule::step));
}

Reason open_divided(std::string_view op, const Arguments<Tensor>& a) {
    return bad_division(op, a.operand("self"), a.operand("other"));
}

/// Integers, of which a quotient may not exist.
constexpr OpDef divides(OpDef def) { return with_open(def, {.ask = open_divided, .integers_only = true}); }

template <class F>
constexpr OpDef divisor_op(std::string_view schema, std::string_view doc) {
    return primitive(schema, doc, kIntegers, {infer_binary<F>, eval_binary<F>}, no_gradient);
}

constexpr OpDef kDivision[] = {
    binary_op<Divide>("div.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                      "self / other; a floating-point result for integers", kOrdered | kComplex, div_grad),
    divides(
        mode_op("div.{Tensor_mode|Scalar_mode}(Tensor self, {Tensor|Scalar} other, *, str? rounding_mode) -> Tensor")),
    divides(binary_op<DivideFloor>("floor_divide{|.Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                                   "floor(self / other), in the promoted dtype", kNumbers | kLimited, no_gradient)),
    divides(binary_op<Remainder>("remainder.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                                 "self - other * floor(self / other): Python's %", kNumbers | kLimited,
                                 remainder_grad)),
    divides(binary_op<Fmod>("fmod.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                            "self - other * trunc(self / other): C's %", kNumbers | kLimited, fmod_grad)),
    divisor_op<Gcd>("gcd(Tensor self, Tensor other) -> Tensor", "the greatest common divisor, by Euclid"),
    divisor_op<Lcm>("lcm(Tensor self, Tensor other) -> Tensor", "the least common multiple"),
};

}  // namespace

std::span<const OpDef> division_ops() { return kDivision; }

}  // namespace whittle
