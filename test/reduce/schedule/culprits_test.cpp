#include "reduce/schedule/culprits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <string>

#include "base/words.h"

namespace {

using namespace whittle;
using namespace whittle::reduce;
using halide_program::Directive;
using Verdict = Culprits::Verdict;

/// A schedule of a seed, with directives at fault and what these need.
class Schedule {
  public:
    explicit Schedule(unsigned seed) : random_(seed) {
        while (directives.size() < kDirectives) add_func();
        directives.resize(kDirectives);
        const int faults = draw(1, 2);
        while (static_cast<int>(at_fault.size()) < faults) {
            const int item = draw(0, kDirectives - 1);
            if (!std::ranges::binary_search(at_fault, item)) at_fault.push_back(item);
            std::ranges::sort(at_fault);
        }
        for (int item = 0; item < kDirectives; ++item) {
            needed_by.emplace_back();
            add_needed(item, needed_by.back());
        }
        for (const int item : at_fault)
            for (const int other : needed_by[static_cast<std::size_t>(item)]) add_once(needed, other);
        std::ranges::sort(needed);
    }

    /// Fails with all that is needed; what needs a directive falls away without it.
    ScheduleAnswer answer(const Keys& left_out) const {
        ScheduleAnswer answer;
        Set kept;
        for (int item = 0; item < kDirectives; ++item) {
            const Set& all = needed_by[static_cast<std::size_t>(item)];
            if (std::ranges::none_of(all, [&](int other) { return left_out.contains(key(other)); }))
                kept.push_back(item);
            else if (!left_out.contains(key(item)))
                answer.fallen.insert(key(item));
        }
        answer.result = std::ranges::includes(kept, needed) ? TestResult::fails : TestResult::passes;
        return answer;
    }
    static std::string key(int item) { return "key " + std::to_string(item + 1); }

    static constexpr int kDirectives = 50;
    std::vector<Directive> directives = {};
    Set at_fault = {}, needed = {};
    std::vector<Set> needed_by = {};  ///< each directive, itself included

