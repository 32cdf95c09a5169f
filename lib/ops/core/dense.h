// What matmul, convolution and pooling have in common: reading operands alike in infer, eval and lower, accumulating in
// a wider type, and lowering operands that a reduction reads many times.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "ops/core/pointwise.h"

namespace whittle {

inline ValueMeta meta_of(const ValueMeta& value) { return value; }
inline ValueMeta meta_of(const Tensor& value) { return ValueMeta::of(value); }
inline ValueMeta meta_of(const V& value) { return value.meta; }
inline ValueMeta meta_of(const expr::Value& value) { return ValueMeta::contiguous(value.dtype(), value.sizes()); }

/// Throws Error unless `other` (called `name` in the message) has `dtype`.
void check_same_dtype(const std::string& op, DType dtype, const std::string& name, DType other);

/// Whether a tensor of sizes `from` broadcasts to just `to`.
bool expands_to(const Sizes& from, const Sizes& to);

/// An operand that a reduction reads about `times` times: as it is when an element costs one load at simple indices
/// (stored values, permutations, slices, broadcasts) or little that is not repeated much; else stored first, lest it be
/// computed anew for every result it enters.
expr::Value loadable(expr::GroupBuilder& builder, const expr::Value& operand, std::int64_t times = 1 << 20);

/// What a sum of `terms` products is kept in, one after the other: compute_dtype(), but f64 for f32 and more than
/// kMostProductsInF32. (Reductions, whose reference always adds in f64, are stricter: fold_sum().)
DType accumulator_dtype(DType dtype, std::int64_t terms);

/// A sum of products (or any other accumulation), as a stage; without one when there is nothing to accumulate.
expr::Value reduction_stage(expr::GroupBuilder& builder, DType dtype, const Sizes& sizes, const Sizes& domain,
                            const std::function<expr::Expr(const expr::Index&)>& init,
                            const std::function<expr::Expr(const expr::Index&, const expr::Index&, expr::Expr)>& update,
                            const std::string& hint = {});

}  // namespace whittle
