#include "judge/suspect.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "backends/registry.h"
#include "base/interrupt.h"
#include "base/number_text.h"
#include "base/seconds.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "judge/outcome.h"
#include "judge/ratio_test.h"
#include "ops/aten/random.h"
#include "passes/no_grad.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMeasured = 1e-3;         // seconds that a measurement takes at least: far more than reading a clock
constexpr std::size_t kMostAtOnce = 1000;  // runs of one measurement …
constexpr int kTimedAtOnce = 5;            // … by a compiler's own process
constexpr std::size_t kMostPairs = 400;
constexpr double kOfLimit = 0.8;  // of the time limit: then the times do not decide

Outcome no_answer(std::string why) {
    return {.kind = Outcome::Kind::unsupported, .stage = "run", .message = std::move(why)};
}

/// One of the two.
struct Side {
    std::string called;
    Backend& backend;
    BackendOptions options;
    std::unique_ptr<Apart::Query> query = {};  ///< set where its compiler is a process of its own

    /// `kept`: whoever asks it is this process, so that it may be asked again later; a worker with a limit of processor
    /// time is not.
    void start(const Limits& limits, bool kept) {
        if (WarmUp* const cold = offered<WarmUp>(backend)) cold->warm_up();
        ProcessOptions process = limits.process();
        if (!process.cpu_limit && !kept) process.cpu_limit = std::chrono::hours(24);
        if (Apart* const apart = apart_for(backend, options)) query = apart->query(options, process);
    }
};

/// The same where it is asked: compiled once.
class Lane {
  public:
    Lane(Side& side, const Graph& graph, std::span<const Tensor> inputs, const Limits& limits)
        : side_(side), inputs_(inputs), limits_(limits) {
        executable_ = compile_in_process(outcome_, graph, side.query ? *side.query : side.backend, side.options);
        if (!executable_) return;
        timed_ = dynamic_cast<TimesRuns*>(executable_.get());
        if (timed_) return;
        run_in_process(outcome_, *executable_, inputs_);  // which may allocate, and compile what is compiled late
        const auto start = Clock::now();
        run_in_process(outcome_, *executable_, inputs_);
        const double once = std::max(seconds_since(start), 1e-9);
        at_once_ = std::clamp(static_cast<std::size_t>(std::ceil(kMeasured / once)), std::size_t(1), kMostAtOnce);
    }

    const std::string& called() const { return side_.called; }

    /// How it failed.
    std::optional<Outcome> failure() const {
        if (side_.query && side_.query->ended()) {
            Outcome ended = outcome_of(side_.query->ended()->process, limits_);
            if (ended.is_failure()) ended.stage = side_.query->ended()->stage;
            return ended;
        }
        return outcome_.failed() ? std::optional(outcome_) : std::nullopt;
    }

    /// Seconds of one run, the mean of a few; what failed says failure().
    double measure() {
        if (timed_) return by_compiler();
        const auto start = Clock::now();
        for (std::size_t i = 0; i < at_once_ && !outcome_.failed(); ++i)
            run_in_process(outcome_, *executable_, inputs_);
        return seconds_since(start) / static_cast<double>(at_once_);
    }

  private:
    double by_compiler() {
        std::vector<double> seconds;
        timed_in_process(outcome_, *timed_, inputs_, kTimedAtOnce, seconds);
        return outcome_.failed() ? 0 : median_interval(std::move(seconds)).median;
    }

    Side& side_;
    std::span<const Tensor> inputs_;
    const Limits& limits_;
    Outcome outcome_;
    std::unique_ptr<Executable> executable_;
    TimesRuns* timed_ = nullptr;
    std::size_t at_once_ = 1;
};

// ---- the race

Outcome run_pairs(Lane& suspect, Lane& other, double factor, double seconds) {
    const auto begin = Clock::now();
    const auto failure = [&]() -> std::optional<Outcome> {
        if (auto own = suspect.failure()) return own;
        if (const auto its = other.failure())
            return no_answer("the other side of the comparison, " + other.called() + ", fails: " + its->message);
        return std::nullopt;
    };
    if (auto failed = failure()) return *failed;
    const double once = suspect.measure();  // the first of each warms up
    other.measure();
    if (auto failed = failure()) return *failed;
    if (once < kLeastRun)
        return no_answer("a run takes " + time_text(once) + ", too short to compare times: expected at least " +
                         time_text(kLeastRun));
    RatioTest test(factor);
    std::vector<double> mine, its;
    std::mt19937 coin(7);
    while (test.answer() == RatioTest::Answer::open && mine.size() < kMostPairs && seconds_since(begin) < seconds) {
        const bool first = coin() % 2 == 0;
        if (first) mine.push_back(suspect.measure());
        its.push_back(other.measure());
        if (!first) mine.push_back(suspect.measure());
        if (auto failed = failure()) return *failed;
        if (its.back() > 0) test.add(mine.back() / its.back());
    }
    if (test.ratios().empty()) return no_answer("no pair of runs fits into the time limit");
    const MedianInterval own = median_interval(mine);
    std::string told = figures(test, other.called(), own, median_interval(its));
    if (test.answer() == RatioTest::Answer::open)
        return no_answer("the times do not show whether the factor is above " + shortest(factor) + ": the model " +
                         told);
    Outcome outcome{.message = std::move(told), .run_seconds = own.median};
    if (test.answer() == RatioTest::Answer::above) outcome.kind = Outcome::Kind::slow, outcome.stage = "run";
    return outcome;
}

Outcome race_between(const Graph& graph, std::span<const Tensor> inputs, Side& mine, Side& its,
                     const Suspect& suspect) {
    const Graph plain = without_requires_grad(graph);
    const Limits& limits = suspect.limits;
    const bool apart = apart_for(mine.backend, mine.options) && apart_for(its.backend, its.options);
    mine.start(limits, apart);
    its.start(limits, apart);
    const auto run = [&] {
        seed_random_ops(0);
        Lane lane(mine, plain, inputs, limits), other(its, plain, inputs, limits);
        const double seconds = kOfLimit * std::chrono::duration<double>(limits.timeout).count();
        return run_pairs(lane, other, suspect.slower->factor, seconds);
    };
    if (apart) {
        const Outcome outcome = run();
        throw_if_interrupted();  // which is no outcome
        return outcome;
    }
    ProcessOptions process = limits.process();
    process.shared_memory = resident_memory();
    const ForkedAnswer asked = ask_forked([&] { return encode(run()); }, process);
    if (asked.process.good() && !asked.process.timed_out && !asked.process.cpu_exceeded)
        if (auto outcome = decode(asked.answer)) return *outcome;
    return outcome_of(asked.process, limits);  // at which stage, nobody knows
}

}  // namespace

Outcome race(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const Suspect& suspect) {
    const Pace& pace = *suspect.slower;
    const std::string name = suspect.spec.text().empty() ? backend.name() : suspect.spec.text();
    Side mine{name, backend, suspect.options};
    if (!pace.than.empty()) {
        const std::unique_ptr<Backend> other = find_backend(pace.than, pace.options);
        Side its{pace.text(), *other, pace.options};
        return race_between(graph, inputs, mine, its, suspect);
    }
    const Unoptimized plain = unoptimized(graph, backend, suspect.options);
    if (!plain.possible)
        return no_answer(name +
                         " cannot compile the model without optimization, so there is nothing to compare with; to "
                         "compare with another backend, add --than");
    if (!plain.options) return {.message = name + " does not optimize this model"};  // the same is as fast as the same
    Side its{name + " without optimization", backend, *plain.options};
    return race_between(graph, inputs, mine, its, suspect);
}

}  // namespace whittle
