// ONNX's ops of several operands, element by element: arithmetic, comparisons, logic, selection.
#include <functional>

#include "ops/onnx/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// Integers divide towards zero.
Results div(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue a = op.tensor("A"), b = op.tensor("B");
    if (is_floating(a.meta.dtype)) return {op("aten.div.Tensor", a, b).ref};
    return {builder.call("aten.div.Tensor_mode", {arg(a), arg(b)}, {{"rounding_mode", "trunc"}}).ref};
}

/// The result has the base's type, whatever the exponent's: computed in the promoted type, then converted.
Results pow(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue base = op.tensor("X");
    return {op.cast(op("aten.pow.Tensor_Tensor", base, op.tensor("Y")), base.meta.dtype).ref};
}

/// fmod=1: the sign of the dividend, as C's fmod; else the sign of the divisor, for integers only.
Results mod(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue a = op.tensor("A"), b = op.tensor("B");
    if (op.integer("fmod") != 0) return {op("aten.fmod.Tensor", a, b).ref};
    if (is_floating(a.meta.dtype)) throw Error("found fmod=0 with a floating-point dividend, expected fmod=1");
    return {op("aten.remainder.Tensor", a, b).ref};
}

/// Max, Min, Sum, Mean: of one operand at least.
NodeValue fold_operands(const Rewrite& op, std::string_view target) {
    const std::vector<NodeValue> operands = op.arguments().tensors("data_0");
    if (operands.empty()) throw Error("found no operands, expected at least one");
    NodeValue result = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) result = op(target, result, operands[i]);
    return result;
}

template <Name Target>
Results variadic(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    return {fold_operands(Rewrite(builder, arguments), Target).ref};
}

Results mean(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const auto count = static_cast<double>(arguments.tensors("data_0").size());
    return {op("aten.div.Tensor", fold_operands(op, "aten.add.Tensor"), count).ref};
}

/// Bounds were attributes before opset 11, then optional 0-d operands. A bound below the other wins as in clamp.
Results clip(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("input");
    if (op.opset() < 11) {
        const std::optional<double> low = arguments.optional_number("min"), high = arguments.optional_number("max");
        if (!low && !high) return {x.ref};
        return {op("aten.clamp.default", x, low ? Arg(*low) : Arg(), high ? Arg(*high) : Arg()).ref};
    }
    op.no_attribute("min", 11);
    op.no_attribute("max", 11);
    const auto low = arguments.optional_tensor("min_value"), high = arguments.optional_tensor("max_value");
    if (!low && !high) return {x.ref};
    const auto known = [&](const std::optional<NodeValue>& bound) {
        return bound ? builder.known(*bound) : std::optional<Tensor>();
    };
    for (const auto& bound : {low, high})
        if (bound && bound->meta.numel() != 1)
            throw Error("found min or max with " + std::to_string(bound->meta.numel()) +
                        " elements, expected one element");
    const std::optional<Tensor> low_value = known(low), high_value = known(high);
    if (low.has_value() == low_value.has_value() && high.has_value() == high_value.has_value())
        return {
            op("aten.clamp.default", x, low ? Arg(low_value->item()) : Arg(), high ? Arg(high_value->item()) : Arg())
                .ref};
    NodeValue result = x;
    if (low) result = op("aten.maximum.default", result, op.reshape(*low, {}));
    if (high) result = op("aten.minimum.default", result, op.reshape(*high, {}));
    return {result.ref};
}

Results where(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.where.self", op.tensor("condition"), op.tensor("X"), op.tensor("Y")).ref};
}

/// Shifts of unsigned integers; bits that leave are lost.
Results bit_shift(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const std::string direction = arguments.text("direction");
    if (direction != "LEFT" && direction != "RIGHT")
        throw Error("found direction '" + direction + "', expected LEFT or RIGHT");
    const bool left = direction == "LEFT";
    return {
        op(left ? "aten.bitwise_left_shift.Tensor" : "aten.bitwise_right_shift.Tensor", op.tensor("X"), op.tensor("Y"))
            .ref};
}

/// An op of two operands that ATen has under another name.
template <Name Target>
constexpr OpDef binary(std::string_view name, std::string_view doc, std::string_view schema, DTypeSet dtypes) {
    return {.name = name, .doc = doc, .schema = schema, .dtypes = dtypes, .decompose = same_as_binary<Target>};
}

/// Operands of any number.
template <Name Target>
constexpr OpDef several(std::string_view name, std::string_view doc, std::string_view schema, DTypeSet dtypes) {
    return {.name = name, .doc = doc, .schema = schema, .dtypes = dtypes, .decompose = variadic<Target>};
}

constexpr DTypeSet kComputed = kNumbers | kLimited;

