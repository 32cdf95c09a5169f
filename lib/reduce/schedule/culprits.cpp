#include "reduce/schedule/culprits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "reduce/schedule/items.h"

namespace whittle::reduce {

using halide_program::Directive;

namespace {

using Stage = bool (*)(const Directive&);
bool is_candidate(const Directive& directive) { return directive.is_candidate(); }
bool computes(const Directive& directive) { return directive.is_candidate() && !directive.places_func(); }
bool places(const Directive& directive) { return directive.places_func(); }
bool states_size(const Directive& directive) { return directive.states_size(); }
/// Of storage that is kept from one iteration to others: valid by the place where the Func is stored.
bool keeps_storage(const Directive& directive) {
    return directive.name == "fold_storage" || directive.name == "ring_buffer";
}
bool may_go(const Directive& directive) { return directive.is_candidate() || directive.states_size(); }

Keys joined(Keys keys, const Keys& others) {
    keys.insert(others.begin(), others.end());
    return keys;
}

Keys without(Keys keys, const std::string& key) {
    keys.erase(key);
    return keys;
}

class CulpritSearch {
  public:
    CulpritSearch(const CulpritProblem& problem, const Options& options) : problem_(problem), options_(options) {}

    Culprits run() {
        find();
        if (!done_.finished)
            for (NeededDirective& one : done_.needed) one.open = true;
        return std::move(done_);
    }

  private:
    void find() {
        const Reduced first = reduce({}, {});
        done_.candidates = asked().size();
        done_.left_out = first.left_out;
        done_.reservation = first.reservation;
        done_.finished = first.finished;
        if (!first.reproduces) {
            done_.verdict = Culprits::Verdict::not_failing;
            return;
        }
        name_needed();
        if (done_.finished && done_.needed.empty()) done_.verdict = Culprits::Verdict::not_the_schedule;
        if (done_.finished && !done_.needed.empty()) judge();
    }

    // ---- the fewest directives with which it fails -----------------------------------------------------------------

    struct Reduced {
        Keys pinned = {};  ///< what makes it fail, and stays
        Keys left_out = {};
        bool reproduces = true, finished = true;
        std::string reservation = {};
    };

    /// Without the directives `base`. With `pinned` in any case, so that it passes without these.
    Reduced reduce(const Keys& base, const Keys& pinned) {
        Reduced reduced{.pinned = pinned, .left_out = base};
        const Keys others = joined(base, pinned);
        if (!leave_out(items_of(computes, others), reduced)) return reduced;
        if (!leave_out(placements(others, reduced), reduced)) return reduced;
        if (needs_sizes(others, reduced)) {
            asks_sizes_ = true;
            leave_out(items_of(states_size, others), reduced);
        }
        return reduced;
    }

    /// A size may be wrong by itself, or for the directives that stay.
    bool needs_sizes(const Keys& but, Reduced& reduced) {
        const std::vector<Directive> sizes = items_of(states_size, but);
        if (sizes.empty()) return false;
        if (is_over()) {
            reduced.finished = false;
            return false;
        }
        Keys without_sizes = reduced.left_out;
        for (const Directive& one : sizes) without_sizes.insert(one.key);
        return test(without_sizes, reduced.pinned) != TestResult::fails || !any_stays(reduced);
    }

    bool any_stays(const Reduced& reduced) const {
        return std::ranges::any_of(problem_.directives, [&](const Directive& one) {
            return is_candidate(one) && !reduced.left_out.contains(one.key);
        });
    }

    /// All placements but these; or, where that is enough, those of the Funcs whose storage is kept.
    std::vector<Directive> placements(const Keys& but, Reduced& reduced) {
        std::vector<Directive> items = items_of(places, but);
        std::set<std::string> funcs;
        for (const Directive& one : items_of(computes, reduced.left_out))
            if (keeps_storage(one)) funcs.insert(one.func());
        const auto is_far = [&](const Directive& one) { return !funcs.contains(one.func()); };
        Keys without_all = reduced.left_out, without_far = reduced.left_out;
        for (const Directive& one : items) without_all.insert(one.key);
        for (const Directive& one : items)
            if (is_far(one)) without_far.insert(one.key);
        const auto fails = [&](const Keys& left_out) {
            return !is_over() && test(left_out, reduced.pinned) == TestResult::fails;
        };
        if (without_far == reduced.left_out || without_far == without_all || fails(without_all) || !fails(without_far))
            return items;
        reduced.left_out = without_far;
        std::erase_if(items, is_far);
        return items;
    }

