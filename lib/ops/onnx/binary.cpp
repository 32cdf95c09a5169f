// ONNX's ops of several operands, element by element: arithmetic, comparisons, logic, selection.

#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Integers divide towards zero.
CallResults onnx_div(const Call& c) {
    const V a = c.tensor("A"), b = c.tensor("B");
    if (is_floating(a.dtype())) return a / b;
    return div(a, b, "trunc");
}

/// The result has the base's type, whatever the exponent's: computed in the promoted type, then converted.
CallResults onnx_pow(const Call& c) {
    const V base = c.tensor("X");
    return cast(pow(base, c.tensor("Y")), base.dtype());
}

/// fmod=1: the sign of the dividend, as C's fmod; else the sign of the divisor, for integers only.
CallResults mod(const Call& c) {
    const V a = c.tensor("A"), b = c.tensor("B");
    if (c.integer("fmod") != 0) return fmod(a, b);
    if (is_floating(a.dtype())) throw Error("found fmod=0 with a floating-point dividend, expected fmod=1");
    return remainder(a, b);
}

V plus(const V& a, const V& b) { return a + b; }
V minus(const V& a, const V& b) { return a - b; }

/// Max, Min, Sum, Mean: of one operand at least.
template <V (*F)(const V&, const V&)>
V fold_operands(const Call& c) {
    const Vs operands = c.tensors("data_0");
    if (operands.empty()) throw Error("found no operands, expected at least one");
    V result = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) result = F(result, operands[i]);
    return result;
}

template <V (*F)(const V&, const V&)>
CallResults variadic(const Call& c) {
    return fold_operands<F>(c);
}

CallResults onnx_mean(const Call& c) {
    return fold_operands<plus>(c) / static_cast<double>(c.tensors("data_0").size());
}

/// Bounds were attributes before opset 11, then optional 0-d operands. A bound below the other wins as in clamp.
CallResults clip(const Call& c) {
    const V x = c.tensor("input");
    if (opset(c) < 11) {
        const auto low = c.optional_number("min"), high = c.optional_number("max");
        return low || high ? clamp(x, low, high) : x;
    }
    no_attribute(c, "min", 11);
    no_attribute(c, "max", 11);
    const auto low = c.optional_tensor("min_value"), high = c.optional_tensor("max_value");
    if (!low && !high) return x;
    for (const auto& bound : {low, high})
        if (bound && bound->numel() != 1)
            throw Error("found min or max with " + std::to_string(bound->numel()) + " elements, expected one element");
    const auto known = [&](const OptionalV& bound) -> std::optional<Scalar> {
        const std::optional<Tensor> value = bound ? c.builder().known(*bound) : std::nullopt;
        return value ? std::optional(value->item()) : std::nullopt;
    };
    const auto low_value = known(low), high_value = known(high);
    if (low.has_value() == low_value.has_value() && high.has_value() == high_value.has_value())
        return clamp(x, low_value, high_value);
    V result = x;
    if (low) result = maximum(result, reshaped(*low, {}));
    if (high) result = minimum(result, reshaped(*high, {}));
    return result;
}

CallResults onnx_where(const Call& c) { return where(c.tensor("condition"), c.tensor("X"), c.tensor("Y")); }

/// Shifts of unsigned integers; bits that leave are lost.
CallResults bit_shift(const Call& c) {
    const std::string direction = c.text("direction");
    if (direction != "LEFT" && direction != "RIGHT")
        throw Error("found direction '" + direction + "', expected 'LEFT' or 'RIGHT'");
    const V x = c.tensor("X"), y = c.tensor("Y");
    return direction == "LEFT" ? bitwise_left_shift(x, y) : bitwise_right_shift(x, y);
}

/// An op of two operands that ATen has under another name.
template <V (*F)(const V&, const V&)>
constexpr OpDef binary(std::string_view schema, std::string_view doc, DTypeSet dtypes) {
    return composite(schema, doc, dtypes, same_as_binary<F>);
}

/// Operands of any number.
template <V (*F)(const V&, const V&)>
constexpr OpDef several(std::string_view schema, std::string_view doc, DTypeSet dtypes) {
    return composite(schema, doc, dtypes, variadic<F>);
}

constexpr DTypeSet kComputed = kNumbers | kLimited;

/// Div and Mod leave integer division by 0 open. ("In case of dividend being zero, the results will be platform
/// dependent" means the divisor.)
Reason open_divided(std::string_view op, const Arguments<Tensor>& a) {
    return bad_division(op, a.tensor("A"), a.tensor("B"));
}

