#include "reduce/search/search.h"

#include <algorithm>
#include <queue>

#include "base/words.h"

namespace whittle::reduce {
namespace {

/// Thrown out of a rehearsal when it asks what is not known.
struct Unknown {
    Set set;
};

struct Future {
    double probability = 1;
    std::map<Set, TestResult> assumed = {};
    bool operator<(const Future& other) const { return probability < other.probability; }
};

}  // namespace

std::vector<Set> likely_next(const Problem& problem, Mode mode, const std::map<Set, TestResult>& known,
                             const Set& pending, double chance, std::size_t most) {
    chance = std::clamp(chance, 0.1, 0.9);
    std::priority_queue<Future> futures;
    const auto branch = [&](const Future& from, const Set& at) {
        for (const TestResult result : {TestResult::fails, TestResult::passes}) {
            Future future = from;
            future.probability *= result == TestResult::fails ? chance : 1 - chance;
            future.assumed[at] = result;
            futures.push(std::move(future));
        }
    };
    branch({}, pending);
    std::vector<Set> next;
    for (std::size_t tries = 0; next.size() < most && !futures.empty() && tries < 4 * most; ++tries) {
        const Future future = futures.top();
        futures.pop();
        Problem rehearsed = problem;
        rehearsed.prefetch = {};
        rehearsed.test = [&](const Set& set) {
            for (const auto* answers : {&known, &future.assumed})
                if (const auto answer = answers->find(set); answer != answers->end()) return answer->second;
            throw Unknown{set};
        };
        try {
            search(rehearsed, {.mode = mode});
        } catch (const Unknown& unknown) {
            add_once(next, unknown.set);
            branch(future, unknown.set);
        }
    }
    return next;
}

}  // namespace whittle::reduce
