// The suspect: what is run, how, and what counts as its failure. A value; the programs make it of their options, or of
// what a record or a failure remembers.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/spec.h"
#include "graph/failure.h"
#include "judge/outcome.h"

namespace whittle {

/// Where queries run: one folder with everything in it and one command, which a launcher of the user's (srun, ssh HOST,
/// docker run …) starts where it likes. Both sides must see the folder under the same name.
struct Launcher {
    std::vector<std::string> prefix;  ///< of the command; empty: there is no launcher
    std::vector<std::string> answer;  ///< the program that calls answer_query(), before the folder
};

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
    /// What takes more than so many times as long as there fails, too (race()). Results are not compared then:
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

/// As run_suspect() where suspect.launcher takes it; the backend is looked up by name there. The limits hold there, and
/// here the launcher has kLaunchTime more of wall clock. A launcher that ends without an answer is unresolved. Throws
/// Error when it cannot be started.
Outcome run_launched(const Graph& graph, std::span<const Tensor> inputs, const Suspect& suspect);

inline constexpr std::chrono::seconds kLaunchTime{600};

/// The other side: runs the query in `folder` and leaves its answer there. It ends early where whoever waits for it
/// does, as far as standard input comes from there. Throws Error for a folder that holds none.
void answer_query(const std::filesystem::path& folder);

/// Seconds. Of a run that takes less, what calls the compiled code is a part that matters: there is no answer.
constexpr double kLeastRun = 20e-6;

/// Compiles the graph on the suspect and on what it is compared with (suspect.slower, which is set), both in one child
/// process, or in their own, under the suspect's limits, and runs them in pairs, in an order that is drawn, until
/// RatioTest says which it is. `slow`, or ok where it is not, with the figures as message. Where the suspect fails, the
/// outcome is that failure. `unsupported`, with the reason, where there is no answer: the other fails, a run takes too
/// little for a clock, or the times do not decide. Of a graph that requires gradients the forward graph is run.
Outcome race(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const Suspect& suspect);

}  // namespace whittle
