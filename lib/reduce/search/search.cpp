#include "reduce/search/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/words.h"

namespace whittle::reduce {
namespace {

/// Thrown inside the search only, when it is to stop.
struct Stopped {};

Set sorted(Set set) {
    std::ranges::sort(set);
    set.erase(std::unique(set.begin(), set.end()), set.end());
    return set;
}

Set without(const Set& set, int item) {
    Set rest;
    std::remove_copy(set.begin(), set.end(), std::back_inserter(rest), item);
    return rest;
}

Set difference(const Set& a, const Set& b) {
    Set rest;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
    return rest;
}

/// base + the first k of `order`.
Set extended(const Set& base, const std::vector<int>& order, std::size_t k) {
    Set set = base;
    set.insert(set.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k));
    return sorted(std::move(set));
}

class Searcher {
  public:
    Searcher(const Problem& problem, const Options& options) : problem_(problem), options_(options) {}

    Result run() {
        Set all(static_cast<std::size_t>(problem_.count));
        std::iota(all.begin(), all.end(), 0);
        best_ = legal(all);
        try {
            result_.reproduces = fails(best_);
            if (result_.reproduces) reduce();
        } catch (const Stopped&) {
            result_.finished = false;
            result_.reservation = "stopped before the search was complete";
        }
        result_.kept = best_;
        return result_;
    }

  private:
    void reduce() {
        if (problem_.ask_empty && fails({})) {
            result_.one_minimal = true;
            return;
        }
        const bool alone = std::ranges::any_of(problem_.likely, [this](int item) { return fails({item}); });
        switch (alone ? Mode::linear : options_.mode) {
            case Mode::linear:
                break;
            case Mode::ddmin:
                ddmin();
                break;
            case Mode::probdd:
                probdd();
                break;
            case Mode::bisect:
            case Mode::automatic:
                gallop();
                break;
        }
        sweep();
        while (options_.mode == Mode::automatic && best_.size() <= kFew && smaller_part()) sweep();
    }

    // ---- asking ----------------------------------------------------------------------------------------------------

    Set legal(const Set& wish) const { return problem_.legal ? problem_.legal(wish) : wish; }

    TestResult ask(const Set& wish) {
        const Set set = legal(wish);
        if (set.empty() && !problem_.ask_empty) return TestResult::passes;  // nothing to run
        if (const auto known = cache_.find(set); known != cache_.end()) {
            result_.cache_hits++;
            return known->second;
        }
        if (options_.stop && options_.stop()) throw Stopped{};
        result_.queries++;
        if (options_.lookahead && problem_.prefetch)
            for (const Set& next : likely_next(problem_, options_.mode, cache_, set, chance_, options_.lookahead))
                if (!told_.contains(next) && problem_.prefetch(next)) told_.insert(next);
        const TestResult result = problem_.test(set);
        cache_.emplace(set, result);
        chance_ += 0.25 * ((result == TestResult::fails) - chance_);
        if (result == TestResult::unresolved) result_.unresolved++;
        if (result == TestResult::fails && set.size() < best_.size()) {
            best_ = set;
            if (options_.improved) options_.improved(best_);
        }
        return result;
    }

    bool fails(const Set& wish) { return ask(wish) == TestResult::fails; }

    // ---- bisection -------------------------------------------------------------------------------------------------

    /// Smallest k in (low, high] such that base + the first k of `order` fails, given that it does for `high` and does
    /// not for `low`. An unresolved midpoint is replaced by a near one that answers, as git bisect skips a commit.
    std::size_t first_failing_prefix(const Set& base, const std::vector<int>& order, std::size_t low,
                                     std::size_t high) {
        bool failed = false;
        while (high - low > 1) {
            // What makes a half fail may well recur in it (every relu, say): then look close to the front. A wrong
            // guess costs a query, which on thousands of items plain bisection does without.
            const bool recurs = failed && base.empty() && low == 0 && problem_.count <= kGuessLimit;
            const std::size_t middle = recurs ? std::max<std::size_t>(1, high / 8) : split(low, high);
            std::size_t probe = middle;
            TestResult result = ask(extended(base, order, middle));
            const std::size_t stride = std::max<std::size_t>(1, (high - low) / 8);
            for (std::size_t skip = 1; result == TestResult::unresolved && skip <= kSkips; skip++) {
                const std::size_t offset = stride * ((skip + 1) / 2);
                const std::size_t other = skip % 2 ? middle + offset : middle - std::min(offset, middle);
                if (other <= low || other >= high) continue;
                probe = other;
                result = ask(extended(base, order, probe));
            }
            failed = result == TestResult::fails;
            (failed ? high : low) = probe;
        }
        return high;
    }