  private:
    int draw(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

    /// Its number.
    int add(const std::string& owner, const std::string& name, std::vector<int> needs = {}) {
        const int number = static_cast<int>(directives.size()) + 1;
        directives.push_back(
            {.number = number, .key = key(number - 1), .owner = owner, .name = name, .needs = std::move(needs)});
        return number;
    }

    void add_func() {
        const std::string func = "f" + std::to_string(directives.size());
        if (draw(0, 1)) {
            add(func, "compute_at");
            if (draw(0, 1)) add(func, "store_root");
            if (draw(0, 1)) add(func, "fold_storage");
        }
        for (const std::string& stage : {func, func + ".update(0)"}) {
            if (stage != func && draw(0, 1)) continue;
            if (stage != func) add(stage, "allow_race_conditions");
            const int split = add(stage, "split");
            const int again = draw(0, 1) ? add(stage, "split", {split}) : split;
            if (draw(0, 1)) add(stage, "reorder", {split, again});
            if (draw(0, 1)) add(stage, "unroll", {again});
            add(stage, draw(0, 1) ? "vectorize" : "parallel", {again});
        }
    }

    /// With the loops that it uses, and with what Halide refuses it without.
    void add_needed(int item, Set& all) const {
        if (std::ranges::find(all, item) != all.end()) return;
        all.push_back(item);
        const Directive& directive = directives[static_cast<std::size_t>(item)];
        for (const int number : directive.needs) add_needed(number - 1, all);
        for (int other = 0; other < item; ++other) {
            const Directive& one = directives[static_cast<std::size_t>(other)];
            const bool allows = (directive.name == "vectorize" && one.name == "allow_race_conditions") ||
                                (directive.name == "fold_storage" && one.name == "compute_at") ||
                                (directive.name == "fold_storage" && one.name == "store_root");
            if (one.owner == directive.owner && allows) add_needed(other, all);
        }
    }

    std::mt19937 random_;
};

/// The search with the number of questions.
Culprits asked(std::vector<Directive> directives, const std::function<ScheduleAnswer(const Keys&)>& answer,
               std::size_t& queries, const Options& options = {}) {
    const CulpritProblem problem{.directives = std::move(directives), .answer = [&](const Keys& left_out) {
                                     ++queries;
                                     return answer(left_out);
                                 }};
    return find_culprits(problem, options);
}

std::vector<int> causes_of(const Culprits& culprits) {
    std::vector<int> numbers;
    for (const NeededDirective& one : culprits.needed)
        if (one.is_cause()) numbers.push_back(one.directive.number);
    return numbers;
}

TEST_CASE("one or two of fifty directives at fault are found in few queries") {
    constexpr unsigned kSeeds = 1000;
    std::map<std::size_t, double> queries, most;  // in all, by how many are at fault
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        const Schedule schedule(seed);
        std::size_t count = 0;
        const Culprits found = asked(
            schedule.directives, [&](const Keys& left_out) { return schedule.answer(left_out); }, count);
        INFO("seed " << seed);
        Set needed, causes = causes_of(found);
        for (const NeededDirective& one : found.needed) needed.push_back(one.directive.number - 1);
        for (int& cause : causes) --cause;
        REQUIRE(needed == schedule.needed);
        REQUIRE(found.reservation.empty());
        REQUIRE(std::ranges::includes(schedule.at_fault, causes));  // one at fault may allow the other
        REQUIRE_FALSE(causes.empty());
        const std::size_t faults = schedule.at_fault.size();
        queries[faults] += static_cast<double>(count);
        most[faults] += static_cast<double>(faults) * (2 + std::log2(Schedule::kDirectives)) +
                        2 * static_cast<double>(needed.size());
    }
    REQUIRE(queries.size() == 2);
    for (const std::size_t faults : {1, 2}) {
        INFO(faults << " at fault");
        CHECK(queries[faults] <= most[faults]);
    }
}

/// Directives "OWNER NAME", which are their keys.
std::vector<Directive> directives_of(const std::vector<std::string>& keys) {
    std::vector<Directive> all;
    for (const std::string& key : keys) {
        const std::size_t blank = key.find(' ');
        all.push_back({.number = static_cast<int>(all.size()) + 1,
                       .key = key,
                       .owner = key.substr(0, blank),
                       .name = key.substr(blank + 1)});
    }
    return all;
}

/// Whether it fails, by what is kept.
Culprits found_in(const std::vector<std::string>& keys, const std::function<bool(const Keys&)>& fails) {
    std::size_t queries = 0;
    return asked(
        directives_of(keys),
        [&](const Keys& left_out) {
            Keys kept(keys.begin(), keys.end());
            for (const std::string& key : left_out) kept.erase(key);
            return ScheduleAnswer{fails(kept) ? TestResult::fails : TestResult::passes};
        },
        queries);
}

TEST_CASE("a directive is found that makes another one wrong only while all Funcs stay where they are") {
    // Without a sliding window of its own, each of the others takes more of `a` at a time than its storage holds.
    const std::vector<std::string> keys{"c store_root", "c compute_at",   "c fold_storage", "a store_root",
                                        "a compute_at", "a fold_storage", "b store_root",   "b compute_at",
                                        "b vectorize",  "b align_bounds"};
    const Culprits found = found_in(keys, [](const Keys& kept) {
        for (const char* key : {"a store_root", "a compute_at", "a fold_storage"})
            if (!kept.contains(key)) return false;
        return kept.contains("b align_bounds") || !kept.contains("b store_root") || !kept.contains("c store_root");
    });
    CHECK(found.verdict == Verdict::found);
    CHECK(causes_of(found) == std::vector<int>{6, 10});
    REQUIRE(found.needed.size() == 4);
    CHECK(found.needed[0].directive.number == 4);
    CHECK(found.needed[0].allows == std::vector<int>{6});  // its place lets its storage be folded
    CHECK_FALSE(found.separate);
}

TEST_CASE("a directive without which the whole program fails, too, is context") {
    const std::vector<std::string> keys{"c vectorize", "y unroll", "x parallel"};
    const Culprits found = found_in(keys, [](const Keys& kept) {
        return kept.contains("y unroll") ? kept.contains("c vectorize") : kept.contains("x parallel");
    });
    CHECK(causes_of(found) == std::vector<int>{1});
    REQUIRE(found.needed.size() == 2);
    CHECK(found.needed[1].directive.number == 2);
    CHECK(found.needed[1].context);
}

TEST_CASE("where the whole program fails without what fails alone, what lets it pass is found") {
    // As before; this time what is no cause is found first.
    const std::vector<std::string> keys{"x parallel", "c vectorize", "y unroll"};
    const Culprits found = found_in(keys, [](const Keys& kept) {
        return kept.contains("y unroll") ? kept.contains("c vectorize") : kept.contains("x parallel");
    });
    CHECK(found.verdict == Verdict::found);
    CHECK(causes_of(found) == std::vector<int>{2});
    CHECK(found.left_out == Keys{"x parallel"});
    CHECK_FALSE(found.separate);
}

TEST_CASE("several directives that each make the program fail are all found") {
    std::vector<std::string> keys;
    for (int i = 0; i < 20; ++i) keys.push_back("f" + std::to_string(i) + " vectorize");
    const Culprits found = found_in(
        keys, [](const Keys& kept) { return kept.contains("f5 vectorize") || kept.contains("f12 vectorize"); });
    CHECK(causes_of(found) == std::vector<int>{6, 13});
    CHECK(found.separate);
    CHECK(found.left_out.size() == 18);
}

TEST_CASE("directives are no culprits where the whole program fails without them, and nothing lets it pass") {
    std::size_t queries = 0;
    const Culprits found = asked(
        directives_of({"f vectorize", "g vectorize"}),
        [](const Keys& left_out) {
            return ScheduleAnswer{left_out.size() < 2 ? TestResult::fails : TestResult::unresolved};
        },
        queries);
    CHECK(found.verdict == Verdict::not_the_cause);
}

TEST_CASE("sizes are asked about where the program fails without everything else") {
    const std::vector<std::string> keys{"f vectorize", "f bound", "g bound", "g compute_root", "g compute_at"};
    const Culprits bound = found_in(keys, [](const Keys& kept) { return kept.contains("g bound"); });
    CHECK(causes_of(bound) == std::vector<int>{3});
    CHECK(bound.candidates == 4);
    CHECK(bound.left_out == Keys{"f vectorize", "f bound", "g compute_at"});
    CHECK(found_in(keys, [](const Keys&) { return true; }).verdict == Verdict::not_the_schedule);
    CHECK(found_in(keys, [](const Keys&) { return false; }).verdict == Verdict::not_failing);
}

TEST_CASE("a size that is wrong for the loop where its Func is computed is the cause") {
    // At root, the size is wrong in another way; without the tiles, it does not matter.
    const std::vector<std::string> keys{"out tile", "out vectorize", "f compute_at", "f bound_extent", "out bound"};
    std::vector<Directive> directives = directives_of(keys);
    directives[2].at = 1;
    std::size_t queries = 0;
    const auto answer = [](const Keys& left_out) {
        if (left_out.contains("f bound_extent")) return ScheduleAnswer{TestResult::passes};
        if (left_out.contains("f compute_at")) return ScheduleAnswer{TestResult::unresolved};
        return ScheduleAnswer{left_out.contains("out tile") ? TestResult::passes : TestResult::fails};
    };
    const Culprits found = asked(directives, answer, queries);
    CHECK(found.verdict == Verdict::found);
    CHECK(causes_of(found) == std::vector<int>{4});
    REQUIRE(found.needed.size() == 3);
    CHECK(found.needed[0].allows == std::vector<int>{3});
    CHECK(found.needed[1].context);
    CHECK(found.left_out == Keys{"out vectorize", "out bound"});
}

TEST_CASE("a size that keeps others legal is no cause") {
    // Without the size, the loop cannot be unrolled: another failure, with which nothing else is named.
    const std::vector<std::string> keys{"out unroll", "out vectorize", "out bound"};
    std::size_t queries = 0;
    const auto answer = [](const Keys& left_out) {
        if (left_out.contains("out vectorize")) return ScheduleAnswer{TestResult::passes};
        const bool is_illegal = left_out.contains("out bound") || left_out.contains("out unroll");
        return ScheduleAnswer{is_illegal ? TestResult::unresolved : TestResult::fails};
    };
    const Culprits found = asked(directives_of(keys), answer, queries);
    CHECK(causes_of(found) == std::vector<int>{2});
    CHECK(found.needed.size() == 3);
}

TEST_CASE("a search that is stopped calls nothing a cause") {
    std::vector<std::string> keys;
    for (int i = 0; i < 20; ++i) keys.push_back("f" + std::to_string(i) + " vectorize");
    const auto answer = [](const Keys& left_out) {
        return ScheduleAnswer{left_out.contains("f5 vectorize") ? TestResult::passes : TestResult::fails};
    };
    std::size_t all = 0;
    REQUIRE(causes_of(asked(directives_of(keys), answer, all)) == std::vector<int>{6});
    for (std::size_t most = 1; most <= all; ++most) {
        std::size_t queries = 0;
        const Culprits found = asked(directives_of(keys), answer, queries, {.stop = [&] { return queries >= most; }});
        INFO(most << " of " << all << " queries");
        CHECK(queries == most);
        CHECK(found.finished == (most == all));
        CHECK_FALSE(found.needed.empty());
        CHECK(causes_of(found).empty() == (most < all));
    }
}

}  // namespace
