// Gradient rules of linear algebra (linalg_grad.cpp). Sources: Giles, Collected Matrix Derivative Results, 2008, and
// https://github.com/pytorch/pytorch/blob/v1.13.1/torch/csrc/autograd/FunctionsManual.cpp
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

/// Whether B of A X = B is a vector for each matrix: the rule of torch.linalg.solve.
bool solves_for_vectors(const Sizes& a, const Sizes& b);

GradRule det_grad, slogdet_grad, inverse_grad, solve_grad, triangular_grad, cholesky_grad, eigh_grad, qr_grad, svd_grad;

}  // namespace whittle
