// compile(): a captured graph for any backend, taken as far as the backend wants it.
#pragma once

#include "graph/backend.h"
#include "program/program.h"

namespace whittle::program {

/// Of a backend that consumes plans.
class PlanCompiler {
  public:
    virtual ~PlanCompiler() = default;
    /// `program` is made with `options` and lives as long as the call.
    virtual CompileResult compile(CompiledProgram& program, const BackendOptions& options) = 0;
};

/// Hands the backend the stage that it consumes. A graph that no pass takes so far is a BackendFailure with
/// `unsupported`.
CompileResult compile(Backend& backend, const Graph& captured, const BackendOptions& options);

}  // namespace whittle::program
