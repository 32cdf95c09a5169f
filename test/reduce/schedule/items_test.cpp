#include "reduce/schedule/items.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <string>

namespace {

using namespace whittle::reduce;
using whittle::halide_program::Directive;

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
        for (const int item : at_fault) add_needed(item);
        std::ranges::sort(needed);
    }

    TestResult test(const Set& kept) const {
        return std::ranges::includes(kept, needed) ? TestResult::fails : TestResult::passes;
    }

    static constexpr int kDirectives = 50;
    std::vector<Directive> directives = {};
    Set at_fault = {}, needed = {};

  private:
    int draw(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

    /// Its number.
    int add(const std::string& owner, const std::string& name, std::vector<int> needs = {}) {
        const int number = static_cast<int>(directives.size()) + 1;
        directives.push_back({.number = number, .owner = owner, .name = name, .needs = std::move(needs)});
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
    void add_needed(int item) {
        if (std::ranges::find(needed, item) != needed.end()) return;
        needed.push_back(item);
        const Directive& directive = directives[static_cast<std::size_t>(item)];
        for (const int number : directive.needs) add_needed(number - 1);
        for (int other = 0; other < item; ++other) {
            const Directive& one = directives[static_cast<std::size_t>(other)];
            const bool allows = (directive.name == "vectorize" && one.name == "allow_race_conditions") ||
                                (directive.name == "fold_storage" && one.name == "compute_at") ||
                                (directive.name == "fold_storage" && one.name == "store_root");
            if (one.owner == directive.owner && allows) add_needed(other);
        }
    }

    std::mt19937 random_;
};

TEST_CASE("one or two of fifty directives at fault are found in few queries") {
    constexpr unsigned kSeeds = 1000;
    std::map<std::size_t, double> queries, most;  // in all, by how many are at fault
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        const Schedule schedule(seed);
        Problem problem = problem_of(schedule.directives);
        problem.test = [&](const Set& kept) { return schedule.test(kept); };
        const Result result = search(problem, {});
        INFO("seed " << seed);
        REQUIRE(result.kept == schedule.needed);
        REQUIRE(result.one_minimal);
        const std::size_t faults = schedule.at_fault.size();
        queries[faults] += static_cast<double>(result.queries);
        most[faults] += static_cast<double>(faults) * (2 + std::log2(Schedule::kDirectives)) +
                        2 * static_cast<double>(result.kept.size());
    }
    REQUIRE(queries.size() == 2);
    for (const std::size_t faults : {1, 2}) {
        INFO(faults << " at fault");
        CHECK(queries[faults] <= most[faults]);
    }
}

TEST_CASE("a directive falls with those that make its loops, and not with others") {
    const std::vector<Directive> items{{.number = 3, .owner = "f", .name = "split"},
                                       {.number = 4, .owner = "f", .name = "split", .needs = {3}},
                                       {.number = 6, .owner = "g", .name = "vectorize", .needs = {1}},
                                       {.number = 7, .owner = "f.update(0)", .name = "unroll", .needs = {4}}};
    const Problem problem = problem_of(items);
    CHECK(problem.count == 4);
    CHECK(problem.legal({1, 2, 3}) == Set{2});
    CHECK(problem.legal({0, 2, 3}) == Set{0, 2});
    CHECK(problem.legal({0, 1, 3}) == Set{0, 1, 3});
    CHECK(problem.neighbours[3] == std::vector<int>{1, 1});
    CHECK(problem.neighbours[2].empty());
}

}  // namespace
