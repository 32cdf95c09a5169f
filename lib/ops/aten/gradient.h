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

/// Of convolution, normalization and losses (layer_grad.cpp). Means and deviations that layer and batch norm also give
/// have no gradient, as in LibTorch.
using GradRule = void(Gradients&);
GradRule convolution_grad, layer_norm_grad, group_norm_grad, batch_norm_grad, batch_norm_inference_grad;
GradRule batch_norm_batch_grad, mse_loss_grad, smooth_l1_loss_grad;
V nll_loss_grad(const OfSelf& r);

/// Of images read at positions (grid_sample_grad.cpp).
GradRule grid_sample_grad;

}  // namespace whittle
