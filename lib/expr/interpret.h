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

/// A value of a definition that is to be kept.
struct Watched {
    std::string stage = {};
    int update = -1;  ///< of the stage; -1: its initial definition
    Expr value = nullptr;
    std::vector<LoopVar> loops = {};  ///< some of the definition's; all that the value depends on
};
/// The same, with a tensor for each watched value: an element for each point of its loops.
std::vector<Tensor> interpret(const Group& group, std::span<const Tensor> inputs, std::span<const Watched> watched,
                              std::vector<Tensor>& kept);

}  // namespace whittle::expr
