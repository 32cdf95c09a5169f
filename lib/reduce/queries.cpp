#include "reduce/queries.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/log.h"

namespace whittle::reduce {

namespace {
constexpr int kMostLost = 5;  // in a row: what answers is gone, and --resume goes on when it is back
}  // namespace

Observation Queries::observe(const Case& original) { return ask(original, identity_(original)); }

Observation Queries::answer(const Case& asked_case, const std::string& identity) {
    if (journal_)
        if (auto known = journal_->take(identity)) return std::move(*known);
    Observation seen = parallel_.observe(asked_case, identity);
    if (journal_ && !seen.lost) journal_->add(identity, seen);
    return seen;
}

/// A query that is lost is asked once more.
Observation Queries::ask(const Case& asked_case, const std::string& identity) {
    Observation seen = answer(asked_case, identity);
    if (!seen.lost) return seen;
    log_warning(LogChannel::reduce, "a candidate got no verdict; judging the candidate again: " + seen.message);
    seen = answer(asked_case, identity);
    if (seen.lost)
        log_warning(LogChannel::reduce,
                    "a candidate got no verdict twice, and counts as neither failing nor passing: " + seen.message);
    return seen;
}

void Queries::follow(const Case& original, const Observation& failure) {
    followed_ = failure.signature;
    known_[identity_(original)] = failure;
    last_ = {original, failure};
    add(failure);
}

void Queries::add(const Observation& seen) {
    count_++;
    run_ += !seen.replayed;
}

TestResult Queries::test(const Case& asked_case) {
    const std::string identity = identity_(asked_case);
    if (const auto known = known_.find(identity); known != known_.end()) {
        cache_hits_++;
        return result_of(asked_case, known->second);
    }
    Observation seen;
    try {
        for (int i = 0; i < repeat_ && !(seen.failed && seen.signature == followed_); ++i)
            seen = ask(asked_case, identity);
    } catch (const Interrupted&) {  // stopped() says so before the next query, and the best so far is kept
        return TestResult::unresolved;
    }
    add(seen);
    lost_ = seen.lost ? lost_ + 1 : 0;
    if (lost_ == kMostLost)
        log_warning(LogChannel::reduce,
                    std::to_string(lost_) + " candidates in a row got no verdict, so the search stops");
    known_[identity] = seen;
    const TestResult result = result_of(asked_case, seen);
    unresolved_ += result == TestResult::unresolved;
    if (log_enabled(LogChannel::reduce, LogLevel::debug))
        log_debug(LogChannel::reduce, "query " + std::to_string(count_) + ": " + text(size_of(asked_case)) + ": " +
                                          std::string(name(result)) + (seen.message.empty() ? "" : ": ") +
                                          seen.message);
    if (asked) asked(asked_case, result);
    return result;
}

bool Queries::prefetch(const Case& likely) {
    const std::string identity = identity_(likely);
    return known_.contains(identity) || (journal_ && journal_->has(identity)) || parallel_.prefetch(likely, identity);
}

bool Queries::stopped() const {
    return lost_ >= kMostLost || how_.stopped() || (how_.step_limit && run_ >= *how_.step_limit);
}

TestResult Queries::result_of(const Case& asked_case, const Observation& seen) {
    if (seen.unresolved || seen.marginal) return TestResult::unresolved;
    if (!seen.failed) return TestResult::passes;
    if (!(seen.signature == followed_)) {
        keep_drifted(asked_case, seen);
        return TestResult::unresolved;
    }
    last_ = {asked_case, seen};
    return TestResult::fails;
}

/// Not followed: kept as a find of its own, in its smallest form.
void Queries::keep_drifted(const Case& asked_case, const Observation& seen) {
    const auto known =
        std::ranges::find_if(drifted_, [&](const Find& find) { return find.seen.signature == seen.signature; });
    if (known == drifted_.end())
        drifted_.push_back({asked_case, seen});
    else if (size_of(asked_case).calls < size_of(known->found).calls)
        *known = {asked_case, seen};
}

}  // namespace whittle::reduce