    /// Where to ask in (low, high): so that either answer is equally likely. The last essential item is the nearer to
    /// the end the more of the items seen so far were essential: with density p, the last t of n items hold it with
    /// probability (1 - (1-p)^t) / (1 - (1-p)^n). While few are expected that is the middle.
    std::size_t split(std::size_t low, std::size_t high) const {
        const double span = static_cast<double>(high - low);
        const double density = std::min(0.9, found_ / (seen_ + 0.1 * problem_.count));
        if (density * span < 0.5) return low + (high - low) / 2;
        const double q = 1 - density;
        const double tail = std::round(std::log((1 + std::pow(q, span)) / 2) / std::log(q));
        return high - static_cast<std::size_t>(std::clamp(tail, 1.0, span - 1));
    }

    // ---- gallop ----------------------------------------------------------------------------------------------------

    void gallop() {
        Set pool = best_;  // fails
        const std::size_t last = first_failing_prefix({}, pool, 0, pool.size());
        Set essential = sorted(with_needs({}, pool[last - 1]));
        pool.resize(last);
        Set unproven;  // taken for essential since it was last asked whether the essential ones fail alone
        std::size_t ball = 1, ask_alone = 1;
        for (;;) {
            // The more are essential already, the less likely is it that this one was the last.
            const bool ask_now = essential.size() >= ask_alone;
            if (ask_now) {
                if (fails(essential)) break;
                unproven.clear();  // all that were found so far are needed
                ask_alone = essential.size() + std::max<std::size_t>(1, essential.size() / 2);
            }
            const std::vector<int> order = needs_first(by_distance(essential, difference(pool, essential)), essential);
            if (order.empty()) break;  // all of the pool, which fails
            const std::size_t k = next_essential(essential, order, ball);
            found_ += 1;
            seen_ += static_cast<double>(order.size() - k + 1);
            pool = extended(essential, order, k);
            essential = sorted(with_needs(essential, order[k - 1]));
            if (!ask_now) unproven.push_back(order[k - 1]);
        }
        while (!unproven.empty() && fails(without(best_, unproven.back()))) unproven.pop_back();
    }

    /// essential + all of `order` fails, essential alone does not: grows the ball x4 until it fails, then bisects
    /// inside. The first of `order` may be all it takes. `ball` is where to start, and becomes where to start next:
    /// what is needed lies no nearer than it did before, and if it does, the ball shrinks again.
    std::size_t next_essential(const Set& essential, const std::vector<int>& order, std::size_t& ball) {
        std::size_t low = 0;
        const std::size_t start = ball;
        for (std::size_t k = start; k < order.size(); k *= 4) {
            if (fails(extended(essential, order, k))) {
                if (k == start) ball = std::max<std::size_t>(1, k / 4);
                return first_failing_prefix(essential, order, low, k);
            }
            low = ball = k;
        }
        ball = order.size();
        return first_failing_prefix(essential, order, low, order.size());
    }

    /// The items, with the item and what it cannot live without behind them.
    std::vector<int> with_needs(std::vector<int> items, int item) const {
        if (std::ranges::find(items, item) != items.end()) return items;
        if (!problem_.needs.empty())
            for (const int needed : problem_.needs[static_cast<std::size_t>(item)])
                items = with_needs(std::move(items), needed);
        items.push_back(item);
        return items;
    }

    /// In this order, but what an item cannot live without before it: what ends a failing prefix then needs no more.
    std::vector<int> needs_first(const std::vector<int>& order, const Set& essential) const {
        if (problem_.needs.empty()) return order;
        std::vector<int> all = essential;
        for (const int item : order) all = with_needs(std::move(all), item);
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(essential.size()));
        return all;
    }

    /// `items` by distance from the set `from`, nearest first; at equal distance the later one first.
    std::vector<int> by_distance(const Set& from, const Set& items) const {
        constexpr int unreachable = std::numeric_limits<int>::max();
        std::vector<int> distance(static_cast<std::size_t>(problem_.count), unreachable);
        const auto at = [&](int item) -> int& { return distance[static_cast<std::size_t>(item)]; };
        std::queue<int> queue;
        for (int item : from) {
            at(item) = 0;
            queue.push(item);
        }
        while (!queue.empty() && !problem_.neighbours.empty()) {
            const int item = queue.front();
            queue.pop();
            for (int next : problem_.neighbours[static_cast<std::size_t>(item)]) {
                if (at(next) != unreachable) continue;
                at(next) = at(item) + 1;
                queue.push(next);
            }
        }
        std::vector<int> order = items;
        std::ranges::stable_sort(order, [&](int a, int b) { return at(a) != at(b) ? at(a) < at(b) : a > b; });
        return order;
    }

    // ---- sweep and delta debugging ---------------------------------------------------------------------------------

    /// Drops single items, pass after pass, until a whole pass drops none: the cache answers what it can. None of those
    /// that a bisection has proven essential should go.
    void sweep() {
        for (bool changed = true; changed;) {
            changed = false;
            result_.reservation.clear();
            const Set items = best_;
            for (auto item = items.rbegin(); item != items.rend(); ++item) {
                if (!std::ranges::binary_search(best_, *item)) continue;  // it could not live without one
                const TestResult result = ask(without(best_, *item));
                if (result == TestResult::unresolved)
                    result_.reservation = "some candidates that lack only one part of the result got no verdict";
                if (result != TestResult::fails) continue;
                changed = true;
                if (options_.mode != Mode::automatic) continue;
                delta_debug();
                break;
            }
        }
        result_.one_minimal = result_.reservation.empty();
    }

