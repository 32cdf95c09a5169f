// ONNX's ops of several operands, element by element: arithmetic, comparisons, logic, selection.
#include <functional>

#include "ops/onnx/open_rules.h"
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
constexpr OpDef binary(std::string_view doc, std::string_view schema, DTypeSet dtypes) {
    return {.doc = doc, .schema = schema, .dtypes = dtypes, .decompose = same_as_binary<F>};
}

/// Operands of any number.
template <V (*F)(const V&, const V&)>
constexpr OpDef several(std::string_view doc, std::string_view schema, DTypeSet dtypes) {
    return {.doc = doc, .schema = schema, .dtypes = dtypes, .decompose = variadic<F>};
}

constexpr DTypeSet kComputed = kNumbers | kLimited;

constexpr OpDef kBinaryOps[] = {
    binary<plus>("A + B. onnx Operators.md#Add", "Add(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<minus>("A - B. onnx Operators.md#Sub", "Sub(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<mul>("A B. onnx Operators.md#Mul", "Mul(Tensor A, Tensor B) -> Tensor", kComputed),
    {.doc = "A / B, of integers towards zero. onnx Operators.md#Div",
     .schema = "Div(Tensor A, Tensor B) -> Tensor",
     .dtypes = kComputed,
     .decompose = onnx_div,
     .open = {.ask = onnx_open::divided, .integers_only = true}},
    {.doc = "X to the Y, in X's type. onnx Operators.md#Pow",
     .schema = "Pow(Tensor X, Tensor Y) -> Tensor",
     .dtypes = kNumbers,
     .decompose = onnx_pow,
     .open = {.ask = onnx_open::raised, .integers_only = true}},
    {.doc = "Remainder, with the sign of the divisor or the dividend. onnx Operators.md#Mod",
     .schema = "Mod(Tensor A, Tensor B, *, int fmod=0) -> Tensor",
     .dtypes = kComputed,
     .decompose = mod,
     .open = {.ask = onnx_open::divided, .integers_only = true}},
    {.doc = "Bits of X moved by Y places. onnx Operators.md#BitShift",
     .schema = "BitShift(Tensor X, Tensor Y, *, str direction) -> Tensor",
     .dtypes = set_of(DType::u8) | kLimited,
     .decompose = bit_shift,
     .open = {.ask = onnx_open::shifted}},
    binary<eq>("A = B. onnx Operators.md#Equal", "Equal(Tensor A, Tensor B) -> Tensor", kOrdered),
    binary<gt>("A > B. onnx Operators.md#Greater", "Greater(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<lt>("A < B. onnx Operators.md#Less", "Less(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<ge>("A >= B. onnx Operators.md#GreaterOrEqual", "GreaterOrEqual(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<le>("A <= B. onnx Operators.md#LessOrEqual", "LessOrEqual(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<logical_and>("A and B. onnx Operators.md#And", "And(Tensor A, Tensor B) -> Tensor", kBool),
    binary<logical_or>("A or B. onnx Operators.md#Or", "Or(Tensor A, Tensor B) -> Tensor", kBool),
    binary<logical_xor>("A or B, not both. onnx Operators.md#Xor", "Xor(Tensor A, Tensor B) -> Tensor", kBool),
    binary<bitwise_and>("Bits that both have. onnx Operators.md#BitwiseAnd", "BitwiseAnd(Tensor A, Tensor B) -> Tensor",
                        kIntegers | kLimited),
    binary<bitwise_or>("Bits that either has. onnx Operators.md#BitwiseOr", "BitwiseOr(Tensor A, Tensor B) -> Tensor",
                       kIntegers | kLimited),
    binary<bitwise_xor>("Bits that one has. onnx Operators.md#BitwiseXor", "BitwiseXor(Tensor A, Tensor B) -> Tensor",
                        kIntegers | kLimited),
    several<maximum>("Largest of the operands. onnx Operators.md#Max", "Max(Tensor[] data_0) -> Tensor", kComputed),
    several<minimum>("Smallest of the operands. onnx Operators.md#Min", "Min(Tensor[] data_0) -> Tensor", kComputed),
    several<plus>("Sum of the operands. onnx Operators.md#Sum", "Sum(Tensor[] data_0) -> Tensor", kFloating),
    {.doc = "Mean of the operands. onnx Operators.md#Mean",
     .schema = "Mean(Tensor[] data_0) -> Tensor",
     .dtypes = kFloating,
     .decompose = onnx_mean},
    {.doc = "input between two bounds. onnx Operators.md#Clip",
     .schema = "Clip(Tensor input, Tensor? min_value=None, Tensor? max_value=None, *, float? max=None, "
               "float? min=None) -> Tensor",
     .dtypes = kComputed,
     .decompose = clip},
    {.doc = "X where the condition holds, else Y. onnx Operators.md#Where",
     .schema = "Where(Tensor condition, Tensor X, Tensor Y) -> Tensor",
     .decompose = onnx_where},
};

}  // namespace

std::span<const OpDef> onnx_binary_ops() { return kBinaryOps; }

}  // namespace whittle
