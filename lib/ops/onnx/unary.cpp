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
    return composite(schema, doc, dtypes, same_as_unary<F>);
}

/// NaN stays NaN, unlike in ATen.
CallResults onnx_sign(const Call& c) {
    const V x = c.tensor("input"), signs = sign(x);
    if (!is_floating(x.dtype())) return signs;
    return where(isnan(x), x, signs);
}

constexpr OpDef kUnaryOps[] = {
    unary<abs>("|x|", "Abs(Tensor X) -> Tensor", kNumbers | kLimited),
    unary<neg>("-x", "Neg(Tensor X) -> Tensor", kSigned),
    composite("Sign(Tensor input) -> Tensor", "-1, 0 or 1; NaN for NaN", kNumbers | kLimited, onnx_sign),
    unary<reciprocal>("1 / x", "Reciprocal(Tensor X) -> Tensor"),
    unary<floor>("Largest integer not above x", "Floor(Tensor X) -> Tensor"),
    unary<ceil>("Smallest integer not below x", "Ceil(Tensor X) -> Tensor"),
    unary<round>("Nearest integer, ties to even", "Round(Tensor X) -> Tensor"),
    unary<sqrt>("Square root", "Sqrt(Tensor X) -> Tensor"),
    unary<exp>("e to the x", "Exp(Tensor input) -> Tensor"),
    unary<log>("Natural logarithm", "Log(Tensor input) -> Tensor"),
    unary<erf>("Error function", "Erf(Tensor input) -> Tensor"),
    unary<sin>("Sine", "Sin(Tensor input) -> Tensor"),
    unary<cos>("Cosine", "Cos(Tensor input) -> Tensor"),
    unary<tan>("Tangent", "Tan(Tensor input) -> Tensor"),
    unary<asin>("Inverse sine", "Asin(Tensor input) -> Tensor"),
    unary<acos>("Inverse cosine", "Acos(Tensor input) -> Tensor"),
    unary<atan>("Inverse tangent", "Atan(Tensor input) -> Tensor"),
    unary<sinh>("Hyperbolic sine", "Sinh(Tensor input) -> Tensor"),
    unary<cosh>("Hyperbolic cosine", "Cosh(Tensor input) -> Tensor"),
    unary<tanh>("Hyperbolic tangent", "Tanh(Tensor input) -> Tensor"),
    unary<asinh>("Inverse hyperbolic sine", "Asinh(Tensor input) -> Tensor"),
    unary<acosh>("Inverse hyperbolic cosine", "Acosh(Tensor input) -> Tensor"),
    unary<atanh>("Inverse hyperbolic tangent", "Atanh(Tensor input) -> Tensor"),
    unary<isnan>("x is NaN", "IsNaN(Tensor X) -> Tensor"),
    unary<logical_not>("Logical negation", "Not(Tensor X) -> Tensor", kBool),
    unary<bitwise_not>("All bits inverted", "BitwiseNot(Tensor X) -> Tensor", kIntegers | kLimited),
    composite("IsInf(Tensor X, *, int detect_negative=1, int detect_positive=1) -> Tensor",
              "x is an infinity, of either sign or one", kFloating, is_inf),
};

}  // namespace

std::span<const OpDef> onnx_unary_ops() { return kUnaryOps; }

}  // namespace whittle
