// Sums, products, extrema and bit operations of two operands, element by element; integers wrap.
// Definitions: https://pytorch.org/docs/stable/torch.html#math-operations
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/complex.h"
#include "ops/core/integer.h"
#include "ops/core/open_rules.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using expr::Op;

// --- left + sign * alpha * right ---

struct Add : Arithmetic {
    static constexpr int sign = 1;
    static constexpr bool allows_bool = true;
};
struct Sub : Arithmetic {
    static constexpr int sign = -1;
    static constexpr bool allows_bool = false;
};
/// other - alpha * self.
struct Rsub : Sub {
    static constexpr std::string_view left = "other", right = "self";
};

// --- Gradients ---

using namespace aten;

/// Either operand may be a number.
V compare(const Gradients& c, const std::string& comparison, const Arg& x, const Arg& y) {
    return c.builder().call("aten." + comparison + (y.node() ? ".Tensor" : ".Scalar"), {x, y});
}

/// Equal operands share the gradient.
void extremum_grad(Gradients& c, const char* loses, const char* wins) {
    const Arg x = c.given("self"), y = c.given("other");
    const V equal = compare(c, "eq", x, y), shared = where(equal, c.grad() / 2, c.grad());
    if (c.needed("self")) c.set("self", drop(compare(c, loses, x, y), shared));
    if (c.needed("other")) c.set("other", drop(compare(c, wins, x, y), shared));
}

/// Self has all of it where it is chosen, equal operands included.
void number_extremum_grad(Gradients& c, const char* chosen) {
    const Arg x = c.given("self"), y = c.given("other");
    const V other_is_nan = compare(c, "ne", y, y), self = logical_or(compare(c, chosen, x, y), other_is_nan);
    if (c.needed("self")) c.set("self", keep(self, c.grad()));
    if (c.needed("other")) c.set("other", drop(self, c.grad()));
}

void add_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (c.needed("other")) c.set("other", scaled(c.grad(), c.scalar("alpha")));
}
void sub_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (c.needed("other")) c.set("other", scaled(-c.grad(), c.scalar("alpha")));
}
void rsub_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", scaled(-c.grad(), c.scalar("alpha")));
    if (c.needed("other")) c.set("other", c.grad());
}
void mul_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", c.grad() * c.conjugate("other"));
    if (c.needed("other")) c.set("other", c.grad() * c.conjugate("self"));
}
void maximum_grad(Gradients& c) { extremum_grad(c, "lt", "gt"); }
void minimum_grad(Gradients& c) { extremum_grad(c, "gt", "lt"); }
void fmax_grad(Gradients& c) { number_extremum_grad(c, "ge"); }
void fmin_grad(Gradients& c) { number_extremum_grad(c, "le"); }
void atan2_grad(Gradients& c) {
    const V y = c.tensor("self"), x = c.tensor("other");
    const V over = reciprocal(y * y + x * x);
    if (c.needed("self")) c.set("self", c.grad() * (x * over));
    if (c.needed("other")) c.set("other", c.grad() * (-y * over));
}

template <class F, class T>
Promotion sum_types(const Arguments<T>& arguments, const std::variant<T, Scalar>& left,
                    const std::variant<T, Scalar>& right) {
    const std::vector<OperandInfo> operands = {operand_info(left), operand_info(right)};
    const DType dtype = result_type(operands);
    const Scalar alpha = arguments.scalar("alpha");
    const std::string op = "aten." + arguments.schema().name;
    if (!F::allows_bool)
        for (const OperandInfo& operand : operands)
            if (operand.dtype == DType::boolean)
                throw Error(op + ": found bool operands, expected numbers",
                            "use logical_xor() to compare two bool tensors, or logical_not() to invert a bool tensor");
    if (alpha.is_floating() && !is_inexact(dtype))
        throw Error(op + ": found a floating-point alpha for a result of dtype " + std::string(name(dtype)) +
                    ", expected an integer");
    if (alpha.is_boolean() && dtype != DType::boolean) throw Error(op + ": found a bool as alpha, expected a number");
    return {broadcast_all(operands), dtype};
}

