// Assertions as outputs: what a graph refuses (ops/core/assertions.h), told apart from what it computes, for who runs
// it with a compiler whose kernels cannot refuse.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// What has to hold of the outputs of a graph.
struct AssertedOutput {
    std::size_t condition = 0;  ///< position of the output that is to be true …
    std::size_t about = 0;      ///< … and of the value that it is about
    std::string message = {};
    std::string op = {}, node = {}, place = {};  ///< of the assertion: target, name, place_of_assertion()
};

struct AssertedOutputs {
    Graph graph;              ///< as it was, without the assertions
    std::size_t outputs = 0;  ///< its own; those that assertions are about follow, each once
    std::vector<AssertedOutput> asserted = {};
};

/// The assertions of the graph itself as outputs; those of nested graphs run with them. Throws Error for one that is
/// given a number in place of a value; so does without_assertions().
AssertedOutputs assertions_as_outputs(const Graph& graph);
/// What the graph computes, whatever it refuses itself.
Graph without_assertions(const Graph& graph);
/// The same, whatever it and the graphs nested in it refuse.
Graph without_any_assertions(const Graph& graph);

}  // namespace whittle
