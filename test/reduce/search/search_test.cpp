#include "reduce/search/search.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>

using namespace whittle;
using namespace whittle::reduce;

namespace {

/// Fails when every item of `culprits` is there.
Problem conjunction(int count, const Set& culprits) {
    Problem problem;
    problem.count = count;
    problem.test = [culprits](const Set& set) {
        return std::includes(set.begin(), set.end(), culprits.begin(), culprits.end()) ? TestResult::fails
                                                                                       : TestResult::passes;
    };
    return problem;
}

/// 20% of the sets other than the whole get no answer, by a hash of their items.
Problem noisy(Problem problem, std::uint64_t seed) {
    const auto test = problem.test;
    const std::size_t whole = static_cast<std::size_t>(problem.count);
    problem.test = [=](const Set& set) {
        std::uint64_t hash = seed;
        for (int item : set) hash = (hash ^ static_cast<std::uint64_t>(item)) * 0x100000001b3ull;
        hash = (hash ^ (hash >> 31)) * 0x9e3779b97f4a7c15ull;
        return set.size() != whole && (hash >> 40) % 5 == 0 ? TestResult::unresolved : test(set);
    };
    return problem;
}

}  // namespace

TEST_CASE("search finds every conjunction of up to three of many items", "[search]") {
    const Mode mode = GENERATE(Mode::automatic, Mode::bisect, Mode::linear, Mode::probdd, Mode::ddmin);
    Options options;
    options.mode = mode;
    for (int count : {1, 2, 7, 40})
        for (int a = 0; a < count; a += 3)
            for (int b = a; b < count; b += 5) {
                const Set culprits = a == b ? Set{a} : Set{a, b};
                const Result result = search(conjunction(count, culprits), options);
                REQUIRE(result.reproduces);
                REQUIRE(result.kept == culprits);
                REQUIRE(result.one_minimal == result.reservation.empty());
            }
}

TEST_CASE("search needs few queries", "[search]") {
    // 1 for the whole, 14 to bisect 10,000 items, 1 for the item alone.
    CHECK(search(conjunction(10000, {7321}), {}).queries <= 16);
    CHECK(search(conjunction(1000, {500, 501}), {}).queries <= 16);
}

TEST_CASE("search never asks about one set twice", "[search]") {
    std::set<Set> seen;
    Problem problem = conjunction(60, {3, 30, 31, 59});
    const auto test = problem.test;
    problem.test = [&](const Set& set) {
        CHECK(seen.insert(set).second);
        return test(set);
    };
    const Result result = search(problem, {});
    CHECK(result.queries == seen.size());
}

TEST_CASE("search says when nothing fails", "[search]") {
    Problem problem = conjunction(10, {});
    problem.test = [](const Set&) { return TestResult::passes; };
    const Result result = search(problem, {});
    CHECK_FALSE(result.reproduces);
    CHECK(result.queries == 1);
    CHECK(result.kept.size() == 10);
}

TEST_CASE("search keeps a 1-minimal failing set when a fifth of the answers are missing", "[search]") {
    for (std::uint64_t seed = 1; seed <= 40; seed++) {
        const Problem problem = noisy(conjunction(200, {20, 150, 151}), seed);
        const Result result = search(problem, {});
        REQUIRE(problem.test(result.kept) == TestResult::fails);
        REQUIRE(result.one_minimal == result.reservation.empty());
        for (int item : result.kept) {
            Set rest = result.kept;
            rest.erase(std::find(rest.begin(), rest.end(), item));
            REQUIRE((rest.empty() || problem.test(rest) != TestResult::fails));
        }
    }
}

TEST_CASE("search copes with verdicts that are not monotone", "[search]") {
    // Fails with an odd number of items from 10..19: every bisection is misled, the result must still be 1-minimal.
    Problem problem;
    problem.count = 31;
    problem.test = [](const Set& set) {
        const auto odd = std::count_if(set.begin(), set.end(), [](int i) { return i >= 10 && i < 21; }) % 2;
        return odd ? TestResult::fails : TestResult::passes;
    };
    const Result result = search(problem, {});
    CHECK(result.reproduces);
    CHECK(result.kept.size() == 1);
}

