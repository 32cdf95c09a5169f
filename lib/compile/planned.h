// A program as kernels: what none can compute, by name, and the plan of the rest.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compile/plan.h"
#include "compile/program.h"
#include "graph/backend.h"
#include "graph/emitter.h"

namespace whittle::program {

/// Such a call has no kernel: it chooses and repeats on the host.
bool runs_nested_graphs(const Node& node);
bool has_control_flow(const Graph& graph);

/// Targets that neither lower nor decompose into something that does, each once; those of nested graphs of higher-order
/// ops included, which themselves run on the host.
std::vector<std::string> not_lowered(CompiledProgram& program);
std::vector<std::string> not_lowered(const Graph& graph);
/// Of the dtypes of a call's results and operands, what no kernel computes with: "complex numbers (c64)", "element
/// type f8e4m3fn". Empty: kernels compute with all of them.
std::string lacking(const Graph& graph, const Node& call);

/// The plan, which the program keeps. What no kernel computes is a BackendFailure with `unsupported` in the name of
/// `backend`, naming all ops that do not lower, higher-order ones among them. A directive that is disabled and that no
/// kernel has is a warning.
std::variant<const Plan*, BackendFailure> planned(CompiledProgram& program, Scheduler scheduler,
                                                  const std::string& backend);

/// `outputs`: as in EmitRequest; `driver`: the function that calls them.
LoopsCode loops_code(const Plan& plan, const std::vector<std::string>& outputs,
                     const std::string& driver = "run_loops");
/// The kernels of any backend's graph as Whittle lowers them, without a schedule; nothing where an op does not lower.
std::optional<LoopsCode> loops_code(const Graph& graph, const std::vector<std::string>& outputs,
                                    const std::string& driver = "run_loops");

}  // namespace whittle::program