constexpr OpDef kBinaryOps[] = {
    binary<"aten.add.Tensor">("onnx.Add", "A + B. onnx Operators.md#Add", "Add(Tensor A, Tensor B) -> Tensor",
                              kComputed),
    binary<"aten.sub.Tensor">("onnx.Sub", "A - B. onnx Operators.md#Sub", "Sub(Tensor A, Tensor B) -> Tensor",
                              kComputed),
    binary<"aten.mul.Tensor">("onnx.Mul", "A B. onnx Operators.md#Mul", "Mul(Tensor A, Tensor B) -> Tensor", kComputed),
    {.name = "onnx.Div",
     .doc = "A / B, of integers towards zero. onnx Operators.md#Div",
     .schema = "Div(Tensor A, Tensor B) -> Tensor",
     .dtypes = kComputed,
     .decompose = div,
     .open = {.ask = onnx_open::divided, .integers_only = true}},
    {.name = "onnx.Pow",
     .doc = "X to the Y, in X's type. onnx Operators.md#Pow",
     .schema = "Pow(Tensor X, Tensor Y) -> Tensor",
     .dtypes = kNumbers,
     .decompose = pow,
     .open = {.ask = onnx_open::raised, .integers_only = true}},
    {.name = "onnx.Mod",
     .doc = "Remainder, with the sign of the divisor or the dividend. onnx Operators.md#Mod",
     .schema = "Mod(Tensor A, Tensor B, *, int fmod=0) -> Tensor",
     .dtypes = kComputed,
     .decompose = mod,
     .open = {.ask = onnx_open::divided, .integers_only = true}},
    {.name = "onnx.BitShift",
     .doc = "Bits of X moved by Y places. onnx Operators.md#BitShift",
     .schema = "BitShift(Tensor X, Tensor Y, *, str direction) -> Tensor",
     .dtypes = set_of(DType::u8) | kLimited,
     .decompose = bit_shift,
     .open = {.ask = onnx_open::shifted}},
    binary<"aten.eq.Tensor">("onnx.Equal", "A = B. onnx Operators.md#Equal", "Equal(Tensor A, Tensor B) -> Tensor",
                             kOrdered),
    binary<"aten.gt.Tensor">("onnx.Greater", "A > B. onnx Operators.md#Greater",
                             "Greater(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<"aten.lt.Tensor">("onnx.Less", "A < B. onnx Operators.md#Less", "Less(Tensor A, Tensor B) -> Tensor",
                             kComputed),
    binary<"aten.ge.Tensor">("onnx.GreaterOrEqual", "A >= B. onnx Operators.md#GreaterOrEqual",
                             "GreaterOrEqual(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<"aten.le.Tensor">("onnx.LessOrEqual", "A <= B. onnx Operators.md#LessOrEqual",
                             "LessOrEqual(Tensor A, Tensor B) -> Tensor", kComputed),
    binary<"aten.logical_and.default">("onnx.And", "A and B. onnx Operators.md#And",
                                       "And(Tensor A, Tensor B) -> Tensor", kBool),
    binary<"aten.logical_or.default">("onnx.Or", "A or B. onnx Operators.md#Or", "Or(Tensor A, Tensor B) -> Tensor",
                                      kBool),
    binary<"aten.logical_xor.default">("onnx.Xor", "A or B, not both. onnx Operators.md#Xor",
                                       "Xor(Tensor A, Tensor B) -> Tensor", kBool),
    binary<"aten.bitwise_and.Tensor">("onnx.BitwiseAnd", "Bits that both have. onnx Operators.md#BitwiseAnd",
                                      "BitwiseAnd(Tensor A, Tensor B) -> Tensor", kIntegers | kLimited),
    binary<"aten.bitwise_or.Tensor">("onnx.BitwiseOr", "Bits that either has. onnx Operators.md#BitwiseOr",
                                     "BitwiseOr(Tensor A, Tensor B) -> Tensor", kIntegers | kLimited),
    binary<"aten.bitwise_xor.Tensor">("onnx.BitwiseXor", "Bits that one has. onnx Operators.md#BitwiseXor",
                                      "BitwiseXor(Tensor A, Tensor B) -> Tensor", kIntegers | kLimited),
    several<"aten.maximum.default">("onnx.Max", "Largest of the operands. onnx Operators.md#Max",
                                    "Max(Tensor[] data_0) -> Tensor", kComputed),
    several<"aten.minimum.default">("onnx.Min", "Smallest of the operands. onnx Operators.md#Min",
                                    "Min(Tensor[] data_0) -> Tensor", kComputed),
    several<"aten.add.Tensor">("onnx.Sum", "Sum of the operands. onnx Operators.md#Sum",
                               "Sum(Tensor[] data_0) -> Tensor", kFloating),
    {.name = "onnx.Mean",
     .doc = "Mean of the operands. onnx Operators.md#Mean",
     .schema = "Mean(Tensor[] data_0) -> Tensor",
     .dtypes = kFloating,
     .decompose = mean},
    {.name = "onnx.Clip",
     .doc = "input between two bounds. onnx Operators.md#Clip",
     .schema = "Clip(Tensor input, Tensor? min_value=None, Tensor? max_value=None, *, float? max=None, "
               "float? min=None) -> Tensor",
     .dtypes = kComputed,
     .decompose = clip},
    {.name = "onnx.Where",
     .doc = "X where the condition holds, else Y. onnx Operators.md#Where",
     .schema = "Where(Tensor condition, Tensor X, Tensor Y) -> Tensor",
     .decompose = where},
};

}  // namespace

std::span<const OpDef> onnx_binary_ops() { return kBinaryOps; }

}  // namespace whittle
