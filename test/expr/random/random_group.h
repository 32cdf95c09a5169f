// Random groups and inputs for them: what tests and fuzzers hold the four readers against each other with.
#pragma once

#include <vector>

#include "expr/group.h"
#include "tensor/random.h"
#include "tensor/tensor.h"

namespace whittle::expr {

struct RandomGroupOptions {
    int inputs = 3;          ///< at most
    int stages = 4;          ///< at most
    int depth = 4;           ///< of expressions
    bool empty = false;      ///< extents may be 0
    bool library = true;     ///< functions of the C library, whose last bit compilers may change for constants
    bool half_types = true;  ///< f16 and bf16
};

/// A group that keeps every rule of expr.h and group.h: all indices in bounds, no cast from float to integer without a
/// defined value, updates whose order does not matter beyond their domain's. Pointwise stages, reductions, scans,
/// scatters, gathers; inputs with permuted, negative, zero and gapped strides; every dtype.
Group random_group(Random& random, const RandomGroupOptions& options = {});

/// Tensors for group.inputs, with the declared strides. Floats contain NaN, infinities, zeros of both signs and
/// denormals among ordinary values; integers their extremes among small ones.
std::vector<Tensor> random_inputs(const Group& group, Random& random);

}  // namespace whittle::expr
