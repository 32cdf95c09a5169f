#include "reduce/schedule/slow.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "base/interrupt.h"
#include "base/number_text.h"
#include "base/seconds.h"
#include "base/words.h"
#include "frontends/halide/capture/variables.h"
#include "judge/ratio_test.h"
#include "judge/suspect.h"
#include "reduce/schedule/report.h"
#include "reduce/schedule/runs.h"

namespace whittle::reduce {

using halide_program::Directive;
using halide_program::Step;

namespace {

constexpr std::size_t kFirstRuns = 5;
constexpr std::size_t kMostPairs = 60;
/// A single run without a directive that is faster by less than this part of the wanted difference says that the
/// directive is not one of those.
constexpr double kPromising = 0.5;

class SlowSearch {
  public:
    SlowSearch(const ScheduleRequest& request, double factor) : request_(request), runs_(request) {
        done_.factor = factor;
    }

    SlowDirectives run() {
        const auto begin = std::chrono::steady_clock::now();
        done_.program = runs_.run_itself().program;
        if (done_.program.found()) {
            find_lines(done_.program);
            search();
        }
        done_.seconds = seconds_since(begin);
        return std::move(done_);
    }

  private:
    struct Candidate {
        const Directive* directive = nullptr;
        double ratio = 0;  ///< a first guess
    };

    void search() {
        if (!measure_whole()) return;
        std::vector<Candidate> promising;
        std::set<std::string> keys;
        for (const Directive& directive : done_.program.directives) {
            if (!directive.is_candidate() || !keys.insert(directive.key).second) continue;
            ++done_.candidates;
            if (stopped()) continue;
            const std::optional<double> without = seconds_of_run({directive.key});
            if (!without) continue;  // it cannot do without
            const double ratio = done_.run_seconds / *without;
            if (ratio > 1 + (done_.factor - 1) * kPromising) promising.push_back({&directive, ratio});
        }
        for (const Candidate& candidate : promising) compare(*candidate.directive);
        done_.finished = !stopped();
    }

    /// False where there are no times to compare.
    bool measure_whole() {
        std::vector<double> times;
        for (std::size_t i = 0; i < kFirstRuns && !stopped(); ++i) {
            const std::optional<double> seconds = seconds_of_run({});
            if (!seconds) return false;
            times.push_back(*seconds);
        }
        if (times.empty()) return done_.finished = false;
        done_.run_seconds = median_interval(std::move(times)).median;
        if (done_.run_seconds >= kLeastRun) return true;
        done_.why = "the pipelines run for " + time_text(done_.run_seconds) +
                    ", too short to compare times: expected at least " + time_text(kLeastRun);
        return false;
    }

    /// Seconds that the pipelines run; nothing where the program fails, or runs none, which `why` says of the whole.
    std::optional<double> seconds_of_run(const std::set<std::string>& left_out) {
        ++done_.runs;
        request_.tell(done_.runs, "slow: " + plural(done_.slow.size(), "directive"));
        const RunEnd end = runs_.run(left_out, {{halide_capture::kTimesVariable, "1"}});
        fallen_ = fallen_in(end.program);
        double seconds = 0;
        for (const Step& step : end.program.steps)
            if (step.kind == Step::Kind::ran) seconds += step.seconds;
        if (end.failure.empty() && !end.unresolved && seconds > 0) return seconds;
        if (left_out.empty())
            done_.why = end.failure.empty()
                            ? "the program runs no pipeline in its own process, so there are no times to compare"
                            : "the program fails: " + end.failure;
        return std::nullopt;
    }

    /// Runs the program with the directive and without it, in an order that is drawn, until the answer is certain.
    void compare(const Directive& directive) {
        RatioTest test(done_.factor);
        std::vector<double> with, without;
        std::set<std::string> fallen;
        std::mt19937 coin(7);
        while (test.answer() == RatioTest::Answer::open && with.size() < kMostPairs && !stopped()) {
            const bool first = coin() % 2 == 0;
            std::optional<double> mine;
            if (first) mine = seconds_of_run({});
            const std::optional<double> its = seconds_of_run({directive.key});
            fallen = fallen_;
            if (!first) mine = seconds_of_run({});
            if (!mine || !its) return;
            with.push_back(*mine);
            without.push_back(*its);
            test.add(*mine / *its);
        }
        if (test.answer() != RatioTest::Answer::above) return;
        done_.slow.push_back({.needed = {directive},
                              .ratio = median_interval({test.ratios().begin(), test.ratios().end()}),
                              .figures = figures(test, "without it", median_interval(with), median_interval(without))});
        allowed_.push_back(std::move(fallen));
        find_causes();
    }

