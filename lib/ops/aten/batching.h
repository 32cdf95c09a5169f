// What vmap makes of calls of an op, which an exported program leaves to who runs it:
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/functorch
#pragma once

#include <string_view>

namespace whittle {

/// How an op is called on tensors that have more dimensions, in front, than the program sees.
enum class Batching {
    elements,  ///< element by element: operands broadcast
    creates,   ///< its result has the sizes that it is told; of the operand it takes the dtype
    indexes,   ///< index.Tensor
    unknown
};
Batching batching_of(std::string_view target);

}  // namespace whittle
