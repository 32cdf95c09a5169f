// The short program for a failure of Halide's: in the shape of its own tests, one kernel, one comparison.
#pragma once

#include <optional>

#include "compile/kernel_programs.h"

namespace whittle::halide {

/// As the ability has it.
std::optional<ReproProgram> short_program_of(const program::KernelRequest& request);

}  // namespace whittle::halide