    /// Each place in the program once: what a loop calls again goes with it.
    std::vector<Directive> items_of(Stage stage, const Keys& but) const {
        std::vector<Directive> items;
        Keys keys = but;
        for (const Directive& directive : problem_.directives)
            if (stage(directive) && keys.insert(directive.key).second) items.push_back(directive);
        return items;
    }

    /// All that were asked about.
    std::vector<Directive> asked() const { return items_of(asks_sizes_ ? may_go : is_candidate, {}); }

    /// As many of the items as it fails without. False: the search is over.
    bool leave_out(const std::vector<Directive>& items, Reduced& reduced) {
        if (items.empty()) return true;
        Problem problem = problem_of(items);
        const auto without_others = [&](const Set& kept) {
            Keys keys = reduced.left_out;
            for (std::size_t i = 0; i < items.size(); ++i)
                if (!std::ranges::binary_search(kept, static_cast<int>(i))) keys.insert(items[i].key);
            return keys;
        };
        problem.test = [&](const Set& kept) { return test(without_others(kept), reduced.pinned); };
        if (problem_.prefetch)
            problem.prefetch = [&](const Set& kept) {
                const Keys keys = without_others(kept);
                return answers_.contains(keys) || problem_.prefetch(keys);
            };
        Options options = options_;
        options.improved = [&](const Set& kept) {
            if (problem_.improved) problem_.improved(asked().size() - without_others(kept).size());
        };
        const Result result = search(problem, options);
        for (const int item : result.kept) {
            Set rest = result.kept;
            std::erase(rest, item);
            remember(items[static_cast<std::size_t>(item)].key, without_others(problem.legal(rest)),
                     without_others(result.kept));
        }
        reduced.left_out = without_others(result.kept);
        reduced.reproduces = result.reproduces;
        reduced.finished = result.finished;
        if (!result.reservation.empty()) reduced.reservation = result.reservation;
        return result.reproduces && result.finished;
    }

    /// Fails only where it does not fail without what is pinned, too.
    TestResult test(const Keys& left_out, const Keys& pinned) {
        const TestResult result = answer(left_out);
        const bool fails_anyway =
            result == TestResult::fails && !pinned.empty() && answer(joined(left_out, pinned)) == TestResult::fails;
        return fails_anyway ? TestResult::passes : result;
    }

    // ---- what they are to each other -------------------------------------------------------------------------------

    /// What falls away, or moves, without the directive.
    void remember(const std::string& key, const Keys& without_it, const Keys& with_it) {
        const auto asked = answers_.find(without_it);
        if (asked == answers_.end()) return;  // the search was stopped
        done_.decisive.push_back(without_it);
        const Keys &fallen = asked->second.fallen, &before = answers_[with_it].fallen;
        std::ranges::set_difference(fallen, before, std::inserter(fallen_[key], fallen_[key].end()));
    }

    void name_needed() {
        done_.needed.clear();
        for (const Directive& directive : asked())
            if (!done_.left_out.contains(directive.key)) done_.needed.push_back({directive});
        for (NeededDirective& one : done_.needed) one.allows = allowed_by(one.directive);
    }

    std::vector<int> allowed_by(const Directive& directive) {
        std::vector<int> numbers;
        const Keys& fallen = fallen_[directive.key];
        for (const NeededDirective& needed : done_.needed) {
            const Directive& other = needed.directive;
            const bool uses = std::ranges::find(other.needs, directive.number) != other.needs.end();
            // Halide folds the storage of what is stored outside of the loop where it is computed.
            const bool folds = keeps_storage(other) && other.owner == directive.owner && directive.places_func();
            if (other.number != directive.number &&
                (uses || folds || other.at == directive.number || fallen.contains(other.key)))
                numbers.push_back(other.number);
        }
        return numbers;
    }

    // ---- the whole program -----------------------------------------------------------------------------------------

    std::vector<Directive> possible_causes() const {
        std::vector<Directive> causes;
        for (const NeededDirective& needed : done_.needed)
            if (needed.allows.empty()) causes.push_back(needed.directive);
        return causes;
    }

