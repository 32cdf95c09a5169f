// The optimizing backend: plans the graph into kernels, compiles each with Halide, runs them in order.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle::halide {

/// Options: asserts=on|off (on; off leaves Halide's assertions out that an access is in bounds, which every load of
/// ours is by construction), disable=PASS;DIRECTIVE;… and pass-limit=PASS=K;… (see compile/pass_limits.h), and
/// release=NAME, which another process may have to run (releases.h).
std::unique_ptr<Backend> make_halide_backend();

}  // namespace whittle::halide