Reason open_shifted(std::string_view op, const Arguments<Tensor>& a) {
    return bad_shift(op, a.tensor("X"), a.tensor("Y"));
}

Reason open_raised(std::string_view op, const Arguments<Tensor>& a) {
    return negative_exponent(op, a.tensor("X"), a.tensor("Y"));
}

/// The text compares numbers: onnx/onnx#6003.
Reason open_clipped(std::string_view op, const Arguments<Tensor>& a) {
    const auto judge = [&](std::string_view operand, std::string_view attribute) -> Reason {
        const std::string what = "bound (" + std::string(attribute) + ")";
        if (const auto bound = a.optional_tensor(operand)) return not_a_number(op, what, *bound);
        const auto bound = a.optional_number(attribute);
        return bound ? not_a_number(op, what, Tensor::of(Scalar(*bound), DType::f64)) : std::nullopt;
    };
    if (Reason reason = judge("min_value", "min")) return reason;
    return judge("max_value", "max");
}

constexpr OpDef kBinaryOps[] = {
    binary<plus>("Add(Tensor A, Tensor B) -> Tensor", "A + B", kComputed),
    binary<minus>("Sub(Tensor A, Tensor B) -> Tensor", "A - B", kComputed),
    binary<mul>("Mul(Tensor A, Tensor B) -> Tensor", "A B", kComputed),
    composite("Div(Tensor A, Tensor B) -> Tensor", "A / B, of integers towards zero", kComputed, onnx_div,
              {.ask = open_divided, .integers_only = true}),
    composite("Pow(Tensor X, Tensor Y) -> Tensor", "X to the Y, in X's type", kNumbers, onnx_pow,
              {.ask = open_raised, .integers_only = true}),
    composite("Mod(Tensor A, Tensor B, *, int fmod=0) -> Tensor",
              "Remainder, with the sign of the divisor or the dividend", kComputed, mod,
              {.ask = open_divided, .integers_only = true}),
    composite("BitShift(Tensor X, Tensor Y, *, str direction) -> Tensor", "Bits of X moved by Y places",
              set_of(DType::u8) | kLimited, bit_shift, {.ask = open_shifted}),
    binary<eq>("Equal(Tensor A, Tensor B) -> Tensor", "A = B", kOrdered),
    binary<gt>("Greater(Tensor A, Tensor B) -> Tensor", "A > B", kComputed),
    binary<lt>("Less(Tensor A, Tensor B) -> Tensor", "A < B", kComputed),
    binary<ge>("GreaterOrEqual(Tensor A, Tensor B) -> Tensor", "A >= B", kComputed),
    binary<le>("LessOrEqual(Tensor A, Tensor B) -> Tensor", "A <= B", kComputed),
    binary<logical_and>("And(Tensor A, Tensor B) -> Tensor", "A and B", kBool),
    binary<logical_or>("Or(Tensor A, Tensor B) -> Tensor", "A or B", kBool),
    binary<logical_xor>("Xor(Tensor A, Tensor B) -> Tensor", "A or B, not both", kBool),
    binary<bitwise_and>("BitwiseAnd(Tensor A, Tensor B) -> Tensor", "Bits that are set in both operands",
                        kIntegers | kLimited),
    binary<bitwise_or>("BitwiseOr(Tensor A, Tensor B) -> Tensor", "Bits that are set in one or both operands",
                       kIntegers | kLimited),
    binary<bitwise_xor>("BitwiseXor(Tensor A, Tensor B) -> Tensor", "Bits that are set in exactly one operand",
                        kIntegers | kLimited),
    several<maximum>("Max(Tensor[] data_0) -> Tensor", "Largest of the operands", kComputed),
    several<minimum>("Min(Tensor[] data_0) -> Tensor", "Smallest of the operands", kComputed),
    several<plus>("Sum(Tensor[] data_0) -> Tensor", "Sum of the operands", kFloating),
    composite("Mean(Tensor[] data_0) -> Tensor", "Mean of the operands", kFloating, onnx_mean),
    composite("Clip(Tensor input, Tensor? min_value=None, Tensor? max_value=None, *, float? max=None, float? min=None) "
              "-> Tensor",
              "input between two bounds", kComputed, clip, {.ask = open_clipped, .if_different = true}),
    composite("Where(Tensor condition, Tensor X, Tensor Y) -> Tensor", "X where the condition holds, else Y", kAnyDType,
              onnx_where),
};

}  // namespace

std::span<const OpDef> onnx_binary_ops() { return kBinaryOps; }

}  // namespace whittle
