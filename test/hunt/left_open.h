// What PyTorch's documentation leaves open: a find that rests on it is none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hunt/random_model.h"

namespace whittle::hunt {

/// The first call of an ATen op of which nobody says what it gives for the values that it gets here, and why:
/// "aten.topk.default: which of equal elements it finds". Empty: there is none. The rules:
/// - which of equal elements a selection finds: topk, kthvalue, median over a dimension, sorts that are not stable;
/// - shifts by a negative amount, or by as many bits as the dtype has, or more ("the behavior is undefined");
/// - an integer quotient or remainder of the least number by -1, which C++ leaves undefined (LibTorch 1.13 traps:
///   pytorch/pytorch#124644 and #138425).
/// Throws Error where the reference refuses the graph.
std::string left_open(const Graph& graph, std::span<const Tensor> inputs);

/// The same model without those calls: what they gave to others is an input, with the reference's values.
Model without_open(const Model& model);

}  // namespace whittle::hunt
