// What is to blame for a wrong result of the backend halide, as far as this library can look inside it.
#pragma once

#include <optional>
#include <span>

#include "graph/abilities.h"

namespace whittle::halide {

/// The directives that are on, and the passes, suspected in the order of passes(). See Switchable.
std::optional<Switchable::Parts> parts_of(const Graph& graph, const BackendOptions& options);

/// Whether what is wrong was wrong before Halide saw it: the decomposition, the lowering of one op, or how ops were
/// joined. The plan is read by the interpreter of groups instead of Halide, so that neither the schedule nor the
/// compiler is involved.
std::optional<Culprit> wrong_lowering(const Graph& graph, std::span<const Tensor> expected);

}  // namespace whittle::halide
