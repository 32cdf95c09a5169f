// Constants of expressions, spelled shortly.
#pragma once

#include "expr/expr.h"

namespace whittle::test {

inline expr::Expr f32(double value) { return expr::constant(DType::f32, value); }

}  // namespace whittle::test
