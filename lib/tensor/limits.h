// The ends of each dtype's range, from the numeric limits of its C++ type.
#pragma once

#include "tensor/scalar.h"

namespace whittle {

/// What no value is below and above: infinities where the dtype has them.
Scalar lowest(DType dtype);
Scalar greatest(DType dtype);

/// Of a floating dtype. Zeros for others.
struct FloatLimits {
    double largest = 0;   ///< finite
    double normal = 0;    ///< the smallest that is normal
    double denormal = 0;  ///< the smallest above zero
    double epsilon = 0;   ///< distance from 1 to the next value
};
FloatLimits float_limits(DType dtype);

}  // namespace whittle
