#include "reduce/minimize.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/seconds.h"

namespace whittle::reduce {
namespace {

constexpr std::size_t kFlakyRuns = 10;     // of an original whose runs were not alike
constexpr std::int64_t kMostRepeats = 25;  // of a candidate, unless more are asked for; rarer failures are given up

class Minimizer {
  public:
    Minimizer(const Deletion& deletion, Oracle& oracle, const Strategy& how, const Goal& goal, Journal* journal)
        : deletion_(deletion),
          oracle_(oracle),
          how_(how),
          goal_(goal),
          queries_(oracle, how, journal),
          signature_(goal.signature) {
        queries_.asked = [this](const Case& candidate, TestResult answer) {
            remember(candidate, answer, pass_);
            if (goal_.progress) goal_.progress({queries_.count(), result_.after.calls});
        };
    }

    Minimized run() {
        const Case whole = deletion_.whole();
        result_.before = result_.after = size_of(whole);
        if (goal_.as_given && !fails_as_given()) return done();
        if (!baseline(whole) && !fails_as_it_is()) {
            result_.hidden = goal_.as_given && result_.ending == Minimized::Ending::not_failing;
            return done();
        }
        best_ = queries_.last_failing();
        for (const std::string& pass : how_.passes) result_.passes.push_back({pass, 0, 0, {}, {}});
        // A round that comes back to a case of an earlier one ends it too.
        for (std::set<std::string> seen; result_.search.finished;) {
            delete_calls(seen.empty());
            const std::string deleted = queries_.identity(best_.found);
            for (std::size_t i = 0; i < result_.passes.size() && result_.search.finished; ++i)
                reduce(result_.passes[i]);
            if (queries_.identity(best_.found) == deleted || !seen.insert(deleted).second) break;
        }
        finish();
        return done();
    }

  private:
    double seconds() const { return seconds_since(begin_); }

    Minimized done() {
        result_.seconds = seconds();
        return std::move(result_);
    }

    /// Runs the model as its user gave it; its failure is followed from now on.
    bool fails_as_given() {
        Observation seen;
        for (std::int64_t i = 0; i < repeat() && !wanted(seen); i++) seen = queries_.observe(*goal_.as_given);
        result_.message = seen.message;
        if (seen.unresolved) result_.ending = Minimized::Ending::unsupported;
        if (fails(seen)) result_.signature = seen.signature;
        if (!wanted(seen)) return false;
        signature_ = seen.signature;
        return true;
    }

    /// The same of the case with what nothing reads, where it takes that to fail.
    bool fails_as_it_is() {
        const bool passes = result_.ending == Minimized::Ending::not_failing && result_.signature.kind.empty();
        const std::optional<Case> original = passes ? deletion_.original() : std::nullopt;
        if (!original || !baseline(*original)) return false;
        result_.before = result_.after = size_of(*original);
        return true;
    }

    /// Runs the original: does it fail, and always in the same way? Where it does not, it is run more often, what it
    /// says most often is followed, and candidates are run until their passing means something, too.
    bool baseline(const Case& whole) {
        std::vector<Observation> seen;
        std::size_t runs = static_cast<std::size_t>(repeat());
        while (seen.size() < runs) {
            seen.push_back(queries_.observe(whole));
            if (seen.back().lost)
                throw Error({oracle_.name(), {}}, "found no verdict on the original model: " + seen.back().message,
                            seen.back().message.starts_with("--launcher")  // run_launched(), of judge/suspect.h
                                ? "run the launcher by hand with a command whose output you know: 'PREFIX echo hello'; "
                                  "see share/doc/how-to/clusters.md"
                                : "run the command by hand on the model; --timeout and --memory-limit set the limits");
            const bool passes_now = goal_.has_failed && !fails(seen.back());
            if (passes_now || !alike(seen.back(), seen[0])) runs = std::max(runs, kFlakyRuns);
        }
        const auto often = [&](const Observation& one) {
            return std::ranges::count_if(seen, [&](const Observation& other) { return alike(one, other); });
        };
        std::ranges::stable_sort(seen, [&](const Observation& one, const Observation& other) {
            if (wanted(one) != wanted(other)) return wanted(one);
            return fails(one) != fails(other) ? fails(one) : often(one) > often(other);
        });
        result_.message = seen[0].message;
        if (!fails(seen[0])) {
            if (seen[0].unresolved) result_.ending = Minimized::Ending::unsupported;
            return false;
        }
        result_.signature = seen[0].signature;
        if (!wanted(seen[0])) return false;
        queries_.follow(whole, seen[0]);
        remember(whole, TestResult::fails, "original");
        const auto failures = static_cast<std::size_t>(often(seen[0]));
        return failures == runs || (flaky(failures, runs), result_.flaky.repeat > 0);
    }

