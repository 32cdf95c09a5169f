// Replay: records run again on a backend and compared with what was expected, and models with what the reference says.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "judge/frame.h"
#include "judge/judge.h"
#include "replay/records.h"

namespace whittle {

/// Recorded runs of a pipeline of Halide, run again.
struct ReplayedPipeline {
    std::string name = {};
    Outcome outcome = {};
    bool identical = false;  ///< every result has the recorded bits
};

struct ReplayOptions {
    /// Its backend runs instead of the record's own, whose options do not count then; without one, its options are over
    /// the record's. What is right fails by its time, too, with `slower`.
    Suspect suspect = {.tier = Tier::computes};
    std::optional<std::size_t> to_event = {};  ///< of frame records: stop after so many of their events
    /// Files that are models and no records, and who reads them: the graphs are run on the inputs that they come with.
    std::set<std::filesystem::path> models = {};
    std::function<std::vector<LoadedFrame>(const std::filesystem::path&)> load = {};
    /// Runs recorded pipelines of Halide again, which the backend halide alone can.
    std::function<ReplayedPipeline(const std::filesystem::path&)> run_pipeline = {};
    int jobs = 1;  ///< records replayed at a time; results do not depend on it
};

struct ReplayResult {
    enum class Status {
        passed,
        failed,
        skipped,  ///< not judged
        xfail,    ///< failed, as known
        xpass,    ///< passed, though known to fail
        error     ///< the record cannot be read, or something outside ended its run
    };
    Status status = Status::passed;
    std::filesystem::path file;
    std::string name = {}, backend = {};
    /// Name of the outcome's kind; "error" for one that cannot be read, "capture_fault" for one that is wrong itself,
    /// "not_judged" for one that ran.
    std::string outcome = {};
    std::string first_difference = {};  ///< or the outcome's message, or why it is not judged; empty when passed
    std::string times = {};             ///< with slower, where times were compared: the figures
    bool refused = false;               ///< the graph's own assertion does not hold of the recorded inputs
    bool only_file = false;             ///< of a model, as JudgedFrame has it
    Verdict verdict = Verdict::not_judged;
    std::vector<std::string> compared = {};            ///< as Judgement has it
    std::vector<std::vector<std::string>> agree = {};  ///< the same
    std::string known_reason = {};                     ///< of xfail and xpass
    std::string next = {};           ///< of a failed one: what makes it small, or accepts it; empty: there is none
    std::string stopped_after = {};  ///< of a frame record with to_event: the last event that was captured again
    /// Of a frame record: the error with which capture failed, as it should fail again.
    std::string recorded_error = {};
    bool identical = false;  ///< every output has the hash, so every bit, of the recorded one
    double seconds = 0;
};
std::string_view name(ReplayResult::Status status);

/// Each record in a child process with limits, in order; `done` is called with each result in that order. A record that
/// cannot be read is a result, an unknown backend an Error.
std::vector<ReplayResult> replay_all(const std::vector<std::filesystem::path>& files, const ReplayOptions& options,
                                     const KnownFailures& known,
                                     const std::function<void(const ReplayResult&)>& done = {});

}  // namespace whittle
