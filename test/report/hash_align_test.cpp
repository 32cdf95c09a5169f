#include "report/hash_align.h"

#include <catch2/catch.hpp>
#include <numeric>

using whittle::report::align;
using Keys = std::vector<std::uint64_t>;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

TEST_CASE("equal runs are aligned one to one", "[report]") {
    Keys keys(10000);
    std::iota(keys.begin(), keys.end(), 1);
    const Pairs pairs = align(keys, keys);
    REQUIRE(pairs.size() == keys.size());
    for (std::uint32_t i = 0; i < pairs.size(); ++i) CHECK(pairs[i] == std::pair(i, i));
    CHECK(align({}, keys).empty());
}

TEST_CASE("what one run has more is left out", "[report]") {
    CHECK(align(Keys{1, 2, 3, 4}, Keys{1, 2, 9, 3, 4}) == Pairs{{0, 0}, {1, 1}, {2, 3}, {3, 4}});
    CHECK(align(Keys{1, 2, 9, 8, 3, 4}, Keys{1, 2, 3, 4}) == Pairs{{0, 0}, {1, 1}, {4, 2}, {5, 3}});
    CHECK(align(Keys{7, 1}, Keys{1, 6}) == Pairs{{1, 0}});
}

TEST_CASE("one more iteration of a loop is left out as a whole", "[report]") {
    Keys before, after;
    for (int i = 0; i < 3; ++i) before.insert(before.end(), {1, 2, 3});
    for (int i = 0; i < 4; ++i) after.insert(after.end(), {1, 2, 3});
    before.push_back(4);
    after.push_back(4);
    const Pairs pairs = align(before, after);
    REQUIRE(pairs.size() == 10);
    CHECK(pairs.back() == std::pair<std::uint32_t, std::uint32_t>(9, 12));
    CHECK(pairs[8] == std::pair<std::uint32_t, std::uint32_t>(8, 8));
}

TEST_CASE("runs that have nothing in common from some place on are aligned up to there", "[report]") {
    Keys before(3000, 5), after(3000, 6);
    before[0] = after[0] = 1;
    CHECK(align(before, after) == Pairs{{0, 0}});
}

TEST_CASE("one equal key among others is not where runs go on together", "[report]") {
    Keys before{1}, after{1};
    for (std::uint64_t i = 0; i < 20; ++i) before.push_back(100 + i), after.push_back(200 + i);
    before[5] = after[9] = 7;
    for (std::uint64_t i = 0; i < 20; ++i) before.push_back(300 + i), after.push_back(300 + i);
    const Pairs pairs = align(before, after);
    REQUIRE(pairs.size() == 21);
    CHECK(pairs[1] == std::pair<std::uint32_t, std::uint32_t>(21, 21));
}
