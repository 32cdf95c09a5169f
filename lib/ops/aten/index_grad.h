// Gradient rules of what reads or writes elements at computed positions.
#pragma once

#include "ops/aten/gradient.h"

namespace whittle {

GradFormula gather_grad, index_select_grad, take_grad, index_grad;
GradRule embedding_grad, index_put_grad;
GradRule scatter_grad, scatter_value_grad, scatter_add_grad, scatter_reduce_grad, index_add_grad;

}  // namespace whittle
