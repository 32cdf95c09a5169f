// Repros: the kernels of a graph as plain loops, whoever is under suspicion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/plan.h"
#include "graph/emitter.h"

namespace whittle::program {

/// `outputs`: as in EmitRequest; `driver`: the function that calls them.
LoopsCode loops_code(const Plan& plan, const std::vector<std::string>& outputs,
                     const std::string& driver = "run_loops");
/// The kernels of any backend's graph as Whittle lowers them, without a schedule; nothing where an op does not lower.
std::optional<LoopsCode> loops_code(const Graph& graph, const std::vector<std::string>& outputs,
                                    const std::string& driver = "run_loops");

}  // namespace whittle::program
