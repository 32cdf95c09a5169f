// The kernels of a compilation one by one, each with the machine code that it has in the whole.
#pragma once

#include "backends/halide/pipeline.h"
#include "compile/kernel_alone.h"

namespace whittle::halide {

/// A failure where the graph has no plan. Throws Error where a pass refuses the graph.
std::variant<std::unique_ptr<program::KernelCompilation>, BackendFailure> single_kernels(const Graph& graph,
                                                                                         const BackendOptions& options,
                                                                                         const CompileOptions& compile);

}  // namespace whittle::halide
