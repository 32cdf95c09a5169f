// simplify(): reductions beyond deletion, one after the other, each by the same search: its items are the places that
// stay as they are.
#pragma once

#include "reduce/queries.h"
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {

/// One turn of one reduction. `best` fails; it is replaced by the simplest case found, and `options.improved` is called
/// at each step. False when it was stopped.
bool simplify(const Reduction& reduction, Find& best, Queries& queries, const Options& options);

}  // namespace whittle::reduce