    /// Asks about every contiguous part of a small set and every set with two items less: items that fail both with and
    /// without each other are not found one by one. True where one of them fails.
    bool smaller_part() {
        const Set items = best_;
        for (std::size_t size = 1; size + 1 < items.size(); size++)
            for (auto from = items.begin(); from + static_cast<std::ptrdiff_t>(size) <= items.end(); ++from)
                if (fails(Set(from, from + static_cast<std::ptrdiff_t>(size)))) return true;
        for (const int one : items)
            for (const int other : items)
                if (one < other && items.size() > 2 && fails(without(without(items, one), other))) return true;
        return false;
    }

    /// For verdicts that have turned out not to be monotone.
    void delta_debug() {
        if (std::exchange(result_.fell_back, true))
            ddmin();
        else
            probdd();
    }

    /// Probabilistic delta debugging on best_: each item has a probability of being essential; what is asked is to do
    /// without those items that promise most, and where that does not fail, they become more probable (Bayes). It ends
    /// when every item is dropped or certain.
    void probdd() {
        struct Item {
            int number;
            double essential;
        };
        std::vector<Item> items;
        const double prior = std::min(kMostPrior, kPriorEssential / static_cast<double>(best_.size()));
        for (const int item : best_) items.push_back({item, prior});
        for (;;) {
            std::ranges::stable_sort(items, [](const Item& a, const Item& b) { return a.essential < b.essential; });
            // Without the first k: the expected number of items dropped is k times the chance that none is essential.
            double none = 1, chance = 1, most = 0;
            std::size_t count = 0;
            for (std::size_t k = 0; k < items.size(); k++) {
                none *= 1 - items[k].essential;
                if (static_cast<double>(k + 1) * none <= most) continue;
                most = static_cast<double>(k + 1) * none;
                chance = none;
                count = k + 1;
            }
            if (count == 0) return;
            Set rest;
            for (std::size_t k = count; k < items.size(); k++) rest.push_back(items[k].number);
            if (fails(sorted(rest)))  // more may have gone than was asked for
                std::erase_if(items, [&](const Item& item) { return !std::ranges::binary_search(best_, item.number); });
            else
                for (std::size_t k = 0; k < count; k++)
                    items[k].essential = count == 1 ? 1 : items[k].essential / (1 - chance);
        }
    }

    /// ddmin on best_.
    void ddmin() {
        std::size_t parts = 2;
        while (best_.size() >= 2) {
            const Set current = best_;
            parts = std::min(parts, current.size());
            bool reduced = false;
            for (std::size_t i = 0; i < parts && !reduced; i++) {
                const auto begin = current.begin() + static_cast<std::ptrdiff_t>(current.size() * i / parts);
                const auto end = current.begin() + static_cast<std::ptrdiff_t>(current.size() * (i + 1) / parts);
                const Set part(begin, end);
                if (fails(part)) {
                    reduced = true;
                    parts = 2;
                } else if (parts > 2 && fails(difference(current, part))) {
                    reduced = true;
                    parts = std::max<std::size_t>(parts - 1, 2);
                }
            }
            if (reduced) continue;
            if (parts == current.size()) return;
            parts *= 2;
        }
    }

    static constexpr std::size_t kSkips = 4;      // unresolved midpoints to step around before taking one as passing
    static constexpr std::size_t kFew = 8;        // items of a set whose parts are all asked about
    static constexpr int kGuessLimit = 1000;      // items above which bisection does not guess
    static constexpr double kPriorEssential = 4;  // items that probabilistic delta debugging expects to be essential
    static constexpr double kMostPrior = 0.5;

    const Problem& problem_;
    const Options& options_;
    Result result_;
    Set best_;
    std::map<Set, TestResult> cache_;
    std::set<Set> told_;           ///< to Problem::prefetch
    double chance_ = 0.5;          // that the next set fails, by those asked about lately
    double found_ = 0, seen_ = 0;  // essential items, and items known to be essential or not, behind the prefix
};

}  // namespace

std::string_view name(TestResult result) {
    static constexpr std::string_view kNames[] = {"fails", "passes", "unresolved"};
    return kNames[static_cast<std::size_t>(result)];
}

std::vector<std::string> mode_names() { return {"auto", "bisect", "linear", "probdd", "ddmin"}; }

Mode mode_from_name(const std::string& name) {
    const std::vector<std::string> names = mode_names();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) throw Error("found '" + name + "', expected one of " + join(names));
    return static_cast<Mode>(found - names.begin());
}

Result search(const Problem& problem, const Options& options) { return Searcher(problem, options).run(); }

}  // namespace whittle::reduce
