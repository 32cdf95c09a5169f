#include "reduce/schedule/minimize.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <mutex>

#include "base/interrupt.h"
#include "base/seconds.h"
#include "reduce/schedule/answers.h"
#include "reduce/schedule/items.h"
#include "reduce/schedule/report.h"
#include "reduce/schedule/runs.h"

namespace whittle::reduce {

using halide_program::Directive;

namespace {

/// Runs after which a failure of this rate has occurred, but for one time in a hundred.
std::size_t repeats_for(std::size_t failed, std::size_t runs) {
    constexpr double kMissed = 0.01;
    constexpr std::size_t kMost = 50;
    if (failed == runs) return 1;
    const double rate = static_cast<double>(failed) / static_cast<double>(runs);
    return std::min(kMost, static_cast<std::size_t>(std::ceil(std::log(kMissed) / std::log(1 - rate))));
}

class ScheduleSearch {
  public:
    explicit ScheduleSearch(const ScheduleRequest& request) : request_(request), runs_(request) {}

    MinimizedSchedule run() {
        const auto begin = std::chrono::steady_clock::now();
        measure();
        if (done_.outcome == MinimizedSchedule::Outcome::minimized && done_.program.found()) search();
        done_.queries = queries_;
        done_.seconds = seconds_since(begin);
        return std::move(done_);
    }

  private:
    // ---- the failure -----------------------------------------------------------------------------------------------

    /// Runs the whole program until its rate of failure is known.
    void measure() {
        const bool is_asked = !request_.test.empty() || !request_.check.empty();
        RunEnd itself = runs_.run_itself();
        done_.program = std::move(itself.program);
        if (!done_.program.found()) return;
        halide_program::find_lines(done_.program);
        if (!is_asked) count(itself.shown());
        while (done_.runs < request_.runs && !stopped()) count(runs_.run({}).shown());
        if (done_.failed == 0 && !is_asked) compare_results();
        if (done_.failed == 0 && is_asked) done_.reservation = "the script or command reports no failure";
        if (done_.failed > 0 && done_.failed < done_.runs) measure_rate();
        if (done_.failed == 0 && done_.outcome == MinimizedSchedule::Outcome::minimized)
            done_.outcome = MinimizedSchedule::Outcome::not_failing;
    }

    void measure_rate() {
        constexpr std::size_t kFew = 8, kMost = 20, kFailures = 4;  // a rare failure takes more runs to measure
        while (done_.runs < (done_.failed < kFailures ? kMost : kFew) && !stopped()) count(runs_.run({}).shown());
        done_.repeat = repeats_for(done_.failed, done_.runs);
    }

    /// The failure that occurs most often is what is minimized.
    void count(const std::string& failure) {
        ++done_.runs;
        if (failure.empty()) return;
        const std::size_t times = ++failures_[failure];
        if (times <= done_.failed) return;
        done_.failed = times;
        done_.failure = failure;
    }

    void compare_results() {
        done_.why = runs_.take_reference();
        if (!done_.why.empty()) {
            done_.outcome = MinimizedSchedule::Outcome::no_reference;
            return;
        }
        done_.runs = 0;
        while (done_.runs < request_.runs && !stopped()) {
            const RunEnd end = runs_.run({});
            count(end.shown());
            if (done_.why.empty()) done_.why = end.difference;
        }
    }

    // ---- candidates ------------------------------------------------------------------------------------------------

    void search() {
        take(&Directive::is_candidate);
        Result result = search_items();
        if (result.reproduces && result.finished && result.kept.empty()) {  // sizes are asked about last
            const std::set<std::string> candidates = left_out({});
            take(&Directive::states_size);
            always_ = candidates;
            if (!items_.empty()) result = search_items();
        }
        finish(result);
    }

    /// Makes items of the directives that `is_one` finds.
    void take(bool (Directive::*is_one)() const) {
        std::set<std::string> keys;
        items_.clear();
        for (const Directive& directive : done_.program.directives) {
            if (!(directive.*is_one)() || !keys.insert(directive.key).second) continue;
            items_.push_back(directive);
        }
        done_.candidates += items_.size();
        problem_ = problem_of(items_);
    }

