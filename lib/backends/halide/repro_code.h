// Repros: the text of a graph's kernels, as plain loops and for Halide.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/emitter.h"

namespace whittle::halide {

/// The kernels of any backend's graph as Whittle lowers them; nothing where an op does not lower. `outputs`: as in
/// EmitRequest; `driver`: the function that calls them.
std::optional<LoopsCode> loops_code(const Graph& graph, const std::vector<std::string>& outputs,
                                    const std::string& driver = "run_loops");

/// The part of a repro whose suspect is Halide. Throws Error when an op does not lower.
SuspectCode halide_code(const EmitRequest& request);

}  // namespace whittle::halide
