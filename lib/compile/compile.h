// compile(): a captured graph for any backend, taken as far as the backend wants it; and the same of the two parts of a
// graph with gradients.
#pragma once

#include "compile/program.h"
#include "graph/backend.h"

namespace whittle::program {

/// Of a backend that consumes plans.
class PlanCompiler {
  public:
    virtual ~PlanCompiler() = default;
    /// `program` is made with `options` and lives as long as the call.
    virtual CompileResult compile(CompiledProgram& program, const BackendOptions& options) = 0;
};

/// Hands the backend the stage that it consumes. A graph with a call for which a pass has no form (NotImplemented) is a
/// BackendFailure with `unsupported`, and so is one with values on another device, sparse or quantized ones
/// (graph/placement.h). Assertions are run whatever the backend is (compile/assertions.h).
CompileResult compile(Backend& backend, const Graph& captured, const BackendOptions& options);

/// A program whose joint graph is cut as the backend, which outlives it, has it cut under the options (Differentiates
/// in graph/abilities.h).
CompiledProgram differentiable(const Backend& backend, Graph captured, const BackendOptions& options);
/// As compile(), of a graph that was cut so: `part` is `forward` or `backward`. Whose gradients were wanted is not the
/// backend's business any more.
CompileResult compile_part(Backend& backend, Stage part, const Graph& graph, const BackendOptions& options);

}  // namespace whittle::program
