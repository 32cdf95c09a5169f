// What PyTorch's documentation or ONNX's leaves open: a find that rests on it is none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuzz/random_model.h"

namespace whittle::fuzz {

/// Says why the first call whose result is open for these values is that: "aten.topk.default: which of equal elements
/// it finds". Empty: there is none. Beside the rules of the ops (ops/core/open.h): which of equal elements a selection
/// finds (topk, kthvalue, median over a dimension, sorts that are not stable). Throws Error where the reference refuses
/// the graph.
std::string left_open(const Graph& graph, std::span<const Tensor> inputs);

/// The same model without those calls: what they gave to others is an input, with the reference's values.
Model without_open(const Model& model);

}  // namespace whittle::fuzz