    static bool fails(const Observation& seen) { return seen.failed && !seen.unresolved; }
    bool wanted(const Observation& seen) const { return fails(seen) && (!signature_ || seen.signature == *signature_); }
    static bool alike(const Observation& one, const Observation& other) {
        return fails(one) ? fails(other) && one.signature == other.signature : !fails(other);
    }

    /// How often a candidate that fails as often as the original must pass until that is no chance: (1 - rate)^n <= 1
    /// %.
    void flaky(std::size_t failures, std::size_t runs) {
        const double rate = static_cast<double>(failures) / static_cast<double>(runs);
        const int needed = static_cast<int>(std::ceil(std::log(0.01) / std::log(1 - rate)));
        result_.flaky = {failures, runs, needed > std::max(kMostRepeats, repeat()) ? 0 : needed, needed};
        if (result_.flaky.repeat == 0) result_.ending = Minimized::Ending::flaky;
        queries_.repeat(result_.flaky.repeat);
    }

    std::int64_t repeat() const { return std::max<std::int64_t>(how_.repeat, 1); }

    void remember(const Case& candidate, TestResult answer, const std::string& pass) {
        const Size size = size_of(candidate);
        result_.history.push_back({queries_.count(), seconds(), pass, answer, size.calls, size.elements});
    }

    /// Runs `turn` and adds to the report what it did.
    template <class Turn>
    void reported(ReductionReport& report, Turn turn) {
        const std::size_t queries_before = queries_.count(), accepted_before = accepted_;
        pass_ = report.name;
        if (report.before == Size{}) report.before = size_of(best_.found);
        turn();
        report.tried += queries_.count() - queries_before;
        report.accepted += accepted_ - accepted_before;
        if (accepted_ > accepted_before || report.after == Size{}) report.after = size_of(best_.found);
        log_info(LogChannel::reduce, report.name + ": " + std::to_string(queries_.count() - queries_before) +
                                         " tried, " + std::to_string(accepted_ - accepted_before) +
                                         " accepted, left: " + text(size_of(best_.found)));
    }

    void delete_calls(bool first) {
        const auto report = std::ranges::find(result_.passes, kDeletion, &ReductionReport::name);
        if (report == result_.passes.end()) {
            result_.search.reservation = "the pass 'calls' is not in --delta-passes";
            return;
        }
        Options search = search_options();
        if (!first) search.mode = Mode::linear;  // nearly all are needed
        reported(*report, [&] {
            const Case start = best_.found;
            const Result found =
                first ? deletion_.search(queries_, search, goal_.likely ? goal_.likely() : std::vector<std::string>())
                      : deletion_of_calls(start.graph, start.inputs)->search(queries_, search);
            result_.search.cache_hits += found.cache_hits;
            result_.search.one_minimal = found.one_minimal;
            result_.search.finished = found.finished;
            result_.search.reservation = found.reservation;
            result_.search.fell_back |= found.fell_back;
        });
    }

