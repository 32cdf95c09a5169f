// The suspect: what is run, how, and what counts as its failure. A value; the programs make it of their options, or of
// what a record or a failure remembers.
#pragma once

#include <optional>
#include <span>

#include "backends/spec.h"
#include "graph/failure.h"
#include "judge/launched.h"
#include "judge/outcome.h"

namespace whittle {

/// What counts as a failure.
enum class Tier {
    ends,     ///< how compiling or running ends: errors, crashes, hangs
    computes  ///< wrong results, too
};

struct Suspect {
    BackendSpec spec = {};
    BackendOptions options = {};
    /// By which results are compared. Nothing: nobody asked for one, and a frame's own holds (compared_by()).
    std::optional<Accuracy> accuracy = {};
    Limits limits = {};      ///< of one query
    Launcher launcher = {};  ///< where queries run; none: here
    Tier tier = Tier::ends;
    /// What takes more than so many times as long as there fails, too (judge/race.h). Results are not compared then:
    /// the tier is Tier::ends.
    std::optional<Pace> slower = {};
    /// Results that are wrong without optimization, too, are another failure (right_unoptimized() in judge/judge.h).
    bool optimized_only = false;
    /// Results that rounding may explain, inside intervals that are too wide to decide, are another failure.
    bool beyond_rounding = false;

    Accuracy compared_by() const { return accuracy.value_or(Accuracy{}); }
};

/// As it failed; limits and launcher are those of this machine.
Suspect suspect_of(const Failure& failure, const Limits& limits = {});
/// Writes into the failure how it is to be asked again.
void describe(const Suspect& suspect, Failure& failure);

/// The options with which the backend compiles a graph without optimization, or without directives of its schedule.
struct Unoptimized {
    bool possible = false;                       ///< it has such switches
    std::optional<BackendOptions> options = {};  ///< nothing: `given` is that already, or it is not possible
};
Unoptimized unoptimized(const Graph& graph, Backend& backend, const BackendOptions& given);

/// Compiles and runs the graph, in a child process or where the launcher takes it; by its time with suspect.slower.
/// `backend` is the suspect's.
Outcome run_suspect(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const Suspect& suspect);
/// One query: runs the graph, and with Tier::computes compares an ok outcome with `expected`, one tensor per output.
Outcome query(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected, Backend& backend,
              const Suspect& suspect);

}  // namespace whittle
