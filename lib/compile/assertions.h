// Assertions of graphs that are compiled: whoever runs the executable refuses what the graph refuses.
#pragma once

#include <functional>

#include "graph/backend.h"

namespace whittle::program {

/// Compiles the graph without its assertions by `compile`, which is given the values that they are about as further
/// outputs. The executable asks of these once it has run: a failing assertion is a BackendFailure that names op, place,
/// message and value. What is asked of other sizes (AnySize) goes on.
CompileResult compile_asserting(const Graph& graph, const std::function<CompileResult(const Graph&)>& compile);

}  // namespace whittle::program
