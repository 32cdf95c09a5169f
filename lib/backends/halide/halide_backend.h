// The optimizing backend: plans the graph into kernels, compiles each with Halide, runs them in order.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle::halide {

/// Options: asserts=on|off (on; off compiles several times faster and leaves Halide's checks of buffers out, which
/// every load of ours passes by construction), disable=PASS;DIRECTIVE;… and pass-limit=PASS=K;… (see
/// program/pass_limits.h).
std::unique_ptr<Backend> make_halide_backend();

}  // namespace whittle::halide
