// What the backend can do besides compiling whole graphs, a function for each ability (graph/abilities.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "backends/halide/pipeline.h"
#include "compile/kernel_alone.h"
#include "compile/kernel_programs.h"
#include "graph/abilities.h"
#include "graph/backend.h"
#include "graph/emitter.h"

namespace whittle::halide {

/// Compiles a graph with ops that run nested graphs (cond, while_loop, map; ONNX's If, Loop, Scan): what lies between
/// these is compiled, their nested graphs are, and the ops themselves choose and repeat on the host. `compile` is asked
/// for the pieces and the nested graphs.
CompileResult compile_control_flow(const Graph& graph, const std::function<CompileResult(const Graph&)>& compile);

/// What is to blame for a wrong result, as far as this library can look inside the backend.
/// Parts: the directives that are on, and the passes, suspected in the order of program::limitable_passes(). Wrong
/// before Halide saw it may be a pass on the graph (the first whose result the reference computes otherwise), the
/// lowering of one op, or how ops were joined: the plan is read by the interpreter of groups instead of Halide, so that
/// neither the schedule nor the compiler is involved.
std::unique_ptr<Switchable::Inspection> inspect(const Graph& graph, const BackendOptions& options);

/// The kernels of a compilation one by one, each with the machine code that it has in the whole. A failure where the
/// graph has no plan. Throws Error where a pass refuses the graph.
std::variant<std::unique_ptr<program::KernelCompilation>, BackendFailure> single_kernels(const Graph& graph,
                                                                                         const BackendOptions& options,
                                                                                         const CompileOptions& compile);

/// The part of a repro whose suspect is Halide: the text of the graph's kernels. Throws Error when an op does not
/// lower.
SuspectCode halide_code(const EmitRequest& request);

/// The short program for a failure of Halide's: in the shape of its own tests, one kernel, one comparison.
std::optional<ReproProgram> short_program_of(const program::KernelRequest& request);

}  // namespace whittle::halide
