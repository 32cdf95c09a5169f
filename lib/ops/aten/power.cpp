// Powers, element by element. Definition: https://pytorch.org/docs/stable/generated/torch.pow.html
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/complex.h"
#include "ops/core/integer.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using expr::Op;

/// base ^ exponent for integers: a reduction over the exponent's bits, the highest first, that squares what it has and
/// multiplies by the base where the bit is set. (As one expression its tree would double with every bit.)
expr::Value lower_integer_power(expr::GroupBuilder& builder, const expr::Value& base, const expr::Value& exponent) {
    const DType dtype = base.dtype();
    const auto constant = [=](int value) { return expr::constant(dtype, Scalar(value)); };
    const bool is_signed = !is_unsigned(dtype);
    const int bits = static_cast<int>(size_of(dtype)) * 8 - (is_signed ? 1 : 0);
    const auto bit_set = [=](const Expr& value, const Expr& position) {
        const Expr shifted = expr::binary(Op::shr, value, position);
        return expr::equal(expr::binary(Op::bit_and, shifted, constant(1)), constant(1));
    };
    const expr::Value power = builder.reduce(
        dtype, base.sizes(), {bits}, [=](const expr::Index&) { return constant(1); },
        [=](const expr::Index& i, const expr::Index& r, const Expr& sofar) {
            const Expr position = constant(bits - 1) - expr::cast(dtype, r[0]);
            return sofar * sofar * expr::select(bit_set(exponent(i), position), base(i), constant(1));
        },
        "power");
    if (!is_signed) return power;
    return pointwise({base, exponent, power}, base.sizes(), dtype, [=](const std::vector<Expr>& x) {
        const Expr alternating = expr::select(bit_set(x[1], constant(0)), constant(-1), constant(1));
        const Expr inverse = expr::select(expr::equal(x[0], constant(1)), constant(1),
                                          expr::select(expr::equal(x[0], constant(-1)), alternating, constant(0)));
        return expr::select(x[1] < constant(0), inverse, x[2]);
    });
}

struct Pow : Arithmetic {
    static constexpr std::string_view right = "exponent";
    static auto eval(Floating auto a, Floating auto b) { return std::pow(a, b); }
    static auto eval(Complex auto a, Complex auto b) { return std::pow(a, b); }
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return integer_power(a, b); }
};

std::vector<expr::Value> lower_pow(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const BinaryTypes types = binary_types<Pow>(arguments);
    const expr::Value base = read(arguments.operand("self"), types.sizes, types.common),
                      exponent = read(arguments.operand("exponent"), types.sizes, types.common);
    if (!is_floating(types.common)) return {lower_integer_power(builder, base, exponent)};
    return {pointwise({base, exponent}, types.sizes, types.result,
                      [](const std::vector<Expr>& x) { return expr::binary(Op::pow, x[0], x[1]); })};
}

// --- A number as exponent: ATen computes some without pow, which shows in rounding and in pow(-inf, 0.5) ---

/// The common dtype; an integer to a negative integer is refused, as ATen does.
DType check_exponent(const AnyArguments auto& arguments) {
    const DType common = binary_types<Pow>(arguments).common;
    const Scalar exponent = arguments.scalar("exponent");
    if (is_integer(common) && exponent.to_integer() < 0)
        throw Error("pow: found an integer base with exponent=" + std::to_string(exponent.to_integer()) +
                        ", expected an exponent of at least 0",
                    "convert the base or the exponent to a floating-point dtype");
    return common;
}

template <Floating T>
T power(T base, double exponent) {
    if (exponent == 0.5) return std::sqrt(base);
    if (exponent == -0.5) return T(1) / std::sqrt(base);
    if (exponent == 2) return base * base;
    if (exponent == 3) return base * base * base;
    if (exponent == -1) return T(1) / base;
    if (exponent == -2) return T(1) / (base * base);
    return std::pow(base, static_cast<T>(exponent));
}

template <Complex T>
T power(T base, double exponent) {
    if (exponent == 0) return T(1);
    if (exponent == 0.5) return std::sqrt(base);
    if (exponent == -0.5) return quotient(T(1), std::sqrt(base));
    if (exponent == 1) return base;
    if (exponent == 2) return product(base, base);
    if (exponent == 3) return product(product(base, base), base);
    if (exponent == -1) return quotient(T(1), base);
    if (exponent == -2) return quotient(T(1), product(base, base));
    return std::pow(base, T(static_cast<typename T::value_type>(exponent)));
}

