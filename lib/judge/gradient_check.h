// Are LibTorch's gradients those that our rules give? A program that ran backward was captured forwards and backwards:
// each call's gradient, as LibTorch computed it, is held against the registry's rule, and the gradients of parameters
// and inputs against the joint graph of the captured forward graph.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "capture/output_graph.h"

namespace whittle {

struct GradientVerdict {
    std::size_t graph = 0;                      ///< of the frame, that was held against rules
    std::size_t calls = 0, leaves = 0;          ///< whose gradients were
    std::vector<std::string> differences = {};  ///< calls first, in the order of the backward pass; then leaves
    /// Why leaves were not, where they were not: "a hook or function of the program's own computes gradients".
    std::string leaves_unchecked = {};
};

/// One verdict for each graph of the frame that is a backward pass and whose values were recorded. What LibTorch gave a
/// call's gradient is sought among the values of the backward graph; where none has the right sizes, the call is not
/// counted. Random calls are not looked at, nor calls whose gradients the graph computes a part of, nor leaves where
/// CapturedGraph::partial says why theirs need not be whole.
std::vector<GradientVerdict> check_gradients(const capture::CapturedFrame& frame);

}  // namespace whittle
