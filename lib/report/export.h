// Export mode: one graph stands for the whole function, and its caller can give every input of it, as a parameter.
// What TorchDynamo's export asks: https://pytorch.org/docs/stable/export.html
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::report {

/// An input that the caller of an exported graph cannot give: a global, a random value.
struct ForeignInput {
    std::string source;                       ///< "G['tensor_0']"
    std::vector<StackFrame> user_stack = {};  ///< of the first call that reads it, innermost first
};

/// In the order of the placeholders. Inputs of graphs that were not captured from a program have no source, and are
/// all right.
std::vector<ForeignInput> foreign_inputs(const Graph& graph);

}  // namespace whittle::report
