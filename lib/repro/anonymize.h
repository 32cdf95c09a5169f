// A failing graph with nothing of the user's in it but what the failure needs.
#pragma once

#include "repro/repro.h"

namespace whittle::repro {

/// Other names for values, parameters, nested graphs and the graph, no stacks and no module paths; then, one tensor
/// after another, made-up values (ones, small numbers, random) in the place of inputs and parameters wherever the graph
/// still fails in the same way: asked of the backend. Integers may be sizes or positions and stay where the reference
/// refuses others. The failure's message is that of a new run. Throws Error where the graph does not fail under other
/// names.
void anonymize(Repro& repro, Backend& backend, const Options& options);

}  // namespace whittle::repro
