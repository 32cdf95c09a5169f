// Powers, element by element. Definition: https://pytorch.org/docs/stable/generated/torch.pow.html
#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/integer.h"
#include "ops/pointwise.h"
#include "ops/samples.h"

namespace whittle {

namespace {

using expr::Op;

/// base ^ exponent for integers by repeated squaring, as an expression: one step per bit of the exponent.
Expr lower_integer_power(const Expr& base, const Expr& exponent) {
    const auto constant = [&](int value) { return expr::constant(base->dtype, Scalar(value)); };
    const bool is_signed = base->dtype != DType::u8;
    const int bits = static_cast<int>(size_of(base->dtype)) * 8 - (is_signed ? 1 : 0);
    const auto bit = [&](int k) {
        const Expr shifted = k == 0 ? exponent : expr::binary(Op::shr, exponent, constant(k));
        return expr::equal(expr::binary(Op::bit_and, shifted, constant(1)), constant(1));
    };
    Expr result = constant(1), square = base;
    for (int k = 0; k < bits; ++k) {
        result = expr::select(bit(k), result * square, result);
        if (k + 1 < bits) square = square * square;
    }
    if (!is_signed) return result;
    const Expr alternating = expr::select(bit(0), constant(-1), constant(1));
    const Expr inverse = expr::select(expr::equal(base, constant(1)), constant(1),
                                      expr::select(expr::equal(base, constant(-1)), alternating, constant(0)));
    return expr::select(exponent < constant(0), inverse, result);
}

struct Pow : Arithmetic {
    static constexpr std::string_view right = "exponent";
    template <Floating T>
    static T eval(T a, T b) {
        return std::pow(a, b);
    }
    static std::int64_t eval(std::int64_t a, std::int64_t b) { return integer_power(a, b); }
    static Expr lower(const Expr& a, const Expr& b) {
        return is_floating(a->dtype) ? expr::binary(Op::pow, a, b) : lower_integer_power(a, b);
    }
};

// --- A number as exponent: ATen computes some without pow, which shows in rounding and in pow(-inf, 0.5)
// ---------------------

/// The common dtype; an integer to a negative integer is refused, as ATen does.
template <class T>
DType check_exponent(const Arguments<T>& arguments) {
    const DType common = binary_types<Pow>(arguments).common;
    const Scalar exponent = arguments.scalar("exponent");
    if (is_integer(common) && exponent.to_integer() < 0)
        throw Error(
            "aten.pow.Tensor_Scalar: an integer to the negative integer " + std::to_string(exponent.to_integer()),
            "make the base or the exponent floating");
    return common;
}

template <class T>
T power(T base, double exponent) {
    if (exponent == 0.5) return std::sqrt(base);
    if (exponent == -0.5) return T(1) / std::sqrt(base);
    if (exponent == 2) return base * base;
    if (exponent == 3) return base * base * base;
    if (exponent == -1) return T(1) / base;
    if (exponent == -2) return T(1) / (base * base);
    return std::pow(base, static_cast<T>(exponent));
}

Expr lower_power(const Expr& base, double exponent) {
    const Expr one = number(base, 1);
    if (exponent == 0.5) return expr::unary(Op::sqrt, base);
    
    if (exponent == -0.5) return one / expr::unary(Op::sqrt, base);
    if (exponent == 2) return base * base;
    if (exponent == 3) return base * base * base;
    if (exponent == -1) return one / base;
    if (exponent == -2) return one / (base * base);
    return expr::binary(Op::pow, base, number(base, exponent));
}

/// For a known exponent, only the squarings it needs.
Expr lower_known_power(const Expr& base, std::int64_t exponent) {
    Expr result, square = base;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result = result ? result * square : square;
        if (exponent > 1) square = square * square;
    }
    return result ? result : expr::constant(base->dtype, Scalar(1));
}

std::vector<ValueMeta> infer_number(const Arguments<ValueMeta>& arguments) {
    check_exponent(arguments);
    return infer_binary<Pow>(arguments);
}

std::vector<Tensor> eval_number(const Arguments<Tensor>& arguments) {
    const DType common = check_exponent(arguments);
    if (!is_floating(common)) return eval_binary<Pow>(arguments);
    const Tensor self = arguments.tensor("self");
    const double exponent = arguments.number("exponent");
    return {visit_compute(common, [&]<class T>(T) {
        std::vector<T> elements = read<T>(self, self.sizes(), common);
        if constexpr (Floating<T>)
            for (T& element : elements) element = power(element, exponent);
        return store(elements, common, self.sizes());
    })};
}

std::vector<expr::Value> lower_number(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const DType common = check_exponent(arguments);
    const expr::Value self = arguments.tensor("self");
    const Scalar exponent = arguments.scalar("exponent");
    return {pointwise({read(self, self.sizes(), common)}, self.sizes(), common,
                      [common, exponent](const std::vector<Expr>& x) {
                          return is_floating(common) ? lower_power(x[0], exponent.to_double())
                                                     : lower_known_power(x[0], exponent.to_integer());
                      })};
}

// --- Records
// ---------------------------------------------------------------------------------------------------------------

std::vector<Sample> tensor_samples(DType dtype) { return samples::binary(dtype, kNumbers); }

std::vector<Sample> exponent_samples(DType dtype) {
    using namespace samples;
    std::vector<Sample> result = unary(dtype, {Arg(2)});
    const Tensor x = is_floating(dtype) ? special(dtype) : ramp(dtype, {7});
    for (const int exponent : {0, 1, 3, 5, 64})
        result.push_back({"^" + std::to_string(exponent), {x}, {t(0), Arg(exponent)}});
    for (const double exponent : {0.5, -0.5, -1.0, -2.0, 1.5, 0.0})
        result.push_back({"^" + std::to_string(exponent), {x}, {t(0), Arg(exponent)}});
    return result;
}

std::vector<Sample> base_samples(DType dtype) {
    using namespace samples;
    std::vector<Sample> result;
    for (const Arg& base : {Arg(2), Arg(1), Arg(-1), Arg(0), Arg(0.5), Arg(-1.5)})
        for (auto& [label, tensor] : inputs(dtype)) {
            const bool whole = std::holds_alternative<std::int64_t>(base.value);
            if (dtype == DType::boolean && whole && label == "special") continue;  // the same as ramp
            const std::string text = whole ? std::to_string(std::get<std::int64_t>(base.value))
                                           : std::to_string(std::get<double>(base.value));
            result.push_back({label + " base " + text, {tensor}, {base, t(0)}});
        }
    return result;
}

const OpDef kPower[] = {
    {.name = "aten.pow.Tensor_Tensor",
     .doc = "self to the power of exponent; integers wrap",
     .schema = "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
     .dtypes = kNumbers,
     .infer = infer_binary<Pow>,
     .eval = eval_binary<Pow>,
     .lower = lower_binary<Pow>,
     .samples = tensor_samples},
    {.name = "aten.pow.Tensor_Scalar",
     .doc = "self to the power of a number",
     .schema = "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
     .infer = infer_number,
     .eval = eval_number,
     .lower = lower_number,
     .samples = exponent_samples},
    {.name = "aten.pow.Scalar",
     .doc = "a number to the power of exponent",
     .schema = "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
     .infer = infer_binary<Pow>,
     .eval = eval_binary<Pow>,
     .lower = lower_binary<Pow>,
     .samples = base_samples},
};

}  // namespace

std::span<const OpDef> power_ops() { return kPower; }

}  // namespace whittle
