// What decompositions and gradient rules are written with: ATen's ops as functions of values, and shorthands for calls
// that are often not needed at all.
#pragma once

#include "ops/aten/calls.h"
#include "ops/core/op.h"

namespace whittle::aten {

/// The value as `dtype`; x itself when it is that already.
V as(const V& x, DType dtype);
/// With other sizes of as many elements; x itself when it has them already.
V reshaped(const V& x, const Sizes& sizes);
/// Over no dimensions it is x.
V summed(const V& x, const Ints& dims, bool keep = false);
/// Elements start to end - 1 of a dimension; x itself when these are all.
V sliced(const V& x, std::int64_t dim, std::int64_t start, std::int64_t end);
/// x, of complex numbers the conjugates.
V conjugate(const V& x);
/// 1 - x
V complement(const V& x);
/// x by a number, which may be 1.
V scaled(const V& x, const Scalar& by);
/// x where the condition holds, else 0.
V keep(const V& condition, const V& x);
/// 0 where the condition holds, else x.
V drop(const V& condition, const V& x);
/// The real parts; x itself where it is real.
V real_part(const V& x);
Ints all_negated(Ints values);
/// The gradient of elements of a tensor of sizes `sizes`, added up where they came from: `positions` has an i64 for
/// each element of `grad`, which may be negative, among the tensor's elements in row-major order.
V add_at(const V& grad, const V& positions, const Sizes& sizes);
/// A contiguous copy with memory of its own: for decompositions of ops whose results are no views in ATen.
V own_copy(const V& x);
/// What stands for a gradient that output_mask leaves out.
V none(GraphBuilder& builder, DType dtype);

/// The rule of functions whose gradient is the result's as it is: frac, views and casts, whose other sizes and dtypes
/// Gradients::set takes back.
inline V pass_gradient(const OfSelf& r) { return r.g; }

}  // namespace whittle::aten
