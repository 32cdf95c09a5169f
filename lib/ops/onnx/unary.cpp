// ONNX's functions of one operand, element by element: arithmetic, rounding, exponentials, trigonometry, predicates.
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace aten;
using namespace onnx_dialect;

/// IsInf can look at one sign only.
CallResults is_inf(const Call& c) {
    const V x = c.tensor("X");
    const bool negative = c.integer("detect_negative") != 0, positive = c.integer("detect_positive") != 0;
    if (negative && positive) return isinf(x);
    if (!negative && !positive) return full(c.builder(), x.sizes(), false, DType::boolean);
    return logical_and(isinf(x), negative ? lt(x, 0.0) : gt(x, 0.0));
}

constexpr DTypeSet kSigned = kNumbers & ~set_of(DType::u8);

/// An op of one operand that ATen has under another name.
template <V (*F)(const V&)>
constexpr OpDef unary(std::string_view doc, std::string_view schema, DTypeSet dtypes = kFloating) {
    return {.doc = doc, .schema = schema, .dtypes = dtypes, .decompose = same_as_unary<F>};
}

/// NaN stays NaN, unlike in ATen.
CallResults onnx_sign(const Call& c) {
    const V x = c.tensor("input"), signs = sign(x);
    if (!is_floating(x.dtype())) return signs;
    return where(isnan(x), x, signs);
}

constexpr OpDef kUnaryOps[] = {
    unary<abs>("|x|. onnx Operators.md#Abs", "Abs(Tensor X) -> Tensor", kNumbers | kLimited),
    unary<neg>("-x. onnx Operators.md#Neg", "Neg(Tensor X) -> Tensor", kSigned),
    {.doc = "-1, 0 or 1; NaN for NaN. onnx Operators.md#Sign",
     .schema = "Sign(Tensor input) -> Tensor",
     .dtypes = kNumbers | kLimited,
     .decompose = onnx_sign},
    unary<reciprocal>("1 / x. onnx Operators.md#Reciprocal", "Reciprocal(Tensor X) -> Tensor"),
    unary<floor>("Largest integer not above x. onnx Operators.md#Floor", "Floor(Tensor X) -> Tensor"),
    unary<ceil>("Smallest integer not below x. onnx Operators.md#Ceil", "Ceil(Tensor X) -> Tensor"),
    unary<round>("Nearest integer, ties to even. onnx Operators.md#Round", "Round(Tensor X) -> Tensor"),
    unary<sqrt>("Square root. onnx Operators.md#Sqrt", "Sqrt(Tensor X) -> Tensor"),
    unary<exp>("e to the x. onnx Operators.md#Exp", "Exp(Tensor input) -> Tensor"),
    unary<log>("Natural logarithm. onnx Operators.md#Log", "Log(Tensor input) -> Tensor"),
    unary<erf>("Error function. onnx Operators.md#Erf", "Erf(Tensor input) -> Tensor"),
    unary<sin>("Sine. onnx Operators.md#Sin", "Sin(Tensor input) -> Tensor"),
    unary<cos>("Cosine. onnx Operators.md#Cos", "Cos(Tensor input) -> Tensor"),
    unary<tan>("Tangent. onnx Operators.md#Tan", "Tan(Tensor input) -> Tensor"),
    unary<asin>("Inverse sine. onnx Operators.md#Asin", "Asin(Tensor input) -> Tensor"),
    unary<acos>("Inverse cosine. onnx Operators.md#Acos", "Acos(Tensor input) -> Tensor"),
    unary<atan>("Inverse tangent. onnx Operators.md#Atan", "Atan(Tensor input) -> Tensor"),
    unary<sinh>("Hyperbolic sine. onnx Operators.md#Sinh", "Sinh(Tensor input) -> Tensor"),
    unary<cosh>("Hyperbolic cosine. onnx Operators.md#Cosh", "Cosh(Tensor input) -> Tensor"),
    unary<tanh>("Hyperbolic tangent. onnx Operators.md#Tanh", "Tanh(Tensor input) -> Tensor"),
    unary<asinh>("Inverse hyperbolic sine. onnx Operators.md#Asinh", "Asinh(Tensor input) -> Tensor"),
    unary<acosh>("Inverse hyperbolic cosine. onnx Operators.md#Acosh", "Acosh(Tensor input) -> Tensor"),
    unary<atanh>("Inverse hyperbolic tangent. onnx Operators.md#Atanh", "Atanh(Tensor input) -> Tensor"),
    unary<isnan>("x is NaN. onnx Operators.md#IsNaN", "IsNaN(Tensor X) -> Tensor"),
    unary<logical_not>("Logical negation. onnx Operators.md#Not", "Not(Tensor X) -> Tensor", kBool),
    unary<bitwise_not>("All bits inverted. onnx Operators.md#BitwiseNot", "BitwiseNot(Tensor X) -> Tensor",
                       kIntegers | kLimited),
    {.doc = "x is an infinity, of either sign or one. onnx Operators.md#IsInf",
     .schema = "IsInf(Tensor X, *, int detect_negative=1, int detect_positive=1) -> Tensor",
     .dtypes = kFloating,
     .decompose = is_inf},
};

}  // namespace

std::span<const OpDef> onnx_unary_ops() { return kUnaryOps; }

}  // namespace whittle
