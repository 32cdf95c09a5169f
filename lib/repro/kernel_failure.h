// The kernel of a failing graph that fails by itself, reduced: what the short program for its compiler shows.
#pragma once

#include <string>

#include "program/kernel_programs.h"
#include "repro/repro.h"

namespace whittle::repro {

/// Gives the repro the short program of such a kernel. False where there is none: `why_not` then says why, as a clause:
/// "it takes two kernels to fail". Asks in children of this process. `programs`: the backend's ability.
bool show_kernel(Repro& repro, Backend& backend, program::KernelPrograms& programs, const Options& options,
                 std::string& why_not);

}  // namespace whittle::repro
