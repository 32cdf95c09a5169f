// Gradient rules that are longer than a line of a record. A rule reads like a line of ATen's derivatives.yaml, and makes
// the calls that LibTorch's autograd makes, so that joint graphs look like functorch's.
// https://github.com/pytorch/pytorch/blob/v1.13.1/tools/autograd/derivatives.yaml
#pragma once

#include "ops/aten/formulas.h"

namespace whittle {

// Types of rules, to declare many in a line.
using GradRule = void(Gradients&);
using GradFormula = V(const OfSelf&);

// Of two operands and more, element by element (arithmetic_grad.cpp). Steps have zero_gradient, predicates no_gradient.
GradRule add_grad, sub_grad, rsub_grad, mul_grad, maximum_grad, minimum_grad, fmax_grad, fmin_grad, atan2_grad;
GradRule div_grad, div_mode_grad, remainder_grad, fmod_grad;
GradFormula pow_number_grad;
GradRule pow_grad, pow_of_number_grad;
GradFormula clamp_grad, clamp_min_grad, clamp_max_grad;
GradRule clamp_tensor_grad, lerp_grad, addcmul_grad, addcdiv_grad;
GradRule where_grad, masked_fill_grad;

// Complex numbers, their parts, and Fourier transforms (complex_grad.cpp).
GradFormula imag_grad, view_as_real_grad, view_as_complex_grad, conj_grad, sgn_grad, angle_grad;
GradRule complex_grad, polar_grad;
GradFormula fft_c2c_grad, fft_r2c_grad, fft_c2r_grad;

// Of one tensor, seen otherwise (view_grad.cpp). What is broadcast or converted is summed or converted by being set.
GradFormula restore_grad;  ///< other sizes: reshaped back
GradFormula permute_grad, transpose_grad, movedim_grad, t_grad, unsqueeze_grad, squeeze_grad;
GradFormula select_grad, slice_grad, narrow_grad, unfold_grad;
GradFormula unbind_grad, split_grad, diagonal_grad;
GradRule copy_grad;
/// The gradient of elements of a tensor of sizes `sizes`, added up where they came from: `positions` has an i64 for
/// each element of `grad`, which may be negative, among the tensor's elements in row-major order.
V add_at(const V& grad, const V& positions, const Sizes& sizes);

// Rearranged, joined, overwritten (rearrange_grad.cpp).
GradFormula flip_grad, roll_grad, repeat_grad, constant_pad_grad, border_pad_grad;
GradFormula tril_grad, triu_grad;
GradRule cat_grad, stack_grad, select_scatter_grad, slice_scatter_grad;

// What reads or writes elements at computed positions (index_grad.cpp).
GradFormula gather_grad, index_select_grad, take_grad, index_grad;
GradRule embedding_grad, index_put_grad;
GradRule scatter_grad, scatter_value_grad, scatter_add_grad, scatter_reduce_grad, index_add_grad;

// Sums and their kin (reduction_grad.cpp). amax and max share a gradient among equal elements.
GradFormula sum_grad, mean_grad, prod_grad, softmax_grad, log_softmax_grad;
GradRule extremum_value_grad, variance_grad, deviation_grad, logsumexp_grad, vector_norm_grad;

// What picks elements by position, and running results (scan_grad.cpp).
GradFormula picked_grad, scan_picked_grad, median_grad, cumsum_grad, cumprod_grad;
GradRule logcumsumexp_grad;

// Matrix products (matmul_grad.cpp).
GradRule mm_grad, bmm_grad, mv_grad, dot_grad, addmm_grad, baddbmm_grad, addmv_grad;

// Convolution, normalization, losses (layer_grad.cpp). Means and deviations that layer and batch norm also give have
// no gradient, as in LibTorch.
GradRule convolution_grad, layer_norm_grad, group_norm_grad, batch_norm_grad, batch_norm_inference_grad;
GradFormula nll_loss_grad;
GradRule batch_norm_batch_grad, mse_loss_grad, smooth_l1_loss_grad;

// Pooling and interpolation (pool_grad.cpp).
GradFormula max_pool1d_grad, max_pool_with_indices_grad, adaptive_max_pool_grad, avg_pool1d_grad, avg_pool_grad;
GradFormula adaptive_avg_pool1d_grad, adaptive_avg_pool_grad;
GradRule upsample_grad, upsample_nearest_grad, upsample_cubic_grad;

// Images read at positions (grid_sample_grad.cpp).
GradRule grid_sample_grad;

// Linear algebra (linalg_grad.cpp). Sources: Giles, Collected Matrix Derivative Results, 2008, and
// https://github.com/pytorch/pytorch/blob/v1.13.1/torch/csrc/autograd/FunctionsManual.cpp
GradRule det_grad, slogdet_grad, inverse_grad, solve_grad, triangular_grad, cholesky_grad, eigh_grad, qr_grad, svd_grad;
/// Whether B of A X = B is a vector for each matrix: the rule of torch.linalg.solve.
bool solves_for_vectors(const Sizes& a, const Sizes& b);

}  // namespace whittle
