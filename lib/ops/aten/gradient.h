// What gradient rules are declared with. A rule reads like a line of ATen's derivatives.yaml, and makes the calls that
// LibTorch's autograd makes, so that joint graphs look like functorch's.
// https://github.com/pytorch/pytorch/blob/v1.13.1/tools/autograd/derivatives.yaml
#pragma once

#include "ops/aten/formulas.h"

namespace whittle {

// Types of rules, to declare many in a line.
using GradRule = void(Gradients&);
using GradFormula = V(const OfSelf&);

}  // namespace whittle
