// Copies across: the result's innermost dimension is not the one along which what is read lies in memory. In square
// blocks, every cache line that is touched is used whole, of what is read and of what is written.
#pragma once

#include <string>

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

/// Schedules the stage if it is one; else leaves all as it is.
bool schedule_transpose(Draft& draft, const std::string& stage, const Machine& machine);

}  // namespace whittle::halide
