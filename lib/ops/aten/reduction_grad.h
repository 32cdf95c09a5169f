// Gradient rules of what reduces, scans or orders dimensions.
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

// Sums and their kin (reduction_grad.cpp). amax and max share a gradient among equal elements.
GradFormula sum_grad, mean_grad, prod_grad, softmax_grad, log_softmax_grad;
GradRule extremum_value_grad, variance_grad, deviation_grad, logsumexp_grad, vector_norm_grad;

// What picks elements by position, and running results (scan_grad.cpp).
GradFormula picked_grad, scan_picked_grad, median_grad, cumsum_grad, cumprod_grad;
GradRule logcumsumexp_grad;

}  // namespace whittle