    Result search_items() {
        fallen_.clear();
        Result result = find();
        steady_ = done_.repeat == 1 && result.finished && is_steady(result);
        if (done_.repeat == 1 && result.finished && !steady_) {
            measure_rate();
            done_.repeat = std::max(kLeastRepeats, done_.repeat);
            result = find();
        }
        return result;
    }

    Result find() {
        Problem problem = problem_;
        problem.test = [this](const Set& kept) { return answer(kept); };
        // Runs at the same time change what races do.
        const bool parallel = request_.jobs > 1 && done_.repeat == 1;
        if (parallel) problem.prefetch = [this](const Set& kept) { return begin(kept); };
        Options options{.mode = request_.mode,
                        .lookahead = parallel ? request_.jobs - 1 : 0,
                        .improved = [this](const Set& kept) { smallest_ = kept.size(); },
                        .stop = [this] { return stopped(); }};
        smallest_ = items_.size();
        answers_.emplace(request_.journal, done_.failure, done_.repeat, request_.resume);
        Result result = reduce::search(problem, options);
        running_.clear();  // waits for what nobody asked for
        return result;
    }

    /// The decisive questions have the same answers when they are asked again: a race may have failed each time until
    /// now, and with fewer directives it fails less often.
    bool is_steady(const Result& result) {
        constexpr int kAgain = 3;
        if (!result.reproduces) return false;
        for (int i = 0; i < kAgain; ++i)
            if (ask(result.kept) != TestResult::fails) return false;
        return std::ranges::none_of(result.kept, [&](int item) {
            Set rest = result.kept;
            std::erase(rest, item);
            return ask(problem_.legal(rest)) == TestResult::fails;
        });
    }

    // ---- questions -------------------------------------------------------------------------------------------------

    std::set<std::string> left_out(const Set& kept) const {
        std::set<std::string> keys = always_;
        for (int item = 0; item < static_cast<int>(items_.size()); ++item)
            if (!std::ranges::binary_search(kept, item)) keys.insert(items_[static_cast<std::size_t>(item)].key);
        return keys;
    }

    /// In any thread.
    TestResult ask(const Set& kept) {
        const std::set<std::string> without = left_out(kept);
        for (std::size_t i = 0; i < done_.repeat; ++i) {
            const RunEnd end = runs_.run(without);
            {
                const std::lock_guard lock(mutex_);
                fallen_[kept] = fallen_in(end.program);
            }
            const std::string failure = end.shown();
            if (!end.unresolved && failure.empty()) continue;
            return !end.unresolved && failure == done_.failure ? TestResult::fails : TestResult::unresolved;
        }
        return TestResult::passes;
    }

    TestResult answer(const Set& kept) {
        const std::set<std::string> without = left_out(kept);
        if (const auto known = answers_->find(without)) {
            const std::lock_guard lock(mutex_);
            fallen_[kept] = known->fallen;
            return known->result;
        }
        ++queries_;
        if (request_.progress) request_.progress(queries_, smallest_);
        const auto begun = running_.find(kept);
        const TestResult result = begun == running_.end() ? ask(kept) : begun->second.get();
        if (begun != running_.end()) running_.erase(begun);
        if (interrupt_signal()) return result;  // the run may have been, too
        const std::lock_guard lock(mutex_);
        answers_->add(without, {result, fallen_[kept]});
        return result;
    }

    /// False where as many run as may.
    bool begin(const Set& kept) {
        if (answers_->find(left_out(kept))) return true;
        std::size_t busy = 0;
        for (const auto& entry : running_)
            busy += entry.second.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
        if (busy + 1 >= request_.jobs) return false;
        running_.emplace(kept, std::async(std::launch::async, [this, kept] { return ask(kept); }));
        return true;
    }

    bool stopped() const {
        return interrupt_signal() || (request_.end && std::chrono::steady_clock::now() >= *request_.end) ||
               (request_.most_queries && queries_ >= *request_.most_queries);
    }

