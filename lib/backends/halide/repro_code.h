// Repros: the text of a graph's kernels for Halide.
#pragma once

#include "graph/emitter.h"

namespace whittle::halide {

/// The part of a repro whose suspect is Halide. Throws Error when an op does not lower.
SuspectCode halide_code(const EmitRequest& request);

}  // namespace whittle::halide