template <class F>
std::vector<ValueMeta> infer_weighted_sum(const Arguments<ValueMeta>& arguments) {
    return {result_meta(sum_types<F>(arguments, arguments.operand(F::left), arguments.operand(F::right)))};
}

template <class T>
T weighted_sum(T a, T b, T weight) {
    if constexpr (std::is_same_v<T, bool>)
        return a || (weight && b);
    else if constexpr (std::is_integral_v<T>)
        return wrapping_add(a, wrapping_mul(weight, b));
    else if constexpr (is_complex_type<T>)
        return a + product(weight, b);
    else
        return weight == 1 ? a + b : weight == -1 ? a - b : a + weight * b;
}

template <class T>
T signed_weight(const Scalar& alpha, int sign) {
    if constexpr (std::is_same_v<T, bool>)
        return alpha.to_bool();
    else if constexpr (std::is_integral_v<T>)
        return wrapping_mul(alpha.to_integer(), sign);
    else if constexpr (is_complex_type<T>)
        return static_cast<T>(static_cast<typename T::value_type>(alpha.to_double() * sign));
    else
        return static_cast<T>(alpha.to_double()) * static_cast<T>(sign);
}

template <class F>
std::vector<Tensor> eval_weighted_sum(const Arguments<Tensor>& arguments) {
    const auto left = arguments.operand(F::left), right = arguments.operand(F::right);
    const Promotion types = sum_types<F>(arguments, left, right);
    return {visit_arithmetic(types.dtype, [&]<class T>(T) {
        const Broadcast<T> a(left, types.sizes, read_dtype<true>(left, types.dtype)),
            b(right, types.sizes, read_dtype<true>(right, types.dtype));
        const T weight = signed_weight<T>(arguments.scalar("alpha"), F::sign);
        return tabulate<T>(types.sizes, types.dtype,
                           [&](std::size_t i) { return weighted_sum<T>(a[i], b[i], weight); });
    })};
}

template <class F>
std::vector<expr::Value> lower_weighted_sum(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const auto left = arguments.operand(F::left), right = arguments.operand(F::right);
    const Promotion types = sum_types<F>(arguments, left, right);
    const Scalar alpha = arguments.scalar("alpha");
    const std::vector<expr::Value> operands = {read(left, types.sizes, read_dtype<true>(left, types.dtype)),
                                               read(right, types.sizes, read_dtype<true>(right, types.dtype))};
    return {pointwise(operands, types.sizes, types.dtype, [alpha](const std::vector<Expr>& x) -> Expr {
        const DType dtype = x[0]->dtype;
        if (dtype == DType::boolean) return alpha.to_bool() ? x[0] || x[1] : x[0];
        const Expr weighted = alpha.to_double() == 1 ? x[1] : expr::constant(dtype, alpha) * x[1];
        return F::sign > 0 ? x[0] + weighted : x[0] - weighted;
    })};
}

template <class F>
constexpr OpDef weighted_sum_op(std::string_view schema, std::string_view doc, GradientRule grad) {
    return primitive(schema, doc, (F::allows_bool ? kAnyDType : kNumbers) | kLimited | kComplex,
                     {infer_weighted_sum<F>, eval_weighted_sum<F>, lower_weighted_sum<F>}, grad,
                     with_exact(rounds_by(1, Bound::Rule::terms), Bound::Exact::sums));
}

// --- Products and extrema ---

struct Mul : Arithmetic {
    static constexpr Bound bound = with_exact(rounds_by(1), Bound::Exact::sums);
    static constexpr bool exact_numbers = true;
    static auto eval(Floating auto a, Floating auto b) { return a * b; }
    static auto eval(Complex auto a, Complex auto b) { return product(a, b); }
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return wrapping_mul(a, b); }
    static bool eval(bool a, bool b) { return a && b; }
    static Expr lower(const Expr& a, const Expr& b) { return a->dtype == DType::boolean ? a && b : a * b; }
};

