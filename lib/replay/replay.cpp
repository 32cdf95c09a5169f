#include "replay/replay.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "base/parallel_runs.h"
#include "base/seconds.h"
#include "base/subprocess.h"
#include "base/turn.h"
#include "formats/json.h"
#include "judge/frames.h"
#include "ops/core/assertions.h"
#include "replay/recapture.h"
#include "trace/load.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

/// What became of a record whose run ended as `outcome`; a failure may be known.
ReplayResult::Status status_of(Verdict verdict, const Outcome& outcome, bool known) {
    using Status = ReplayResult::Status;
    if (outcome.kind == Outcome::Kind::unresolved) return Status::error;
    switch (verdict) {
        case Verdict::right:
            return known ? Status::xpass : Status::passed;
        case Verdict::fails:
            return known ? Status::xfail : Status::failed;
        case Verdict::not_judged:
            return Status::skipped;
    }
    __builtin_unreachable();
}

/// Capture runs again on the frame's events, in a process of its own: the outputs are computed, too. No backend takes
/// part.
Outcome recapture_isolated(const FrameRecord& record, const ReplayOptions& options, bool& identical) {
    const Limits& limits = options.suspect.limits;
    const ForkedAnswer asked = ask_forked(
        [&]() -> std::string {
            try {
                const Recaptured found = recapture(record, options.suspect.compared_by(), options.to_event);
                return (found.identical ? "=" : "~") + (found.differences.empty() ? "" : found.differences.front());
            } catch (const std::exception& error) {
                return std::string("~") + error.what();
            }
        },
        limits.process());
    if (!asked.process.good() || asked.answer.empty()) return outcome_of(asked.process, limits);
    identical = asked.answer == "=";
    const std::string difference = asked.answer.substr(1);
    return {.kind = difference.empty() ? Outcome::Kind::ok : Outcome::Kind::mismatch, .message = difference};
}

/// Replays records, in child processes with limits.
class Replay {
  public:
    Replay(const ReplayOptions& options, const KnownFailures& known) : options_(options), known_(known) {
        if (!options.suspect.spec.empty()) backend_called(options.suspect.spec.text());
    }

    ReplayResult run(const fs::path& file) {
        log_debug(LogChannel::replay, file.string() + ": started");
        ReplayResult result{.file = file};
        try {
            if (options_.models.contains(file))
                run_model(result);
            else if (options_.run_pipeline && format_of_json(file) == kHalideRunsFormat)
                run_pipeline(result);
            else
                is_frame_record(file) ? run_frame(result) : run_graph(result);
        } catch (const Error& error) {  // it cannot be run, which leaves the others as they are
            result.status = ReplayResult::Status::error;
            result.outcome = "error";
            result.first_difference = error.what();
        }
        log_info(LogChannel::replay, file.string() + (result.backend.empty() ? "" : " on " + result.backend) + ": " +
                                         std::string(name(result.status)) +
                                         (result.first_difference.empty() ? "" : ": " + result.first_difference));
        return result;
    }

  private:
    /// Made once.
    Backend& backend_called(const std::string& name) {
        // Asking a backend may start a process: the lock is not waited for with a turn in hand.
        std::unique_lock lock(mutex_, std::defer_lock);
        {
            const TurnPause others;
            lock.lock();
        }
        auto& backend = backends_[name];
        if (!backend) backend = find_backend(name);
        return *backend;
    }

    /// Results are compared first.
    Suspect without_pace() const {
        Suspect suspect = options_.suspect;
        suspect.slower.reset();
        return suspect;
    }

    /// Names the record. Returns whether it is known to fail.
    bool begin(const std::string& name, const std::string& backend, ReplayResult& result) const {
        result.name = name;
        result.backend = backend;
        const KnownFailures::Entry* const entry = known_.find(result.file, name);
        if (entry) result.known_reason = entry->reason;
        return entry != nullptr;
    }

    void run_frame(ReplayResult& result) const {
        const FrameRecord record = load_frame_record(result.file);
        result.recorded_error = first_error(record);
        const bool known = begin(record.name, "capture", result);
        const auto start = Clock::now();
        const Outcome outcome = recapture_isolated(record, options_, result.identical);
        result.seconds = seconds_since(start);
        result.verdict = outcome.failed() ? Verdict::fails : Verdict::right;
        result.status = status_of(result.verdict, outcome, known);
        result.outcome = name(outcome.kind);
        if (outcome.failed()) result.first_difference = outcome.message;
        if (options_.to_event) result.stopped_after = last_event(record, *options_.to_event);
    }

    void run_pipeline(ReplayResult& result) const {
        constexpr const char* kHalide = "halide";
        const std::string backend = options_.suspect.spec.text();
        if (!backend.empty() && backend != kHalide) {
            begin(result.file.stem().string(), backend, result);
            result.status = ReplayResult::Status::skipped;
            result.outcome = name(Outcome::Kind::unsupported);
            result.first_difference = "recorded pipelines run on halide only";
            return;
        }
        const auto start = Clock::now();
        const ReplayedPipeline ran = options_.run_pipeline(result.file);
        const bool known = begin(ran.name, kHalide, result);
        result.seconds = seconds_since(start);
        result.identical = ran.identical;
        result.verdict = ran.outcome.failed() ? Verdict::fails : Verdict::right;
        result.status = status_of(result.verdict, ran.outcome, known);
        result.outcome = name(ran.outcome.kind);
        if (ran.outcome.failed()) result.first_difference = ran.outcome.message;
    }

