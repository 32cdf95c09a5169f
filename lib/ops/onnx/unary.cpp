// ONNX's functions of one operand, element by element: arithmetic, rounding, exponentials, trigonometry, predicates.
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// IsInf can look at one sign only.
Results is_inf(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const bool negative = op.integer("detect_negative") != 0, positive = op.integer("detect_positive") != 0;
    if (negative && positive) return {op("aten.isinf.default", x).ref};
    if (!negative && !positive) return {op.full(x.meta.sizes, Scalar(false), DType::boolean).ref};
    const NodeValue side = op(negative ? "aten.lt.Scalar" : "aten.gt.Scalar", x, 0.0);
    return {op("aten.logical_and.default", op("aten.isinf.default", x), side).ref};
}

constexpr DTypeSet kSigned = kNumbers & ~set_of(DType::u8);

/// An op of one operand that ATen has under another name.
template <Name Target>
constexpr OpDef unary(std::string_view name, std::string_view doc, std::string_view schema,
                      DTypeSet dtypes = kFloating) {
    return {.name = name, .doc = doc, .schema = schema, .dtypes = dtypes, .decompose = same_as_unary<Target>};
}

/// NaN stays NaN, unlike in ATen.
Results sign(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("input"), signs = op("aten.sign.default", x);
    if (!is_floating(x.meta.dtype)) return {signs.ref};
    return {op("aten.where.self", op("aten.isnan.default", x), x, signs).ref};
}

constexpr OpDef kUnaryOps[] = {
    unary<"aten.abs.default">("onnx.Abs", "|x|. onnx Operators.md#Abs", "Abs(Tensor X) -> Tensor", kNumbers | kLimited),
    unary<"aten.neg.default">("onnx.Neg", "-x. onnx Operators.md#Neg", "Neg(Tensor X) -> Tensor", kSigned),
    {.name = "onnx.Sign",
     .doc = "-1, 0 or 1; NaN for NaN. onnx Operators.md#Sign",
     .schema = "Sign(Tensor input) -> Tensor",
     .dtypes = kNumbers | kLimited,
     .decompose = sign},
    unary<"aten.reciprocal.default">("onnx.Reciprocal", "1 / x. onnx Operators.md#Reciprocal",
                                     "Reciprocal(Tensor X) -> Tensor"),
    unary<"aten.floor.default">("onnx.Floor", "Largest integer not above x. onnx Operators.md#Floor",
                                "Floor(Tensor X) -> Tensor"),
    unary<"aten.ceil.default">("onnx.Ceil", "Smallest integer not below x. onnx Operators.md#Ceil",
                               "Ceil(Tensor X) -> Tensor"),
    unary<"aten.round.default">("onnx.Round", "Nearest integer, ties to even. onnx Operators.md#Round",
                                "Round(Tensor X) -> Tensor"),
    unary<"aten.sqrt.default">("onnx.Sqrt", "Square root. onnx Operators.md#Sqrt", "Sqrt(Tensor X) -> Tensor"),
    unary<"aten.exp.default">("onnx.Exp", "e to the x. onnx Operators.md#Exp", "Exp(Tensor input) -> Tensor"),
    unary<"aten.log.default">("onnx.Log", "Natural logarithm. onnx Operators.md#Log", "Log(Tensor input) -> Tensor"),
    unary<"aten.erf.default">("onnx.Erf", "Error function. onnx Operators.md#Erf", "Erf(Tensor input) -> Tensor"),
    unary<"aten.sin.default">("onnx.Sin", "Sine. onnx Operators.md#Sin", "Sin(Tensor input) -> Tensor"),
    unary<"aten.cos.default">("onnx.Cos", "Cosine. onnx Operators.md#Cos", "Cos(Tensor input) -> Tensor"),
    unary<"aten.tan.default">("onnx.Tan", "Tangent. onnx Operators.md#Tan", "Tan(Tensor input) -> Tensor"),
    unary<"aten.asin.default">("onnx.Asin", "Inverse sine. onnx Operators.md#Asin", "Asin(Tensor input) -> Tensor"),
    unary<"aten.acos.default">("onnx.Acos", "Inverse cosine. onnx Operators.md#Acos", "Acos(Tensor input) -> Tensor"),
    unary<"aten.atan.default">("onnx.Atan", "Inverse tangent. onnx Operators.md#Atan", "Atan(Tensor input) -> Tensor"),
    unary<"aten.sinh.default">("onnx.Sinh", "Hyperbolic sine. onnx Operators.md#Sinh", "Sinh(Tensor input) -> Tensor"),
    unary<"aten.cosh.default">("onnx.Cosh", "Hyperbolic cosine. onnx Operators.md#Cosh",
                               "Cosh(Tensor input) -> Tensor"),
    unary<"aten.tanh.default">("onnx.Tanh", "Hyperbolic tangent. onnx Operators.md#Tanh",
                               "Tanh(Tensor input) -> Tensor"),
    unary<"aten.asinh.default">("onnx.Asinh", "Inverse hyperbolic sine. onnx Operators.md#Asinh",
                                "Asinh(Tensor input) -> Tensor"),
    unary<"aten.acosh.default">("onnx.Acosh", "Inverse hyperbolic cosine. onnx Operators.md#Acosh",
                                "Acosh(Tensor input) -> Tensor"),
    unary<"aten.atanh.default">("onnx.Atanh", "Inverse hyperbolic tangent. onnx Operators.md#Atanh",
                                "Atanh(Tensor input) -> Tensor"),
    unary<"aten.isnan.default">("onnx.IsNaN", "x is NaN. onnx Operators.md#IsNaN", "IsNaN(Tensor X) -> Tensor"),
    unary<"aten.logical_not.default">("onnx.Not", "Logical negation. onnx Operators.md#Not", "Not(Tensor X) -> Tensor",
                                      kBool),
    unary<"aten.bitwise_not.default">("onnx.BitwiseNot", "All bits inverted. onnx Operators.md#BitwiseNot",
                                      "BitwiseNot(Tensor X) -> Tensor", kIntegers | kLimited),
    {.name = "onnx.IsInf",
     .doc = "x is an infinity, of either sign or one. onnx Operators.md#IsInf",
     .schema = "IsInf(Tensor X, *, int detect_negative=1, int detect_positive=1) -> Tensor",
     .dtypes = kFloating,
     .decompose = is_inf},
};

}  // namespace

std::span<const OpDef> onnx_unary_ops() { return kUnaryOps; }

}  // namespace whittle
