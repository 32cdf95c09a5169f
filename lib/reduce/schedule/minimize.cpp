#include "reduce/schedule/minimize.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>

#include "base/interrupt.h"
#include "base/seconds.h"
#include "base/words.h"
#include "reduce/schedule/answers.h"
#include "reduce/schedule/report.h"
#include "reduce/schedule/runs.h"

namespace whittle::reduce {

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
        done_.command = command_of(request_);
        RunEnd itself = runs_.run_itself();
        done_.program = std::move(itself.program);
        if (!done_.program.found()) return;
        halide_program::find_lines(done_.program);
        if (!is_asked) count(itself);
        while (done_.runs < request_.runs && !stopped()) count(runs_.run({}));
        if (done_.failed == 0 && !is_asked) compare_results();
        if (done_.failed == 0 && is_asked) done_.culprits.reservation = "the script or command reports no failure";
        if (done_.failed > 0 && done_.failed < done_.runs) measure_rate();
        if (done_.failed == 0 && done_.outcome == MinimizedSchedule::Outcome::minimized)
            done_.outcome = MinimizedSchedule::Outcome::not_failing;
    }

    void measure_rate() {
        constexpr std::size_t kFew = 8, kMost = 20, kFailures = 4;  // a rare failure takes more runs to measure
        while (done_.runs < (done_.failed < kFailures ? kMost : kFew) && !stopped()) count(runs_.run({}));
        done_.repeat = repeats_for(done_.failed, done_.runs);
    }

    /// The failure that occurs most often is what is minimized.
    void count(const RunEnd& end) {
        request_.tell(++done_.runs, "runs of the whole program");
        const std::string failure = end.shown();
        if (failure.empty()) return;
        const std::size_t times = ++failures_[failure];
        if (times <= done_.failed) return;
        done_.failed = times;
        if (done_.failure != failure) done_.error = end.error;
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
            count(end);
            if (done_.why.empty()) done_.why = end.difference;
        }
    }

    // ---- the search ------------------------------------------------------------------------------------------------

    void search() {
        Culprits culprits = find();
        steady_ = done_.repeat == 1 && culprits.finished && is_steady(culprits);
        if (done_.repeat == 1 && culprits.finished && !steady_) {
            measure_rate();
            done_.repeat = std::max(kLeastRepeats, done_.repeat);
            culprits = find();
        }
        finish(std::move(culprits));
    }

    Culprits find() {
        // Runs at the same time change what races do.
        const bool parallel = request_.jobs > 1 && done_.repeat == 1;
        CulpritProblem problem{.directives = done_.program.directives,
                               .answer = [this](const Keys& left_out) { return answer(left_out); },
                               .improved = [this](std::size_t smallest) { smallest_ = smallest; }};
        if (parallel) problem.prefetch = [this](const Keys& left_out) { return begin(left_out); };
        const Options options{
            .mode = request_.mode, .lookahead = parallel ? request_.jobs - 1 : 0, .stop = [this] { return stopped(); }};
        smallest_ = static_cast<std::size_t>(
            std::ranges::count_if(problem.directives, &halide_program::Directive::is_candidate));
        answers_.emplace(request_.journal, done_.failure, done_.repeat, request_.resume);
        Culprits culprits = find_culprits(problem, options);
        running_.clear();  // waits for what nobody asked for
        return culprits;
    }

    /// The decisive questions have the same answers when they are asked again: a race may have failed each time until
    /// now, and with fewer directives it fails less often.
    bool is_steady(const Culprits& culprits) const {
        constexpr int kAgain = 3;
        if (culprits.verdict == Culprits::Verdict::not_failing) return false;
        for (int i = 0; i < kAgain; ++i)
            if (ask(culprits.left_out).result != TestResult::fails) return false;
        return std::ranges::none_of(culprits.decisive,
                                    [&](const Keys& keys) { return ask(keys).result == TestResult::fails; });
    }

    // ---- questions -------------------------------------------------------------------------------------------------

    /// In any thread.
    ScheduleAnswer ask(const Keys& left_out) const {
        ScheduleAnswer answer;
        for (std::size_t i = 0; i < done_.repeat; ++i) {
            const RunEnd end = runs_.run(left_out);
            answer.fallen = fallen_in(end.program);
            const std::string failure = end.shown();
            if (!end.unresolved && failure.empty()) continue;
            answer.result = !end.unresolved && failure == done_.failure ? TestResult::fails : TestResult::unresolved;
            break;
        }
        return answer;
    }

    ScheduleAnswer answer(const Keys& left_out) {
        if (const auto known = answers_->find(left_out)) return *known;
        ++queries_;
        request_.tell(queries_, "smallest: " + plural(smallest_, "directive"));
        const auto begun = running_.find(left_out);
        const ScheduleAnswer answer = begun == running_.end() ? ask(left_out) : begun->second.get();
        if (begun != running_.end()) running_.erase(begun);
        if (!interrupt_signal()) answers_->add(left_out, answer);  // the run may have been interrupted, too
        return answer;
    }

    /// False where as many run as may.
    bool begin(const Keys& left_out) {
        if (answers_->find(left_out)) return true;
        std::size_t busy = 0;
        for (const auto& entry : running_)
            busy += entry.second.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
        if (busy + 1 >= request_.jobs) return false;
        running_.emplace(left_out, std::async(std::launch::async, [this, left_out] { return ask(left_out); }));
        return true;
    }

    bool stopped() const {
        return interrupt_signal() || (request_.end && std::chrono::steady_clock::now() >= *request_.end) ||
               (request_.most_queries && queries_ >= *request_.most_queries);
    }

    // ---- the result ------------------------------------------------------------------------------------------------

    void finish(Culprits culprits) {
        done_.culprits = std::move(culprits);
        const Culprits& found = done_.culprits;
        if (found.finished && !request_.journal.empty()) std::filesystem::remove(request_.journal);
        switch (found.verdict) {
            case Culprits::Verdict::not_failing:
                done_.outcome = MinimizedSchedule::Outcome::not_failing;
                if (found.finished)
                    done_.culprits.reservation =
                        "the program did not fail when it was run again with all its directives";
                return;
            case Culprits::Verdict::not_the_schedule:
                done_.outcome = MinimizedSchedule::Outcome::not_the_schedule;
                break;
            case Culprits::Verdict::not_the_cause:
                done_.outcome = MinimizedSchedule::Outcome::not_the_cause;
                return;
            case Culprits::Verdict::found:
                done_.confirmed = found.finished && (steady_ || ask(found.left_out).result == TestResult::fails);
                if (!interrupt_signal()) break;  // a limit leaves a result, too, and its program
                done_.not_captured = "the search was stopped before the pipeline was captured";
                return;
        }
        capture(found.left_out);
    }

    /// The target, and, where the schedule fails, the pipeline for a program of its own.
    void capture(const Keys& without) {
        const std::vector<NeededDirective>& all = done_.culprits.needed;
        const std::filesystem::path inputs = all.empty() ? std::filesystem::path() : request_.inputs;
        const halide_program::Program captured = runs_.capture(without, inputs);
        if (!captured.captured.empty() && captured.captured[0].target.empty())
            done_.target = captured.captured[0].usual_target;
        if (const halide_program::Event* const error = captured.first_error()) done_.minimized_error = error->message();
        if (all.empty()) return;
        Keys culprits;
        for (const NeededDirective& needed : all)
            if (needed.is_cause()) culprits.insert(needed.directive.key);
        done_.pipeline = captured_with(captured, without, culprits);
        if (std::filesystem::exists(inputs)) done_.inputs = inputs;
        if (done_.pipeline) return;
        done_.not_captured =
            captured.captured.empty() ? "no pipeline was captured" : "no captured pipeline has these directives";
        for (const std::string& note : captured.notes) done_.not_captured += "; " + note;
    }

    static constexpr std::size_t kLeastRepeats = 4;  ///< of a failure that does not occur each time

    const ScheduleRequest& request_;
    ProgramRuns runs_;
    MinimizedSchedule done_;
    bool steady_ = false;  ///< the last result is: see is_steady()
    std::size_t queries_ = 0, smallest_ = 0;
    std::map<std::string, std::size_t> failures_;  ///< of the whole program, by how often they occurred
    std::optional<ScheduleAnswers> answers_;
    std::map<Keys, std::future<ScheduleAnswer>> running_;  ///< the last member: its end waits for them
};

}  // namespace

MinimizedSchedule minimize_schedule(const ScheduleRequest& request) { return ScheduleSearch(request).run(); }

}  // namespace whittle::reduce
