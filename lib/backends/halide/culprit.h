// What is to blame for a wrong result of the backend halide, as far as this library can look inside it.
#pragma once

#include <memory>

#include "graph/abilities.h"

namespace whittle::halide {

/// Parts: the directives that are on, and the passes, suspected in the order of program::limitable_passes(). Wrong
/// before Halide saw it may be a pass on the graph (the first whose result the reference computes otherwise), the
/// lowering of one op, or how ops were joined: the plan is read by the interpreter of groups instead of Halide, so that
/// neither the schedule nor the compiler is involved.
std::unique_ptr<Switchable::Inspection> inspect(const Graph& graph, const BackendOptions& options);

}  // namespace whittle::halide
