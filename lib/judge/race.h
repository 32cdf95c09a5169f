// race(): whether a graph takes too long on a backend, by the clock and against another way to run it.
#pragma once

#include <span>

#include "judge/suspect.h"

namespace whittle {

/// Seconds. Of a run that takes less, what calls the compiled code is a part that matters: there is no answer.
constexpr double kLeastRun = 20e-6;

/// Compiles the graph on the suspect and on what it is compared with (suspect.slower, which is set), both in one child
/// process, or in their own, under the suspect's limits, and runs them in pairs, in an order that is drawn, until
/// RatioTest says which it is. `slow`, or ok where it is not, with the figures as message. Where the suspect fails, the
/// outcome is that failure. `unsupported`, with the reason, where there is no answer: the other fails, a run takes too
/// little for a clock, or the times do not decide. Of a graph that requires gradients the forward graph is run.
Outcome race(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const Suspect& suspect);

}  // namespace whittle