    /// What falls away, or moves, without a directive, may be what is slow.
    void find_causes() {
        for (std::size_t i = 0; i < done_.slow.size(); ++i) {
            done_.slow[i].needed.allows.clear();
            for (const SlowDirective& other : done_.slow)
                if (allowed_[i].contains(other.needed.directive.key))
                    done_.slow[i].needed.allows.push_back(other.needed.directive.number);
        }
    }

    bool stopped() const {
        return interrupt_signal() || (request_.end && std::chrono::steady_clock::now() >= *request_.end) ||
               (request_.most_queries && done_.runs >= *request_.most_queries);
    }

    const ScheduleRequest& request_;
    ProgramRuns runs_;
    SlowDirectives done_;
    std::set<std::string> fallen_ = {};                ///< of the last run
    std::vector<std::set<std::string>> allowed_ = {};  ///< by each of `slow`
};

std::vector<NeededDirective> needed_of(const std::vector<SlowDirective>& slow) {
    std::vector<NeededDirective> all;
    for (const SlowDirective& one : slow) all.push_back(one.needed);
    return all;
}

std::string causes_text(const std::vector<SlowDirective>& slow) {
    std::string text;
    for (const SlowDirective& one : slow)
        if (one.needed.allows.empty())
            text += report_row(text.empty() ? "culprit" : "",
                               one.needed.directive.text() + " (" + one.needed.directive.place.text() + ")") +
                    report_row("", "the program " + one.figures);
    return text;
}

}  // namespace

SlowDirectives slow_directives(const ScheduleRequest& request, double factor) {
    return SlowSearch(request, factor).run();
}

std::string to_text(const SlowDirectives& done) {
    std::string text = notes_text(done.program);
    if (!done.why.empty()) return text + report_row(words(Verdict::not_judged), done.why);
    const std::string effort =
        plural(done.candidates, "directive") + " in " + fmt::format("{} runs, {:.1f} s", done.runs, done.seconds);
    text += report_row("time", "the pipelines run for " + time_text(done.run_seconds) + ", without compile time");
    if (done.slow.empty())
        text += report_row("not slower", "no directive alone slows the program down by a factor of more than " +
                                             shortest(done.factor) + "; tried " + effort);
    else
        text += report_row("slower", std::to_string(done.slow.size()) + " of " + effort) +
                needed_text(needed_of(done.slow)) + causes_text(done.slow);
    return text + (done.finished ? "" : report_row("stopped", "the search stopped before all directives were tried"));
}

nlohmann::json to_json(const SlowDirectives& done) {
    nlohmann::json needed = nlohmann::json::array();
    for (const SlowDirective& one : done.slow) {
        nlohmann::json entry = to_json(one.needed);
        entry["ratio"] = {{"median", one.ratio.median}, {"low", one.ratio.low}, {"high", one.ratio.high}};
        entry["figures"] = one.figures;
        needed.push_back(std::move(entry));
    }
    const Verdict verdict = !done.why.empty()   ? Verdict::not_judged
                            : done.slow.empty() ? Verdict::right
                                                : Verdict::fails;
    nlohmann::json result{{"verdict", name(verdict)},
                          {"outcome", !done.why.empty()   ? "no times"
                                      : done.slow.empty() ? "not slower"
                                                          : "slower"},
                          {"factor", done.factor},
                          {"run_seconds", done.run_seconds},
                          {"candidates", done.candidates},
                          {"needed", needed},
                          {"queries", done.runs},
                          {"seconds", done.seconds},
                          {"finished", done.finished},
                          {"notes", done.program.notes},
                          {"not_captured", "a program cannot reproduce a running time as a failure"}};
    if (!done.why.empty()) result["why"] = done.why;
    return result;
}

}  // namespace whittle::reduce
