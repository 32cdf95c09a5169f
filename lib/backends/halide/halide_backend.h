// The optimizing backend: plans the graph into kernels, compiles each with Halide, runs them in order.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle::halide {

/// Options: plant_TESTING_ONLY (see Planted).
std::unique_ptr<Backend> make_halide_backend();

}  // namespace whittle::halide