TEST_CASE("search goes on with delta debugging where bisection was misled, and says so", "[search][probdd]") {
    // Missing answers mislead it: what is taken for essential can be dropped.
    int fell_back = 0;
    for (std::uint64_t seed = 1; seed <= 40; seed++) {
        const Problem problem = noisy(conjunction(200, {20, 80, 150, 151, 152}), seed);
        const Result automatic = search(problem, {}), bisect = search(problem, {.mode = Mode::bisect});
        fell_back += automatic.fell_back;
        CHECK_FALSE(bisect.fell_back);
        CHECK(problem.test(automatic.kept) == TestResult::fails);
        CHECK(automatic.one_minimal == automatic.reservation.empty());
    }
    CHECK(fell_back > 0);
    // Items whose need was only supposed are no sign of it.
    for (const Set& culprits : {Set{5, 22, 39, 56, 73}, Set{1}, Set{7, 8, 9, 10, 11, 12, 100}})
        CHECK_FALSE(search(conjunction(120, culprits), {}).fell_back);
}

TEST_CASE("probabilistic delta debugging leaves out what promises most, and learns from what passes",
          "[search][probdd]") {
    // Of 100 items, each essential with probability 0.04, leaving out k drops k 0.96^k of them: most for 24. When that
    // passes, the same 24 are likelier than the rest, of which 24 are left out next.
    std::vector<Set> asked;
    Problem problem = conjunction(100, {0, 99});
    const auto test = problem.test;
    problem.test = [&, test](const Set& set) {
        asked.push_back(set);
        return test(set);
    };
    const Result result = search(problem, {.mode = Mode::probdd});
    CHECK(result.kept == Set{0, 99});
    CHECK(result.one_minimal);
    REQUIRE(asked.size() > 3);
    CHECK(asked[1].size() == 76);
    CHECK(asked[1].front() == 24);
    CHECK(asked[2].size() == 76);
    CHECK(asked[2][23] == 23);
    CHECK(asked[2][24] == 48);
    // Where few of many are essential it needs fewer questions than ddmin.
    for (const Set& culprits : {Set{5, 150, 390}, Set{17}, Set{100, 101, 102, 103}})
        CHECK(search(conjunction(400, culprits), {.mode = Mode::probdd}).queries <
              search(conjunction(400, culprits), {.mode = Mode::ddmin}).queries + 20);
}

TEST_CASE("search asks only for legal sets", "[search]") {
    // Odd items live only with the even one before them.
    Problem problem = conjunction(40, {16, 17});
    problem.legal = [](const Set& wish) {
        Set set;
        for (int item : wish)
            if (item % 2 == 0 || std::binary_search(wish.begin(), wish.end(), item - 1)) set.push_back(item);
        return set;
    };
    const auto test = problem.test;
    problem.test = [&, test](const Set& set) {
        CHECK(problem.legal(set) == set);
        return test(set);
    };
    CHECK(search(problem, {}).kept == Set{16, 17});
}

TEST_CASE("search stops when it is told to, with the best set so far", "[search]") {
    Problem problem = conjunction(1000, {10, 20});
    int asked = 0;
    problem.test = [&asked, test = problem.test](const Set& set) { return ++asked, test(set); };
    Options options;
    options.stop = [&asked] { return asked == 6; };
    Set last;
    options.improved = [&](const Set& set) { last = set; };
    const Result result = search(problem, options);
    CHECK_FALSE(result.finished);
    CHECK_FALSE(result.one_minimal);
    CHECK(result.queries == 6);
    CHECK(result.kept == last);
    CHECK(result.kept.size() < 1000);
}

TEST_CASE("an item that is likely to fail alone is asked first, and a wrong guess costs one query", "[search]") {
    const auto run = [](std::vector<int> likely) {
        Problem problem;
        problem.count = 100;
        problem.likely = std::move(likely);
        problem.test = [](const Set& set) {
            return std::find(set.begin(), set.end(), 71) != set.end() ? TestResult::fails : TestResult::passes;
        };
        return search(problem, {});
    };
    const Result without = run({}), right = run({71}), wrong = run({3});
    CHECK(right.kept == Set{71});
    CHECK(right.one_minimal);
    CHECK(right.queries == 2);  // the whole, and the guess
    CHECK(wrong.kept == Set{71});
    CHECK(wrong.queries == without.queries + 1);
}