    void judge() {
        std::vector<Directive> possible = possible_causes();
        // Without a size, others may be illegal: that shows nothing of the size.
        const bool sizes_alone = std::ranges::all_of(possible, states_size);
        Keys passing, gone, all;
        for (const Directive& directive : possible) {
            if (stopped()) return;
            const TestResult result = answer({directive.key});
            all.insert(directive.key);
            if (result != TestResult::fails && (sizes_alone || !states_size(directive))) gone.insert(directive.key);
            if (result == TestResult::passes) passing.insert(directive.key);
        }
        const Keys& causes = passing.empty() ? gone : passing;
        if (!causes.empty()) return set_causes(causes);
        if (stopped()) return;
        std::ranges::reverse(possible);
        if (possible.size() > 1 && answer(all) == TestResult::passes) return set_causes(removed(possible));
        explain(removed(latest_first()));
    }

    bool is_over() const { return options_.stop && options_.stop(); }
    bool stopped() {
        if (!is_over()) return false;
        done_.finished = false;
        done_.reservation = "stopped before the culprits were checked in the whole program";
        return true;
    }

    void set_causes(const Keys& causes) {
        for (NeededDirective& one : done_.needed) one.context = !causes.contains(one.directive.key);
        for (const std::string& cause : causes) done_.decisive.push_back({cause});
    }

    /// What uses a loop before what makes it, and placements last: of several that do, the first one is found.
    std::vector<Directive> latest_first() const {
        std::vector<Directive> items = asked();
        std::ranges::reverse(items);
        std::stable_partition(items.begin(), items.end(), computes);
        return items;
    }

    /// The fewest of the items without which the whole program passes; empty: none. It may pass without one of them
    /// and fail without more, so that each alone is asked about first.
    Keys removed(const std::vector<Directive>& items) {
        const auto keys_of = [&](const Set& set) {
            Keys keys;
            for (const int item : set) keys.insert(items[static_cast<std::size_t>(item)].key);
            return keys;
        };
        Problem problem;
        problem.count = static_cast<int>(items.size());
        problem.neighbours = problem_of(items).neighbours;
        problem.likely.resize(items.size());
        std::iota(problem.likely.begin(), problem.likely.end(), 0);
        problem.test = [&](const Set& set) {
            const TestResult result = answer(keys_of(set));
            return result == TestResult::passes  ? TestResult::fails
                   : result == TestResult::fails ? TestResult::passes
                                                 : TestResult::unresolved;
        };
        const Result result = search(problem, {.mode = options_.mode, .stop = options_.stop});
        if (!result.finished) done_.finished = false;
        return result.reproduces && result.finished ? keys_of(result.kept) : Keys();
    }

    /// With each of them, while the others of them are left out, the program fails: the directives that this needs.
    void explain(const Keys& causes) {
        if (!done_.finished) return;
        if (causes.empty()) {
            done_.verdict = Culprits::Verdict::not_the_cause;
            return;
        }
        const Keys first = done_.left_out;
        Keys needed;
        for (const std::string& cause : causes) {
            const Keys others = without(causes, cause);
            const bool is_first =
                !first.contains(cause) && std::ranges::includes(first, others);  // what was found before has it alone
            const Reduced reduced = is_first ? Reduced{.left_out = first} : reduce(others, {cause});
            done_.finished = done_.finished && reduced.finished;
            if (!reduced.reservation.empty()) done_.reservation = reduced.reservation;
            for (const Directive& one : asked())
                if (!reduced.left_out.contains(one.key)) needed.insert(one.key);
        }
        done_.left_out.clear();
        for (const Directive& one : asked())
            if (!needed.contains(one.key)) done_.left_out.insert(one.key);
        name_needed();
        for (NeededDirective& one : done_.needed) {
            if (causes.contains(one.directive.key)) one.allows.clear();
            one.context = !causes.contains(one.directive.key);
        }
        done_.separate = causes.size() > 1;
        done_.decisive.push_back(causes);
    }

    TestResult answer(const Keys& left_out) {
        const auto known = answers_.find(left_out);
        if (known != answers_.end()) return known->second.result;
        return answers_.emplace(left_out, problem_.answer(left_out)).first->second.result;
    }

    const CulpritProblem& problem_;
    const Options& options_;
    Culprits done_;
    bool asks_sizes_ = false;
    std::map<Keys, ScheduleAnswer> answers_ = {};  ///< so far
    std::map<std::string, Keys> fallen_ = {};      ///< what falls away, or moves, without a directive
};

}  // namespace

Culprits find_culprits(const CulpritProblem& problem, const Options& options) {
    return CulpritSearch(problem, options).run();
}

}  // namespace whittle::reduce
