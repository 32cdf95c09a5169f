// Reductions along rows: sums, means, extrema, softmax, norms.
//
// A row is folded in vectors, some of them at a time, and what their lanes hold is folded last. That is another order
// than one after the other, so only folds that allow it are taken: sums, and extrema.
// A kernel in which everything but its one output belongs to a row computes it there, row by row, in cache.
#pragma once

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

/// Schedules every such reduction of the group, and what is computed with it.
void schedule_rows(Draft& draft, const Machine& machine);

}  // namespace whittle::halide
