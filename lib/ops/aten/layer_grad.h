// Gradient rules of the layers of networks.
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

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

}  // namespace whittle
