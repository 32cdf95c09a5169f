#include "reduce/judge.h"

#include <algorithm>

#include "base/interrupt.h"

namespace whittle::reduce {

Observation Judge::observe(const Case& original) {
    return oracle_.observe(
        {original.graph, original.inputs, original.expected, identity_(original.graph, original.inputs)});
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
            seen = oracle_.observe({asked_case.graph, asked_case.inputs, asked_case.expected, identity});
    } catch (const Interrupted&) {  // stopped() says so before the next query, and the best so far is kept
        return Verdict::unresolved;
    }
    count(seen);
    known_[identity] = seen;
    const Verdict answer = verdict(asked_case, seen);
    unresolved_ += answer == Verdict::unresolved;
    if (asked) asked();
    return answer;
}

bool Judge::prefetch(const Case& likely) {
    const std::string identity = identity_(likely.graph, likely.inputs);
    return known_.contains(identity) || oracle_.prefetch({likely.graph, likely.inputs, likely.expected, identity});
}

bool Judge::stopped() const {
    return (limits_.stop && limits_.stop()) || (limits_.queries && run_ >= *limits_.queries);
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
