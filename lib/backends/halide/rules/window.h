// Folds over a few terms: depthwise convolutions, pooling. The terms are written out, so that an element is computed in
// one go and not by one pass over the result per term. What only the window reads (a padded image) is computed for as
// much of it as one step of the outer loops needs.
#pragma once

#include <string>

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

/// Writes the stage's fold out if it is such a one, and schedules it where it is used; else leaves all as it is. Loops
/// of the stages that use it are left to others.
bool schedule_window(Draft& draft, const std::string& stage, const Machine& machine);

}  // namespace whittle::halide
