#include "diagnose/release_history.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "graph/releases.h"
#include "ops/core/interpreter.h"

namespace whittle::diagnose {
namespace {

class Historian {
  public:
    Historian(const Graph& graph, Backend& backend, Releases& releases, const Limits& limits)
        : graph_(graph), failure_(*graph.failure), backend_(backend), releases_(releases), limits_(limits) {
        if (suspect_of(failure_).tier == Tier::computes) expected_ = evaluate(graph, failure_.inputs);
    }

    Again ask(const std::string& release) const {
        const Again answer = answer_of(release);
        log_info(LogChannel::run, "release " + release + ": " + word(answer));
        return answer;
    }

    static const char* word(Again answer) {
        return answer == Again::right ? "right" : answer == Again::fails ? "wrong" : "cannot tell";
    }

  private:
    Again answer_of(const std::string& release) const {
        try {
            const Answer answer = ask_again({.graph = graph_,
                                             .expected = expected_,
                                             .limits = limits_,
                                             .options = releases_.in_release(failure_.options, release)},
                                            backend_);
            if (answer.again == Again::otherwise)
                log_info(LogChannel::run, "release " + release + ": " + answer.outcome.message);
            return answer.again;
        } catch (const Error& error) {  // it cannot be started, or does not have the failure's options
            log_info(LogChannel::run, "release " + release + ": " + error.what());
            return Again::otherwise;
        }
    }

    const Graph& graph_;
    const Failure& failure_;
    Backend& backend_;
    Releases& releases_;
    const Limits& limits_;
    std::vector<Tensor> expected_;
};

}  // namespace

std::optional<Begin> begin_of_failure(std::size_t failing, const std::function<Again(std::size_t)>& ask,
                                      const std::function<bool()>& stop) {
    Begin begin{.fails = failing};
    std::vector<std::size_t> open(failing);  // between the two, and not asked
    for (std::size_t i = 0; i < failing; i++) open[i] = i;
    while (!open.empty()) {
        if (stop && stop()) return std::nullopt;
        // What an old release lacks, those before it lack, too: newer ones first.
        const std::size_t newest = begin.silent.empty() ? 0 : begin.silent.back();
        const auto newer = std::ranges::upper_bound(open, newest);
        const auto from = begin.silent.empty() || newer == open.end() ? open.begin() : newer;
        const std::size_t asked = *(from + (open.end() - from) / 2);
        const Again answer = ask(asked);
        if (answer == Again::right) begin.right = asked;
        if (answer == Again::fails) begin.fails = asked;
        if (answer == Again::otherwise) begin.silent.insert(std::ranges::upper_bound(begin.silent, asked), asked);
        const auto outside = [&](std::size_t one) {
            return one >= begin.fails || (begin.right && one <= *begin.right);
        };
        std::erase_if(begin.silent, outside);
        std::erase_if(open, [&](std::size_t one) { return one == asked || outside(one); });
    }
    return begin;
}

std::string ReleaseHistory::text() const {
    std::string text;
    if (last_good.empty())
        text = "wrong at least since " + first_bad;
    else
        text = last_good + " is right, wrong since " + first_bad;
    const std::string all = "of " + std::to_string(installed) + " installed";
    if (last_good.empty() && cannot_tell.empty())
        text += ", the oldest " + all;
    else
        text += " (" + all + (cannot_tell.empty() ? "" : "; " + join(cannot_tell) + " cannot tell") + ")";
    if (newest.empty()) return text;
    return text + "; " +
           (newest_is == "cannot tell" ? newest + " cannot tell"
                                       : (newest_is == "wrong" ? "still wrong in " : "right in ") + newest);
}

std::optional<ReleaseHistory> release_history(const Graph& graph, Backend& backend, const Limits& limits,
                                              const std::function<bool()>& stop) {
    Releases* const releases = offered<Releases>(backend);
    if (!releases || !graph.failure) return std::nullopt;
    const std::vector<std::string> names = releases->releases();
    const auto failing = std::ranges::find(names, names.size() < 2 ? "" : releases->release_of(graph.failure->options));
    if (failing == names.end()) return std::nullopt;
    const Historian historian(graph, backend, *releases, limits);
    const auto begin = begin_of_failure(
        static_cast<std::size_t>(failing - names.begin()),
        [&](std::size_t release) { return historian.ask(names[release]); }, stop);
    if (!begin || (stop && stop())) return std::nullopt;
    ReleaseHistory history{.installed = names.size(), .first_bad = names[begin->fails]};
    if (begin->right) history.last_good = names[*begin->right];
    for (const std::size_t silent : begin->silent) history.cannot_tell.push_back(names[silent]);
    if (*failing == names.back()) return history;
    history.newest = names.back();
    history.newest_is = Historian::word(historian.ask(history.newest));
    return history;
}

}  // namespace whittle::diagnose
