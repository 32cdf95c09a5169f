// Gradient rules of what is computed element by element. Steps have zero_gradient, predicates no_gradient.
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

// Of two operands and more (arithmetic_grad.cpp).
GradRule add_grad, sub_grad, rsub_grad, mul_grad, maximum_grad, minimum_grad, fmax_grad, fmin_grad, atan2_grad;
GradRule div_grad, div_mode_grad, remainder_grad, fmod_grad;
GradFormula pow_number_grad;
GradRule pow_grad, pow_of_number_grad;
GradFormula clamp_grad, clamp_min_grad, clamp_max_grad;
GradRule clamp_tensor_grad, lerp_grad, addcmul_grad, addcdiv_grad;
GradRule where_grad, masked_fill_grad;

}  // namespace whittle
