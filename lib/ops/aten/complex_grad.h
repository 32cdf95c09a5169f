// Gradient rules of complex numbers, their parts, and Fourier transforms.
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

GradFormula imag_grad, view_as_real_grad, view_as_complex_grad, conj_grad, sgn_grad, angle_grad;
GradRule complex_grad, polar_grad;
GradFormula fft_c2c_grad, fft_r2c_grad, fft_c2r_grad;

}  // namespace whittle
