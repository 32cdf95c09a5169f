// What of a failing graph matters: a graph with one change that the compiler gets right, found by running it.
#pragma once

#include <optional>
#include <span>

#include "graph/near.h"
#include "repro/repro.h"

namespace whittle::repro {

/// Of what is right with one change, the one that says most: what the compiler takes the graph for (`got`, what it
/// computes of it, is right of that one), one of the same values, another one. Nothing where none of the few that are
/// tried is right, each in two runs, or where a run may take its whole limit. `controlled`: something that is switched
/// off makes it right, so that what is right of other values says nothing more.
std::optional<NearCase> near_case(const Repro& repro, std::span<const Tensor> got, bool controlled, Backend& backend,
                                  const Limits& limits);

}  // namespace whittle::repro
