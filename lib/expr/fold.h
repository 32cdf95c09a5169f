// Arithmetic on constants with the semantics of expr.h: what the makers fold, and the interpreter's definitions of
// integer division. Folding happens only where the result is the one every run would give.
#pragma once

#include <optional>

#include "expr/expr.h"

namespace whittle::expr {

/// `value` as a constant of `dtype` holds it: floats rounded to the type, integers wrapped, bool.
Scalar normalized(DType dtype, const Scalar& value);

// The folded value, or nothing where it is left to the readers (library functions, casts without a defined value).
std::optional<Scalar> fold_cast(DType to, DType from, const Scalar& a);
std::optional<Scalar> fold_unary(Op op, DType dtype, const Scalar& a);
std::optional<Scalar> fold_binary(Op op, DType dtype, const Scalar& a, const Scalar& b);

/// Euclidean division: 0 <= a mod b < |b|; a / 0 = 0 and a mod 0 = 0. The smallest integer / -1 wraps to itself.
std::int64_t euclidean_div(std::int64_t a, std::int64_t b);
std::int64_t euclidean_mod(std::int64_t a, std::int64_t b);

// The same of the type that integers divide in: std::uint64_t for u64, std::int64_t for the others.
inline std::int64_t integer_div(std::int64_t a, std::int64_t b) { return euclidean_div(a, b); }
inline std::int64_t integer_mod(std::int64_t a, std::int64_t b) { return euclidean_mod(a, b); }
inline std::uint64_t integer_div(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : a / b; }
inline std::uint64_t integer_mod(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : a % b; }

}  // namespace whittle::expr
