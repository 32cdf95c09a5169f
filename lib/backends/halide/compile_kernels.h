// The kernels of a plan, compiled: each that differs from the others once, as many at a time as there are processors.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "backends/halide/executable.h"
#include "compile/program.h"

namespace whittle::halide {

/// One for each kernel of the plan; asks and counts the pass `share`. Of several failures the first in the plan's
/// order.
std::variant<std::vector<CompiledKernel>, BackendFailure> compile_kernels(program::CompiledProgram& program,
                                                                          const program::Plan& plan,
                                                                          const CompileOptions& options);

/// Of each kernel the first whose code it runs, as the pass `share` has it in a compilation of the plan.
std::vector<std::size_t> shared_kernels(program::CompiledProgram& program, const program::Plan& plan);

}  // namespace whittle::halide
