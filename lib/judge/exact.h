// Exact data: inputs and weights, small integers and powers of two, for which no operation of a graph rounds. What a
// correct compiler computes of them does not depend on the order of a sum, on fused operations or on wider
// intermediate values, so every difference is a bug.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Why the outputs of the graph on these inputs are not exact: "aten.tanh.default is not exact". Empty: no operation
/// rounds (exact_intervals_of()), and `expected`, one per output, are what a run in f64 computes.
std::string not_exact(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected);

struct ExactCase {
    Graph graph;
    std::vector<Tensor> inputs;  ///< one per placeholder
    bool chosen = false;         ///< its data are not those that were given
    /// Operations of the given graph, those that `graph` has of them, and why it has no others: each first operation
    /// that is not exact.
    std::size_t all = 0, kept = 0;
    std::vector<std::string> left_out = {};

    /// "3 of 4 operations: aten.tanh.default is not exact"; empty where all are kept.
    std::string scope() const;
};

/// The graph with the data that it has where they are exact; else with data that are chosen for it, and without the
/// operations that are not exact on them and those that depend on these: values that only these read are outputs. The
/// graph as it is where nothing would be left. The same seed gives the same data.
ExactCase exact_case(const Graph& graph, std::span<const Tensor> inputs, std::uint64_t seed);

}  // namespace whittle