/// NaN if either is NaN. Of two zeros the first, which std::max also gives.
template <bool kLargest>
struct Extremum : Arithmetic {
    static constexpr Bound bound = kBoundExact;
    static auto eval(Real auto a, Real auto b) { return a != a || (kLargest ? b <= a : a <= b) ? a : b; }
    static Expr lower(const Expr& a, const Expr& b) {
        if (a->dtype == DType::boolean) return kLargest ? a || b : a && b;
        if (!is_floating(a->dtype)) return kLargest ? expr::max(a, b) : expr::min(a, b);
        return expr::select(is_nan(a) || (kLargest ? b <= a : a <= b), a, b);
    }
};
/// The other one if one is NaN.
template <bool kLargest>
struct NumberExtremum : Arithmetic {
    static constexpr Bound bound = kBoundExact;
    static auto eval(Real auto a, Real auto b) { return b != b || (kLargest ? b <= a : a <= b) ? a : b; }
    static Expr lower(const Expr& a, const Expr& b) {
        if (!is_floating(a->dtype)) return Extremum<kLargest>::lower(a, b);
        return expr::select(is_nan(b) || (kLargest ? b <= a : a <= b), a, b);
    }
};

struct Atan2 : FloatingFunction {
    static auto eval(Floating auto a, Floating auto b) { return std::atan2(a, b); }
    static Expr lower(const Expr& a, const Expr& b) { return expr::binary(Op::atan2, a, b); }
};

// --- Bits ---

struct BitAnd : Arithmetic {
    static constexpr Bound bound = Bound();
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return a & b; }
    static bool eval(bool a, bool b) { return a && b; }
    static Expr lower(const Expr& a, const Expr& b) {
        return a->dtype == DType::boolean ? a && b : expr::binary(Op::bit_and, a, b);
    }
};
struct BitOr : Arithmetic {
    static constexpr Bound bound = Bound();
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return a | b; }
    static bool eval(bool a, bool b) { return a || b; }
    static Expr lower(const Expr& a, const Expr& b) {
        return a->dtype == DType::boolean ? a || b : expr::binary(Op::bit_or, a, b);
    }
};
struct BitXor : Arithmetic {
    static constexpr Bound bound = Bound();
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return a ^ b; }
    static bool eval(bool a, bool b) { return a != b; }
    static Expr lower(const Expr& a, const Expr& b) {
        return a->dtype == DType::boolean ? expr::not_equal(a, b) : expr::binary(Op::bit_xor, a, b);
    }
};

int bits_of(DType dtype) { return static_cast<int>(size_of(dtype)) * 8; }

/// The amount lies in 0 … bits - 1.
Expr amount_fits(const Expr& amount) {
    const Expr below = amount < expr::constant(amount->dtype, Scalar(bits_of(amount->dtype)));
    return is_unsigned(amount->dtype) ? below : expr::constant(amount->dtype, Scalar(0)) <= amount && below;
}

/// Amounts outside the width shift everything out.
struct ShiftLeft : Arithmetic {
    static constexpr Bound bound = Bound();
    static std::int64_t eval(std::int64_t a, std::int64_t b) {
        return b < 0 || b >= 64 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
    }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr fits = amount_fits(b), zero = expr::constant(a->dtype, Scalar(0));
        return expr::select(fits, expr::binary(Op::shl, a, expr::select(fits, b, zero)), zero);
    }
};
/// Arithmetic: amounts outside the width leave the sign.
struct ShiftRight : Arithmetic {
    static constexpr Bound bound = Bound();
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return a >> (b < 0 || b >= 64 ? 63 : b); }
    static std::uint64_t eval(std::uint64_t a, std::uint64_t b) { return b >= 64 ? 0 : a >> b; }
    static Expr lower(const Expr& a, const Expr& b) {
        const Expr fits = amount_fits(b), zero = expr::constant(a->dtype, Scalar(0));
        const Expr all = expr::constant(a->dtype, Scalar(bits_of(a->dtype) - 1));
        const Expr shifted = expr::binary(Op::shr, a, expr::select(fits, b, all));
        return is_unsigned(a->dtype) ? expr::select(fits, shifted, zero) : shifted;
    }
};

