// The first reader of a group: evaluates it directly. Slow and simple; the meaning of the IR.
#pragma once

#include <span>
#include <vector>

#include "expr/group.h"
#include "tensor/tensor.h"

namespace whittle::expr {

/// One tensor per output. `inputs` fit group.inputs (dtype and sizes; any strides). A load out of bounds throws Error
/// naming stage, index and extent.
std::vector<Tensor> interpret(const Group& group, std::span<const Tensor> inputs);

}  // namespace whittle::expr
