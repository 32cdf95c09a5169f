#include "diagnose/bisect.h"

#include <catch2/catch.hpp>

#include <set>

using namespace whittle::diagnose;

TEST_CASE("the first application that fails is found, wherever it is", "[bisect]") {
    for (const int total : {1, 2, 3, 7, 64})
        for (int first = 1; first <= total; ++first) {
            const auto found = bisect(total, [&](int most) { return most >= first; });
            REQUIRE(found);
            CHECK(found->passing == first - 1);
            CHECK(found->failing == first);
        }
}

TEST_CASE("no question is asked twice, nor one whose answer is known", "[bisect]") {
    std::multiset<int> asked;
    REQUIRE(bisect(1000, [&](int most) { return asked.insert(most), most >= 700; }));
    CHECK(asked.size() <= 11);  // without the pass, then log2(1000)
    CHECK(std::set<int>(asked.begin(), asked.end()).size() == asked.size());
    CHECK(asked.count(1000) == 0);  // it fails: that is why it is asked
}

TEST_CASE("a pass that was not applied, or that does not matter, is not accused", "[bisect]") {
    CHECK_FALSE(bisect(0, [](int) -> bool { throw std::logic_error("asked"); }));
    CHECK_FALSE(bisect(8, [](int) { return true; }));
}

TEST_CASE("who is told to stop keeps what is known", "[bisect]") {
    const auto found = bisect(
        8, [](int most) { return most >= 3; }, [] { return true; });
    REQUIRE(found);
    CHECK(found->passing == 0);
    CHECK(found->failing == 8);
}
