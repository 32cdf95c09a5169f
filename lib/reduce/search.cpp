#include "reduce/search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

namespace whittle::reduce {
namespace {

/// Thrown inside the search only, when the step limit is reached or the user interrupts.
struct Stopped {};

Set sorted(Set set) {
    std::sort(set.begin(), set.end());
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

class Search {
  public:
    Search(const Problem& problem, const Options& options) : problem_(problem), options_(options) {}

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
        switch (options_.mode) {
            case Mode::linear:
                break;
            case Mode::ddmin:
                ddmin();
                break;
            case Mode::bisect:
            case Mode::automatic:
                gallop();
                break;
        }
        sweep();
    }

    // ---- asking ----------------------------------------------------------------------------------------------------

    Set legal(const Set& wish) const { return problem_.legal ? problem_.legal(wish) : wish; }

    Verdict ask(const Set& wish) {
        const Set set = legal(wish);
        if (set.empty()) return Verdict::passes;  // nothing to run
        if (const auto known = cache_.find(set); known != cache_.end()) {
            result_.cache_hits++;
            return known->second;
        }
        if (options_.stop && options_.stop()) throw Stopped{};
        if (options_.step_limit && result_.queries >= *options_.step_limit) throw Stopped{};
        result_.queries++;
        const Verdict verdict = problem_.test(set);
        cache_.emplace(set, verdict);
        if (verdict == Verdict::unresolved) result_.unresolved++;
        if (verdict == Verdict::fails && set.size() < best_.size()) {
            best_ = set;
            if (options_.improved) options_.improved(best_);
        }
        return verdict;
    }

    bool fails(const Set& wish) { return ask(wish) == Verdict::fails; }

    // ---- bisection -------------------------------------------------------------------------------------------------

    /// Smallest k in (low, high] such that base + the first k of `order` fails, given that it does for `high` and does
    /// not for `low`. An unresolved midpoint is replaced by a near one that answers, as git bisect skips a commit.
    std::size_t first_failing_prefix(const Set& base, const std::vector<int>& order, std::size_t low,
                                     std::size_t high) {
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            std::size_t probe = middle;
            Verdict verdict = ask(extended(base, order, middle));
            const std::size_t stride = std::max<std::size_t>(1, (high - low) / 8);
            for (std::size_t skip = 1; verdict == Verdict::unresolved && skip <= kSkips; skip++) {
                const std::size_t offset = stride * ((skip + 1) / 2);
                const std::size_t other = skip % 2 ? middle + offset : middle - std::min(offset, middle);
                if (other <= low || other >= high) continue;
                probe = other;
                verdict = ask(extended(base, order, probe));
            }
            (verdict == Verdict::fails ? high : low) = probe;
        }
        return high;
    }

    // ---- gallop ----------------------------------------------------------------------------------------------------

    void gallop() {
        Set pool = best_;  // fails
        const std::size_t last = first_failing_prefix({}, pool, 0, pool.size());
        Set essential = {pool[last - 1]};
        pool.resize(last);
        while (!fails(essential)) {
            const std::vector<int> order = by_distance(essential, difference(pool, essential));
            if (order.empty())
                break;  // a set with all that seemed essential does not fail: not monotone, sweep from best_
            const std::size_t k = next_essential(essential, order);
            pool = extended(essential, order, k);
            essential = extended(essential, {order[k - 1]}, 1);
        }
    }

    /// essential + all of `order` fails, essential alone does not: grows the ball x4 until it fails, then bisects
    /// inside.
    std::size_t next_essential(const Set& essential, const std::vector<int>& order) {
        std::size_t low = 0;
        for (std::size_t k = 1; k < order.size(); k *= 4) {
            if (fails(extended(essential, order, k))) return first_failing_prefix(essential, order, low, k);
            low = k;
        }
        return first_failing_prefix(essential, order, low, order.size());
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
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return at(a) != at(b) ? at(a) < at(b) : a > b; });
        return order;
    }

    // ---- sweep and delta debugging ---------------------------------------------------------------------------------

    /// Drops single items until none can be; starts again after each success, when the cache answers what it can.
    void sweep() {
        bool changed = true;
        while (changed) {
            changed = false;
            result_.reservation.clear();
            const Set current = best_;
            for (auto item = current.rbegin(); item != current.rend() && !changed; ++item) {
                const Verdict verdict = ask(without(current, *item));
                changed = verdict == Verdict::fails;
                if (verdict == Verdict::unresolved) result_.reservation = "some sets with one item less gave no answer";
            }
            if (changed && options_.mode != Mode::linear && best_.size() > kSweepLimit) ddmin();
        }
        result_.one_minimal = true;
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

    static constexpr std::size_t kSkips = 4;        // unresolved midpoints to step around before taking one as passing
    static constexpr std::size_t kSweepLimit = 24;  // a droppable item among more than these: verdicts are not monotone

    const Problem& problem_;
    const Options& options_;
    Result result_;
    Set best_;
    std::map<Set, Verdict> cache_;
};

}  // namespace

Result search(const Problem& problem, const Options& options) { return Search(problem, options).run(); }

}  // namespace whittle::reduce