Expr lower_power(const Expr& base, double exponent) {
    const Expr one = constant(base, 1);
    if (exponent == 0.5) return expr::unary(Op::sqrt, base);

    if (exponent == -0.5) return one / expr::unary(Op::sqrt, base);
    if (exponent == 2) return base * base;
    if (exponent == 3) return base * base * base;
    if (exponent == -1) return one / base;
    if (exponent == -2) return one / (base * base);
    return expr::binary(Op::pow, base, constant(base, exponent));
}

std::vector<ValueMeta> infer_number(const Arguments<ValueMeta>& arguments) {
    check_exponent(arguments);
    return infer_binary<Pow>(arguments);
}

std::vector<Tensor> eval_number(const Arguments<Tensor>& arguments) {
    const DType common = check_exponent(arguments);
    if (!is_inexact(common)) return eval_binary<Pow>(arguments);
    const Tensor self = arguments.tensor("self");
    const double exponent = arguments.number("exponent");
    return {visit_arithmetic(common, [&]<class T>(T) {
        std::vector<T> elements = read<T>(self, self.sizes(), common);
        if constexpr (Floating<T> || Complex<T>)
            for (T& element : elements) element = power(element, exponent);
        return store(elements, common, self.sizes());
    })};
}

/// 1 to whatever power is 1, of complex numbers, too.
std::vector<Tensor> eval_of_number(const Arguments<Tensor>& arguments) {
    const BinaryTypes types = binary_types<Pow>(arguments);
    if (!is_complex(types.common) || arguments.scalar("self").to_double() != 1) return eval_binary<Pow>(arguments);
    const std::vector<Complex128> ones(static_cast<std::size_t>(element_count(types.sizes)), 1.0);
    return {store(ones, types.result, types.sizes)};
}

Expr squared(const std::vector<Expr>& x) { return x[0] * x[0]; }

std::vector<expr::Value> lower_number(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const DType common = check_exponent(arguments);
    const expr::Value self = arguments.tensor("self");
    const Scalar exponent = arguments.scalar("exponent");
    const expr::Value base = read(self, self.sizes(), common);
    if (!is_floating(common)) {
        if (exponent.to_integer() == 2) return {pointwise({base}, self.sizes(), common, squared)};
        return {lower_integer_power(builder, base, read(arguments.operand("exponent"), self.sizes(), common))};
    }
    return {pointwise({base}, self.sizes(), common,
                      [exponent](const std::vector<Expr>& x) { return lower_power(x[0], exponent.to_double()); })};
}

// --- Gradients ---

using namespace aten;

/// x^0 has no slope, whatever x.
void pow_grad(Gradients& c) {
    const V x = c.tensor("self"), exponent = c.tensor("exponent");
    if (c.needed("self")) {
        const V below = pow(x, exponent + -1);
        const V slope = c.grad() * (exponent * below);
        c.set("self", drop(eq(exponent, 0), slope));
    }
    if (!c.needed("exponent")) return;
    const V flat = logical_and(eq(x, 0), ge(exponent, 0));
    const V slope = c.result() * log(x);
    c.set("exponent", c.grad() * drop(flat, slope));
}
V pow_number_grad(const OfSelf& r) {
    const double exponent = r.call.scalar("exponent").to_double();
    if (exponent == 0) return zeros_like(r.x);
    return r.g * conjugate(pow(r.x, exponent - 1) * exponent);
}
void pow_of_number_grad(Gradients& c) {
    const double base = c.scalar("self").to_double();
    if (base > 0) c.takes_complex();  // of others the logarithm is complex
    const V grad = c.grad();
    V slope = c.result() * std::log(base);
    if (base == 0) slope = drop(ge(c.tensor("exponent"), 0), slope);
    c.set("exponent", grad * conjugate(slope));
}

constexpr OpDef kPower[] = {
    primitive("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
              "self to the power of exponent; integers wrap", kNumbers | kComplex,
              {infer_binary<Pow>, eval_binary<Pow>, lower_pow}, pow_grad, rounds_by(4)),
    primitive("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "self to the power of a number",
              kAnyDType | kComplex, {infer_number, eval_number, lower_number}, pow_number_grad, rounds_by(4)),
    primitive("pow.Scalar(Scalar self, Tensor exponent) -> Tensor", "a number to the power of exponent",
              kAnyDType | kComplex, {infer_binary<Pow>, eval_of_number, lower_pow}, pow_of_number_grad, rounds_by(4)),
};

}  // namespace

std::span<const OpDef> power_ops() { return kPower; }

}  // namespace whittle
