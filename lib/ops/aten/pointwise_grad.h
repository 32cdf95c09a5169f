// Gradient rules of what is computed element by element. Steps have zero_gradient, predicates no_gradient.
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

// Functions of one operand (unary_grad.cpp).
GradRule abs_grad, neg_grad, square_grad, exp_grad, exp2_grad, expm1_grad, log_grad, log1p_grad, log2_grad, log10_grad;
GradRule sqrt_grad, rsqrt_grad, reciprocal_grad, sin_grad, cos_grad, tan_grad, asin_grad, acos_grad, atan_grad;
GradRule sinh_grad, cosh_grad, tanh_grad, asinh_grad, acosh_grad, atanh_grad, erf_grad, erfc_grad, lgamma_grad;

// Activations (activation_grad.cpp).
GradRule relu_grad, sigmoid_grad, log_sigmoid_grad, silu_grad, mish_grad, hardswish_grad, hardsigmoid_grad, gelu_grad;
GradRule elu_grad, leaky_relu_grad, softplus_grad, hardtanh_grad;

// Of two operands and more (arithmetic_grad.cpp).
GradRule add_grad, sub_grad, rsub_grad, mul_grad, maximum_grad, minimum_grad, fmax_grad, fmin_grad, atan2_grad;
GradRule div_grad, div_mode_grad, remainder_grad, fmod_grad;
GradRule pow_grad, pow_number_grad, pow_of_number_grad;
GradRule clamp_grad, clamp_tensor_grad, clamp_min_grad, clamp_max_grad, lerp_grad, addcmul_grad, addcdiv_grad;
GradRule where_grad, masked_fill_grad;

}  // namespace whittle