    // ---- the result ------------------------------------------------------------------------------------------------

    void finish(const Result& result) {
        done_.finished = result.finished;
        if (done_.finished && !request_.journal.empty()) std::filesystem::remove(request_.journal);
        done_.reservation = result.reservation;
        if (!result.reproduces) {
            if (result.finished)
                done_.reservation = "the program did not fail when it was run again with all its directives";
            done_.outcome = MinimizedSchedule::Outcome::not_failing;
            return;
        }
        if (result.kept.empty()) {
            done_.outcome = MinimizedSchedule::Outcome::not_the_schedule;
            done_.left_out = left_out({});
            capture(done_.left_out);
            return;
        }
        for (const int item : result.kept)
            done_.needed.push_back({items_[static_cast<std::size_t>(item)], allowed_by(item, result.kept)});
        done_.left_out = left_out(result.kept);
        done_.confirmed = result.finished && (steady_ || ask(result.kept) == TestResult::fails);
        if (stopped())
            done_.not_captured = "the search was stopped before the pipeline was captured";
        else
            capture(done_.left_out);
    }

    /// The target, and, where the schedule fails, the pipeline for a program of its own.
    void capture(const std::set<std::string>& without) {
        const std::filesystem::path inputs = done_.needed.empty() ? std::filesystem::path() : request_.inputs;
        const halide_program::Program captured = runs_.capture(without, inputs);
        if (!captured.captured.empty() && captured.captured[0].target.empty())
            done_.target = captured.captured[0].usual_target;
        if (done_.needed.empty()) return;
        std::set<std::string> culprits;
        for (const NeededDirective& needed : done_.needed)
            if (needed.allows.empty()) culprits.insert(needed.directive.key);
        done_.pipeline = captured_with(captured, without, culprits);
        if (std::filesystem::exists(inputs)) done_.inputs = inputs;
        if (done_.pipeline) return;
        done_.not_captured =
            captured.captured.empty() ? "no pipeline was captured" : "no captured pipeline has these directives";
        for (const std::string& note : captured.notes) done_.not_captured += "; " + note;
    }

    /// What of the set uses a loop that the item makes, or fell away or moved when the program was run without it.
    std::vector<int> allowed_by(int item, const Set& set) {
        const Directive& directive = items_[static_cast<std::size_t>(item)];
        std::set<int> numbers;
        Set rest = set;
        std::erase(rest, item);
        rest = problem_.legal(rest);
        const std::set<std::string>&with = fallen_[set], &without = fallen_[rest];
        for (const int other : set) {
            const Directive& one = items_[static_cast<std::size_t>(other)];
            const bool uses = std::ranges::find(one.needs, directive.number) != one.needs.end();
            const bool fell = without.contains(one.key) && !with.contains(one.key);
            if (other != item && (uses || one.at == directive.number || fell)) numbers.insert(one.number);
        }
        return {numbers.begin(), numbers.end()};
    }

    static constexpr std::size_t kLeastRepeats = 4;  ///< of a failure that does not occur each time

    const ScheduleRequest& request_;
    ProgramRuns runs_;
    MinimizedSchedule done_;
    std::vector<Directive> items_;  ///< what may be left out
    Problem problem_;               ///< of these
    std::set<std::string> always_;  ///< keys of what is left out each time
    bool steady_ = false;           ///< the last result is: see is_steady()
    std::size_t queries_ = 0, smallest_ = 0;
    std::map<std::string, std::size_t> failures_;  ///< of the whole program, by how often they occurred
    std::optional<ScheduleAnswers> answers_;
    std::mutex mutex_;
    std::map<Set, std::set<std::string>> fallen_;     ///< see fallen_in(); by what was kept
    std::map<Set, std::future<TestResult>> running_;  ///< the last member: its end waits for them
};

}  // namespace

MinimizedSchedule minimize_schedule(const ScheduleRequest& request) { return ScheduleSearch(request).run(); }

}  // namespace whittle::reduce
