// What gradient rules of several families share. A rule reads like a line of ATen's derivatives.yaml, and makes the
// calls that LibTorch's autograd makes, so that joint graphs look like functorch's.
// https://github.com/pytorch/pytorch/blob/v1.13.1/tools/autograd/derivatives.yaml
#pragma once

#include "ops/aten/formulas.h"
#include "ops/core/reduce.h"

namespace whittle {

/// A rule of a reduction of "self" by the parameters "dim" and "keepdim", as far as the op has them.
struct OfReduction : OfSelf {
    explicit OfReduction(const OfSelf& of);
    explicit OfReduction(const Gradients& call) : OfReduction(of_self(call)) {}

    /// With size 1 where dimensions went.
    V kept(V result) const;
    V expanded(const V& result) const;
    double count() const { return static_cast<double>(plan.count()); }
    /// Shared by the elements for which the mask holds.
    V shared(const V& mask) const { return kept(g) / aten::summed(mask, dims, true) * mask; }
    /// Where the mask holds, and where the operand is NaN, as the extreme then is.
    V or_nan(const V& mask) const { return aten::logical_or(mask, aten::isnan(x)); }

    Reduction plan;
    Ints dims;
};

/// A rule of what goes along the dimension "dim" of "self".
struct AlongDim : OfSelf {
    explicit AlongDim(const OfSelf& of) : OfSelf(of), dim(wrap_dim(call.integer("dim"), x.rank())) {}
    V zeros_like_self() const { return aten::zeros(call.builder(), x.sizes(), g.dtype()); }
    V reversed(const V& v) const { return aten::flip(v, Ints{dim}); }

    std::int64_t dim;
};
/// Of values and indices, each index once in its line.
V picked_grad(const OfSelf& of);

/// Sets what a backward op gives of input, weight and bias, where they are needed. `through_statistics`: what flows
/// into the input beside that. Means and deviations that layer and batch norm also give have no gradient, as in
/// LibTorch.
void set_parameters(Gradients& c, std::string_view backward, ArgList args, const OptionalV& through_statistics = {});
/// Into x by way of results 1 and 2, its mean and rstd over `count` elements each, which are of `shape` to broadcast to
/// x: (g1 - g2 x^ rstd^2) / count with x^ = (x - mean) rstd. Nothing where no output depends on them; a gradient's
/// gradient does.
OptionalV through_statistics(Gradients& c, const V& x, const Sizes& shape, std::int64_t count);
inline Arg result_arg(Gradients& c, std::size_t index) { return c.result(index); }

}  // namespace whittle
