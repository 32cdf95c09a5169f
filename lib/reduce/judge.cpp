#include "reduce/judge.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/log.h"
#include "graph/text.h"

namespace whittle::reduce {

namespace {
constexpr int kMostLost = 5;  // in a row: what answers is gone, and --resume goes on when it is back
}  // namespace

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::fails:
            return "fails";
        case Verdict::passes:
            return "passes";
        case Verdict::unresolved:
            return "unresolved";
    }
    __builtin_unreachable();
}

Observation Judge::observe(const Case& original) { return ask(original, identity_(original.graph, original.inputs)); }

/// A query that is lost is asked once more.
Observation Judge::ask(const Case& asked_case, const std::string& identity) {
    const Candidate candidate{asked_case.graph, asked_case.inputs, asked_case.expected, identity};
    Observation seen = oracle_.observe(candidate);
    if (!seen.lost) return seen;
    log_warning(LogChannel::reduce, "a query got no answer and is asked again: " + seen.message);
    seen = oracle_.observe(candidate);
    if (seen.lost) log_warning(LogChannel::reduce, "a query got no answer again and stays unresolved: " + seen.message);
    return seen;
}

Observation Judge::observe(const Case& original, const AsGiven& given) {
    const Graph& graph = given.graph ? *given.graph : original.graph;
    return oracle_.observe(
        {graph, original.inputs, original.expected, identity_(graph, original.inputs) + " as given", given.file});
}

void Judge::follow(const Case& original, const Observation& failure) {
    followed_ = failure.signature;
    known_[identity_(original.graph, original.inputs)] = failure;
    last_ = {original, failure};
    count(failure);
}

void Judge::count(const Observation& seen) {
    queries_++;
    run_ += !seen.replayed;
}

Verdict Judge::test(const Case& asked_case) {
    const std::string identity = identity_(asked_case.graph, asked_case.inputs);
    if (const auto known = known_.find(identity); known != known_.end()) {
        cache_hits_++;
        return verdict(asked_case, known->second);
    }
    Observation seen;
    try {
        for (int i = 0; i < repeat_ && !(seen.failed && seen.signature == followed_); ++i)
            seen = ask(asked_case, identity);
    } catch (const Interrupted&) {  // stopped() says so before the next query, and the best so far is kept
        return Verdict::unresolved;
    }
    count(seen);
    lost_ = seen.lost ? lost_ + 1 : 0;
    if (lost_ == kMostLost)
        log_warning(LogChannel::reduce,
                    std::to_string(lost_) + " queries in a row got no answer: the search stops here");
    known_[identity] = seen;
    const Verdict answer = verdict(asked_case, seen);
    unresolved_ += answer == Verdict::unresolved;
    log_query(asked_case, seen, answer);
    if (asked) asked(asked_case, answer);
    return answer;
}

void Judge::log_query(const Case& asked_case, const Observation& seen, Verdict answer) const {
    if (!log_enabled(LogChannel::reduce, LogLevel::debug)) return;
    log_debug(LogChannel::reduce, "query " + std::to_string(queries_) + ": " + summary(asked_case.graph) + ": " +
                                      std::string(name(answer)) + (seen.message.empty() ? "" : ": " + seen.message));
}

bool Judge::prefetch(const Case& likely) {
    const std::string identity = identity_(likely.graph, likely.inputs);
    return known_.contains(identity) || oracle_.prefetch({likely.graph, likely.inputs, likely.expected, identity});
}

bool Judge::stopped() const {
    return lost_ >= kMostLost || (limits_.stop && limits_.stop()) || (limits_.queries && run_ >= *limits_.queries);
}

Verdict Judge::verdict(const Case& asked_case, const Observation& seen) {
    if (seen.unresolved) return Verdict::unresolved;
    if (!seen.failed) return Verdict::passes;
    if (!(seen.signature == followed_)) {
        keep_drifted(asked_case, seen);
        return Verdict::unresolved;
    }
    last_ = {asked_case, seen};
    return Verdict::fails;
}

/// Not followed: kept as a find of its own, in its smallest form.
void Judge::keep_drifted(const Case& asked_case, const Observation& seen) {
    const auto known = std::find_if(drifted_.begin(), drifted_.end(),
                                    [&](const Find& find) { return find.seen.signature == seen.signature; });
    if (known == drifted_.end())
        drifted_.push_back({asked_case, seen});
    else if (size_of(asked_case).calls < size_of(known->found).calls)
        *known = {asked_case, seen};
}

}  // namespace whittle::reduce
