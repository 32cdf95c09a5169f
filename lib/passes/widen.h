// widen(): the same computation in f64, as a reference that is nearly exact.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "passes/subgraph.h"

namespace whittle {

struct Widened {
    Graph graph;
    std::vector<NodeRef> of;  ///< where the value of each node of the original is
};

/// f32, f16 and bf16 become f64: placeholders, attributes, dtypes that calls name (so that a cast to a narrower float
/// no longer rounds), and all results. Integers stay. Throws Error naming the node for an op that has no f64 form.
Widened widen(const Graph& graph);

/// Values for the placeholders of a widened graph.
std::vector<Tensor> widen(std::span<const Tensor> inputs);

/// The outputs of the graph, computed in f64 by the reference kernels. Nothing when an op has no f64 form or cannot
/// run: `why` says which.
std::optional<std::vector<Tensor>> evaluate_exactly(const Graph& graph, std::span<const Tensor> inputs,
                                                    std::string* why = nullptr);

}  // namespace whittle
