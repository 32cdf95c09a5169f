// Graphs with ops that run nested graphs (cond, while_loop, map; ONNX's If, Loop, Scan): what lies between these is
// compiled, their nested graphs are, and the ops themselves choose and repeat on the host.
#pragma once

#include <functional>

#include "graph/backend.h"

namespace whittle::halide {

/// `compile` is asked for the pieces and the nested graphs.
CompileResult compile_control_flow(const Graph& graph, const std::function<CompileResult(const Graph&)>& compile);

}  // namespace whittle::halide
