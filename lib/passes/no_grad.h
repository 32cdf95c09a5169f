// end_gradients(): what a program computed without gradients (PyTorch's no_grad) says so in its graph, which a joint
// graph is made of. without_requires_grad(): the parts of one, of which nobody wants gradients.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace whittle {

/// The graph, which may write, with a detach behind each result that was recorded as requiring no gradient though an
/// operand does, and behind operands of a write that was recorded so. A value that requires a gradient may only be
/// written so when nothing reads it afterwards. Ops whose results never require one are left as they are.
Graph end_gradients(const Graph& captured);

/// The last of the calls that outputs with gradients depend on which gives none, though an operand and its op have one:
/// it ran without gradients, or in a function with a backward of its own. Nothing: there is none.
std::optional<NodeId> where_gradients_end(const Graph& captured);

/// The graph, which does not write, where each value says whether it requires a gradient as its operands and its op
/// have it: calls that passes made say nothing.
Graph with_gradients_told(Graph functional);

/// A graph as backends get it: whose gradients are wanted is not their business.
Graph without_requires_grad(Graph graph);

}  // namespace whittle
