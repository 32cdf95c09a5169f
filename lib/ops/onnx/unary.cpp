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
constexpr OpDef unary(std::string_view schema, std::string_view doc, DTypeSet dtypes = kFloating) {
    return composite(schema, doc, dtypes, same_as_unary<F>);
}

/// NaN stays NaN, unlike in ATen.
CallResults onnx_sign(const Call& c) {
    const V x = c.tensor("input"), signs = sign(x);
    if (!is_floating(x.dtype())) return signs;
    return where(isnan(x), x, signs);
}

constexpr OpDef kUnaryOps[] = {
    unary<abs>("Abs(Tensor X) -> Tensor", "|x|", kNumbers | kLimited),
    unary<neg>("Neg(Tensor X) -> Tensor", "-x", kSigned),
    composite("Sign(Tensor input) -> Tensor", "-1, 0 or 1; NaN for NaN", kNumbers | kLimited, onnx_sign),
    unary<reciprocal>("Reciprocal(Tensor X) -> Tensor", "1 / x"),
    unary<floor>("Floor(Tensor X) -> Tensor", "Largest integer not above x"),
    unary<ceil>("Ceil(Tensor X) -> Tensor", "Smallest integer not below x"),
    unary<round>("Round(Tensor X) -> Tensor", "Nearest integer, ties to even"),
    unary<sqrt>("Sqrt(Tensor X) -> Tensor", "Square root"),
    unary<exp>("Exp(Tensor input) -> Tensor", "e to the x"),
    unary<log>("Log(Tensor input) -> Tensor", "Natural logarithm"),
    unary<erf>("Erf(Tensor input) -> Tensor", "Error function"),
    unary<sin>("Sin(Tensor input) -> Tensor", "Sine"),
    unary<cos>("Cos(Tensor input) -> Tensor", "Cosine"),
    unary<tan>("Tan(Tensor input) -> Tensor", "Tangent"),
    unary<asin>("Asin(Tensor input) -> Tensor", "Inverse sine"),
    unary<acos>("Acos(Tensor input) -> Tensor", "Inverse cosine"),
    unary<atan>("Atan(Tensor input) -> Tensor", "Inverse tangent"),
    unary<sinh>("Sinh(Tensor input) -> Tensor", "Hyperbolic sine"),
    unary<cosh>("Cosh(Tensor input) -> Tensor", "Hyperbolic cosine"),
    unary<tanh>("Tanh(Tensor input) -> Tensor", "Hyperbolic tangent"),
    unary<asinh>("Asinh(Tensor input) -> Tensor", "Inverse hyperbolic sine"),
    unary<acosh>("Acosh(Tensor input) -> Tensor", "Inverse hyperbolic cosine"),
    unary<atanh>("Atanh(Tensor input) -> Tensor", "Inverse hyperbolic tangent"),
    unary<isnan>("IsNaN(Tensor X) -> Tensor", "Whether x is NaN"),
    unary<logical_not>("Not(Tensor X) -> Tensor", "Logical negation", kBool),
    unary<bitwise_not>("BitwiseNot(Tensor X) -> Tensor", "All bits inverted", kIntegers | kLimited),
    composite("IsInf(Tensor X, *, int detect_negative=1, int detect_positive=1) -> Tensor",
              "Whether x is an infinity, of either sign or only of one", kFloating, is_inf),
};

}  // namespace

std::span<const OpDef> onnx_unary_ops() { return kUnaryOps; }

}  // namespace whittle
