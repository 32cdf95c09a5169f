// A graph as the text of a TorchScript method.
#pragma once

#include <string>

#include "graph/graph.h"

namespace whittle {

/// forward() in TorchScript: calls of `torch`'s functions, by ATen's names; placeholders are its parameters, attributes
/// are members of self. It returns the output, or a tuple of several. Which overload a call is follows from its
/// arguments, as TorchScript resolves it. Throws Error for nested graphs and for ops that are none of ATen's.
std::string script_text(const Graph& graph);

}  // namespace whittle
