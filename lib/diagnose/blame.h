// Which level and which switch of a compiler decide whether a graph fails: what a maintainer asks first.
#pragma once

#include <span>

#include "graph/emitter.h"
#include "judge/outcome.h"

namespace whittle::diagnose {

/// Of a graph with its failure, by a backend that is Switchable; nothing of one that is not, or that has a schedule.
/// The level is found first: the lowest from which on all fail. Then the switch: the failure's culprit, or, where it
/// has none, the first without which alone the graph is right. Runs the graph once for each.
Blame blame_of(const Graph& graph, std::span<const Tensor> expected, Backend& backend, const Limits& limits);

}  // namespace whittle::diagnose