    void reduce(ReductionReport& report) {
        for (const Reduction& reduction : reductions())
            if (reduction.name == report.name)
                reported(report,
                         [&] { result_.search.finished = simplify(reduction, best_, queries_, search_options()); });
        if (result_.search.finished) return;
        result_.search.one_minimal = false;  // what is simpler has not been tried without each call
        result_.search.reservation = "stopped before the search was complete";
    }

    /// The judge counts the queries; the search asks it whether to stop.
    Options search_options() {
        return {.mode = mode_from_name(how_.mode),
                .lookahead = how_.jobs > 1 ? static_cast<std::size_t>(how_.jobs) - 1 : 0,
                .improved = [this](const Set&) { improve(); },
                .stop = [this] { return queries_.stopped(); }};
    }

    void improve() {
        best_ = queries_.last_failing();
        ++accepted_;
        result_.after = size_of(best_.found);
        if (goal_.improved) goal_.improved(finished(best_));
    }

    /// The case with everything needed to reproduce its failure.
    Case finished(const Find& find) const {
        Case result = find.found;
        Failure& failure = result.graph.failure.emplace();
        oracle_.describe(failure);
        failure.signature = find.seen.signature;
        failure.message = find.seen.message;
        failure.inputs = find.found.inputs;
        return result;
    }

    /// Runs the result as often as the original; of a flaky one, until it fails.
    bool confirmed() {
        const bool flaky = result_.flaky.repeat > 0;
        try {
            for (std::int64_t left = flaky ? result_.flaky.repeat : how_.repeat - 1; left > 0; left--)
                if (alike(queries_.observe(best_.found), best_.seen) == flaky) return flaky;
        } catch (const Interrupted&) {
            return false;
        }
        return !flaky;
    }

    void finish() {
        if (result_.search.finished) result_.confirmed = confirmed();
        result_.after = size_of(best_.found);
        result_.smallest = finished(best_);
        for (const Find& find : queries_.drifted()) result_.drifted.push_back(finished(find));
        result_.search.queries = queries_.count();
        result_.search.cache_hits += queries_.cache_hits();
        result_.search.unresolved = queries_.unresolved();
        result_.ending = result_.search.finished && !interrupt_signal() ? Minimized::Ending::minimized
                                                                        : Minimized::Ending::interrupted;
    }

    const Deletion& deletion_;
    Oracle& oracle_;
    const Strategy& how_;
    const Goal& goal_;
    Queries queries_;
    std::optional<Signature> signature_;  ///< the failure that is looked for; none: any
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::string pass_;  ///< that asks now
    Minimized result_;
    Find best_;
    std::size_t accepted_ = 0;  ///< candidates that became the best
};

}  // namespace

std::vector<std::string> pass_names() {
    std::vector<std::string> names = {kDeletion};
    for (const Reduction& reduction : reductions()) names.emplace_back(reduction.name);
    return names;
}

std::string_view name(Minimized::Ending ending) {
    static constexpr std::string_view kNames[] = {"minimized", "not_failing", "unsupported", "flaky", "interrupted"};
    return kNames[static_cast<std::size_t>(ending)];
}

Verdict Minimized::verdict() const {
    if (failed() || ending == Ending::flaky) return Verdict::fails;
    if (judgement) return judgement->verdict;
    if (hidden) return Verdict::fails;
    return ending == Ending::unsupported ? Verdict::not_judged : Verdict::right;
}

Minimized minimize(const Deletion& deletion, Oracle& oracle, const Strategy& how, const Goal& goal, Journal* journal) {
    return Minimizer(deletion, oracle, how, goal, journal).run();
}

Minimized minimize(const Graph& graph, std::span<const Tensor> inputs, Oracle& oracle, const Strategy& how,
                   const Goal& goal, Journal* journal) {
    return minimize(*deletion_of_calls(graph, inputs), oracle, how, goal, journal);
}

}  // namespace whittle::reduce
