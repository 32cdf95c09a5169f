// Sums over a few terms: depthwise convolutions, average pooling. The terms are written out, so that an element is
// computed in one go and not by one pass over the result per term.
#pragma once

#include <string>

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

/// Writes the stage's sum out if it is such a one, and schedules it where it is used; else leaves all as it is. Loops
/// of the stages that use it are left to others.
bool schedule_window(Draft& draft, const std::string& stage, const Machine& machine);

}  // namespace whittle::halide