    void run_graph(ReplayResult& result) {
        const LoadedRecord loaded = load_checked_record(result.file);
        const Record& record = loaded.record;
        Suspect suspect = without_pace();
        const bool own = suspect.spec.empty();
        const bool known = begin(record.name, own ? record.backend : suspect.spec.text(), result);
        if (!record.capture_fault.empty()) {  // what a backend makes of the graph says nothing about the backend
            result.status = known ? ReplayResult::Status::xfail : ReplayResult::Status::failed;
            result.verdict = Verdict::fails;
            result.outcome = "capture_fault";
            result.first_difference = record.capture_fault;
            return;
        }
        if (own) suspect.options.insert(record.backend_options.begin(), record.backend_options.end());
        Backend& backend = backend_called((own ? found_near(record.backend, result.file) : suspect.spec).text());
        check_options(backend, suspect.options);
        suspect.spec = result.backend;
        if (!suspect.accuracy) suspect.accuracy = record.accuracy;
        const auto start = Clock::now();
        LoadedFrame frame{.graph = loaded.graph,
                          .inputs = record.inputs,
                          .expected = record.expected,
                          .expected_from = record.expected_from};
        if (options_.suspect.compared_by().mode == Accuracy::Mode::exact) make_exact(frame, 0);
        Outcome ran = run_isolated(frame.graph, frame.inputs, backend, suspect.options, suspect.limits);
        result.identical = !ran.failed() && std::ranges::equal(ran.outputs, frame.expected, same_bits);
        Judgement said = judge(case_of(frame, suspect), backend, std::move(ran));
        note(said, result);
        look_at_time(loaded.graph, record.inputs, suspect, backend, said, result);
        result.status = status_of(said.verdict, said.outcome, known);
        if (result.seconds == 0) result.seconds = seconds_since(start);  // it did not come back to tell
    }

    static void note(const Judgement& said, ReplayResult& result) {
        const Outcome& outcome = said.outcome;
        const bool ran = outcome.kind != Outcome::Kind::unsupported && outcome.kind != Outcome::Kind::unresolved;
        result.verdict = said.verdict;
        result.compared = said.compared;
        result.agree = said.agree;
        result.only_file = !said.only_file.empty();
        result.outcome = name(said.right() ? Outcome::Kind::ok : outcome.kind);
        if (said.verdict == Verdict::not_judged && ran) result.outcome = name(said.verdict);
        result.first_difference = said.fails() ? outcome.message : said.reason;
        result.refused = outcome.failed() && outcome.op == kAssertion;
        result.seconds = outcome.compile_seconds + outcome.run_seconds;
    }

    /// Each of its graphs; what is told is the first of those with the worst verdict.
    void run_model(ReplayResult& result) {
        const std::vector<LoadedFrame> frames = options_.load(result.file);
        Suspect suspect = without_pace();
        if (suspect.spec.empty()) suspect.spec = kDefaultSuspect;
        const bool known = begin(result.file.filename().string(), suspect.spec.text(), result);
        Backend& backend = backend_called(suspect.spec.text());
        check_options(backend, suspect.options);
        std::optional<ReplayResult> decides;
        Outcome outcome;
        double seconds = 0;
        for (const LoadedFrame& frame : frames) {
            ReplayResult own = result;
            Judgement said = judge(case_of(frame, suspect), backend);
            note(said, own);
            look_at_time(frame.graph, frame.inputs, suspect, backend, said, own);
            seconds += own.seconds;
            const bool worse = decides && own.verdict != decides->verdict &&
                               worst(std::array{own.verdict, decides->verdict}) == own.verdict;
            if (!decides || worse) decides = std::move(own), outcome = std::move(said.outcome);
        }
        if (!decides) throw Error({result.file.string(), {}}, "found no graph in the model");
        result = std::move(*decides);
        result.seconds = seconds;
        result.status = status_of(result.verdict, outcome, known);
    }

    /// What is right fails by its time, where that counts; else `said` stays as it is.
    void look_at_time(const Graph& graph, std::span<const Tensor> inputs, Suspect suspect, Backend& backend,
                      Judgement& said, ReplayResult& result) const {
        if (!options_.suspect.slower || !said.right()) return;
        suspect.tier = Tier::ends;
        suspect.slower = options_.suspect.slower;
        said = judge({graph, inputs, {}, suspect}, backend);
        note_times(said, result);
    }

    /// Of a record whose results are right.
    static void note_times(const Judgement& said, ReplayResult& result) {
        const bool timed = said.right() || said.outcome.kind == Outcome::Kind::slow;
        if (timed) result.times = said.outcome.message;
        result.verdict = said.verdict;
        if (said.right()) return;
        result.outcome = said.fails() ? name(said.outcome.kind) : name(said.verdict);
        result.first_difference = said.outcome.message;
    }

    const ReplayOptions& options_;
    const KnownFailures& known_;
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Backend>> backends_;
};

}  // namespace

std::string_view name(ReplayResult::Status status) {
    static constexpr std::string_view kNames[] = {"passed", "failed", "skipped", "xfail", "xpass", "error"};
    return kNames[static_cast<std::size_t>(status)];
}

std::vector<ReplayResult> replay_all(const std::vector<fs::path>& files, const ReplayOptions& options,
                                     const KnownFailures& known, const std::function<void(const ReplayResult&)>& done) {
    Replay replay(options, known);
    std::vector<ParallelRuns<ReplayResult>::Run> planned;
    for (const fs::path& file : files) planned.emplace_back([&] { return replay.run(file); });
    ParallelRuns<ReplayResult> runs(std::move(planned), static_cast<std::size_t>(std::max(options.jobs, 1)));
    std::vector<ReplayResult> results;
    for (std::size_t i = 0; i < files.size(); ++i) {
        results.push_back(runs.next());
        if (done) done(results.back());
    }
    return results;
}

}  // namespace whittle
