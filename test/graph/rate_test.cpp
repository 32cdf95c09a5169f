// How often what is flaky has to pass until it may be said to.
#include "graph/rate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace whittle;

TEST_CASE("the least rate is the lower end of Wilson's interval", "[rate]") {
    CHECK(Rate{3, 10}.least() == Approx(0.1269).margin(1e-4));
    CHECK(Rate{30, 100}.least() == Approx(0.2307).margin(1e-4));
    CHECK(Rate{10, 10}.least() == 1);
    CHECK(Rate{0, 10}.least() == Approx(0).margin(1e-12));
    CHECK(Rate{3, 10}.value() == Approx(0.3));
    CHECK(Rate{3, 10}.flaky());
    CHECK_FALSE(Rate{10, 10}.flaky());
    CHECK_FALSE(Rate{0, 10}.flaky());
}

TEST_CASE("a search of any length misses a flaky failure in one case of a thousand at most", "[rate]") {
    for (const Rate rate : {Rate{3, 10}, Rate{9, 30}, Rate{1, 2}, Rate{1, 20}, Rate{29, 30}}) {
        INFO(rate.failed << " of " << rate.runs);
        double missed = 0;
        for (int nth = 1; nth <= 10000; nth++) missed += std::pow(1 - rate.least(), repeats(rate, nth));
        CHECK(missed <= kMostMissed);
        // Nor does it ask much more often than that takes.
        CHECK(std::pow(1 - rate.least(), repeats(rate, 1) - 1) > 6 * kMostMissed / std::pow(M_PI, 2));
    }
    CHECK(repeats({10, 10}, 1) == 1);
    CHECK(repeats({10, 10}, 1000) == 1);
}

TEST_CASE("searches that draw keep to the bound", "[rate]") {
    std::mt19937 random(7);
    std::bernoulli_distribution fails(0.3);
    constexpr int kSearches = 2000, kPassing = 8;
    int wrong = 0;
    for (int search = 0; search < kSearches; search++) {
        bool missed = false;
        for (int nth = 1; nth <= kPassing; nth++) {
            bool seen = false;
            for (int left = repeats({12, 40}, nth); left > 0 && !seen; left--) seen = fails(random);
            missed |= !seen;
        }
        wrong += missed;
    }
    CHECK(wrong <= kSearches * kMostMissed);
}
