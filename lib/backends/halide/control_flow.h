// Graphs with higher-order ops (cond, while_loop, map): what lies between these is compiled, their nested graphs are,
// and the ops themselves choose and repeat on the host.
#pragma once

#include <functional>

#include "graph/backend.h"

namespace whittle::halide {

bool has_higher_order(const Graph& graph);

/// `compile` is asked for the pieces and the nested graphs.
CompileResult compile_control_flow(const Graph& graph, const std::function<CompileResult(const Graph&)>& compile);

}  // namespace whittle::halide