constexpr DTypeSet kShifted = kIntegers | kLimited, kBits = kShifted | kBool;

/// By an amount that may be beyond the width.
Reason open_shifted(std::string_view op, const Arguments<Tensor>& a) {
    return bad_shift(op, a.operand("self"), a.operand("other"));
}

template <class F>
constexpr OpDef shift_op(std::string_view schema, std::string_view doc) {
    return with_open(binary_op<F>(schema, doc, kShifted, no_gradient), {.ask = open_shifted});
}

constexpr OpDef kArithmetic[] = {
    weighted_sum_op<Add>("add.{Tensor|Scalar}(Tensor self, {Tensor other, *|Scalar other}, Scalar alpha=1) -> Tensor",
                         "self + alpha * other; for bool, logical or", add_grad),
    weighted_sum_op<Sub>("sub.{Tensor|Scalar}(Tensor self, {Tensor other, *|Scalar other}, Scalar alpha=1) -> Tensor",
                         "self - alpha * other", sub_grad),
    weighted_sum_op<Rsub>("rsub.{Tensor|Scalar}(Tensor self, {Tensor other, *|Scalar other}, Scalar alpha=1) -> Tensor",
                          "other - alpha * self", rsub_grad),
    binary_op<Mul>("mul.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                   "self * other; for bool, logical and", kOrdered | kComplex, mul_grad),
    binary_op<Extremum<true>>("maximum(Tensor self, Tensor other) -> Tensor",
                              "the larger operand; NaN if one of them is NaN", kOrdered, maximum_grad),
    binary_op<Extremum<false>>("minimum(Tensor self, Tensor other) -> Tensor",
                               "the smaller operand; NaN if one of them is NaN", kOrdered, minimum_grad),
    binary_op<Extremum<true>>("max.other(Tensor self, Tensor other) -> Tensor", "like maximum", kOrdered, maximum_grad),
    binary_op<Extremum<false>>("min.other(Tensor self, Tensor other) -> Tensor", "like minimum", kOrdered,
                               minimum_grad),
    binary_op<NumberExtremum<true>>("fmax(Tensor self, Tensor other) -> Tensor",
                                    "the larger operand; NaN only if both are NaN", kOrdered, fmax_grad),
    binary_op<NumberExtremum<false>>("fmin(Tensor self, Tensor other) -> Tensor",
                                     "the smaller operand; NaN only if both are NaN", kOrdered, fmin_grad),
    binary_op<Atan2>("atan2(Tensor self, Tensor other) -> Tensor", "angle of the point (other, self)", kOrdered,
                     atan2_grad),
    binary_op<BitAnd>("bitwise_and.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self & other",
                      kBits, no_gradient),
    binary_op<BitOr>("bitwise_or.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self | other", kBits,
                     no_gradient),
    binary_op<BitXor>("bitwise_xor.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self ^ other",
                      kBits, no_gradient),
    shift_op<ShiftLeft>("bitwise_left_shift.{Tensor|Tensor_Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                        "self << other"),
    shift_op<ShiftRight>("bitwise_right_shift.{Tensor|Tensor_Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                         "self >> other, arithmetic"),
    shift_op<ShiftLeft>("__lshift__.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self << other"),
    shift_op<ShiftRight>("__rshift__.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor",
                         "self >> other, arithmetic"),
};

}  // namespace

std::span<const OpDef> arithmetic_ops() { return kArithmetic; }

}  // namespace whittle
