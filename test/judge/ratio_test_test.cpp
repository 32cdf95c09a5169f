// The test that says which of two takes longer, on times that are made up: no clock is read.
#include "judge/ratio_test.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "machine_noise.h"

using namespace whittle;
using namespace whittle::test;
using Decision = RatioTest::Answer;

TEST_CASE("the evidence is the mean of likelihood ratios", "[ratio]") {
    CHECK(evidence(0, 0) == Approx(1));  // nothing was seen, nothing is known
    CHECK(evidence(1, 1) == Approx(1.5));
    CHECK(evidence(0, 1) == Approx(0.5));
    CHECK(evidence(24, 24) == Approx(std::pow(2, 25) / 25).epsilon(1e-6));
    for (const std::size_t pairs : {1U, 7U, 50U, 400U}) {
        CAPTURE(pairs);
        for (std::size_t k = 0; k <= pairs; k += std::max<std::size_t>(pairs / 7, 1)) {
            double mean = 0;  // by numbers
            constexpr int kSteps = 20000;
            for (int i = 0; i < kSteps; ++i) {
                const double p = 0.5 + (i + 0.5) / kSteps / 2;
                mean += std::exp(static_cast<double>(k) * std::log(2 * p) +
                                 static_cast<double>(pairs - k) * std::log(2 * (1 - p)));
            }
            CHECK(evidence(k, pairs) == Approx(mean / kSteps).epsilon(1e-3));
        }
    }
}

TEST_CASE("a bet against a fair coin gains nothing on average", "[ratio]") {
    // Given k of n, the next pair is above with probability 1/2: what makes E a martingale, so that it ever reaches 1/w
    // with a probability of w at most.
    for (std::size_t n = 0; n < 60; ++n)
        for (std::size_t k = 0; k <= n; ++k)
            REQUIRE((evidence(k + 1, n + 1) + evidence(k, n + 1)) / 2 == Approx(evidence(k, n)).epsilon(1e-9));
}

TEST_CASE("on no machine is one decision of a thousand wrong", "[ratio]") {
    constexpr double kBound = 1.5;
    constexpr int kDecisions = 1000;
    Draws random(7);
    for (const Machine& machine : kMachines)
        for (const double ratio : {1.0, 1.4, 1.5, 1.6, 2.0}) {
            CAPTURE(machine.name, ratio);
            int wrong = 0;
            for (int i = 0; i < kDecisions; ++i) {
                const Decision answer = decided(ratio, kBound, machine.noise(), random).answer();
                wrong +=
                    (answer == Decision::above && ratio <= kBound) || (answer == Decision::below && ratio >= kBound);
            }
            CHECK(wrong <= kDecisions / 1000);
        }
}

TEST_CASE("a search of many decisions finds the wrong culprit in one of a thousand", "[ratio]") {
    // Of 32 switches one makes a model 2 times slower; a search halves them, and asks each question by a test.
    constexpr int kSearches = 3000, kSwitches = 32;
    Draws random(11);
    int wrong = 0, open = 0;
    for (int search = 0; search < kSearches; ++search) {
        const Machine& machine = kMachines[static_cast<std::size_t>(search) % std::size(kMachines)];
        const Noise noise = machine.noise();
        const int culprit = std::uniform_int_distribution(0, kSwitches - 1)(random);
        int low = 0, high = kSwitches;
        bool decides = true;
        while (high - low > 1 && decides) {
            const int middle = (low + high) / 2;
            const Decision answer = decided(culprit < middle ? 2.0 : 1.0, 1.5, noise, random).answer();
            decides = answer != Decision::open;
            (answer == Decision::above ? high : low) = middle;
        }
        open += !decides;
        wrong += decides && low != culprit;
    }
    CHECK(wrong <= kSearches / 1000);
    CHECK(open < kSearches / 2);  // what never decides is never wrong either
}

TEST_CASE("on a quiet machine few pairs decide", "[ratio]") {
    Draws random(3);
    for (const double ratio : {1.0, 2.0}) {
        const RatioTest test = decided(ratio, 1.5, quiet(), random);
        CHECK(test.answer() == (ratio > 1.5 ? Decision::above : Decision::below));
        CHECK(test.ratios().size() == 24);  // 2^25 / 25 > 10^6: no pair was on the other side
    }
}

TEST_CASE("pairs on the bound decide nothing", "[ratio]") {
    RatioTest test(1.5);
    for (std::size_t i = 0; i < kMostPairs; ++i) test.add(1.5);
    CHECK(test.answer() == Decision::open);
}

TEST_CASE("a decision stays", "[ratio]") {
    RatioTest test(1.5);
    for (int i = 0; i < 24; ++i) test.add(2);
    REQUIRE(test.answer() == Decision::above);
    for (std::size_t i = 0; i < kMostPairs; ++i) test.add(1);
    CHECK(test.answer() == Decision::above);
}

TEST_CASE("an interval holds the median in 95 cases of 100", "[ratio]") {
    Draws random(5);
    constexpr int kIntervals = 500;
    for (const Machine& machine : kMachines) {
        int missed = 0;
        for (int i = 0; i < kIntervals; ++i) {
            const RatioTest test = decided(2, 1.5, machine.noise(), random);
            const auto found = median_interval({test.ratios().begin(), test.ratios().end()});
            CHECK(found.low <= found.median);
            CHECK(found.median <= found.high);
            missed += found.low > 2 || found.high < 2;
        }
        CAPTURE(machine.name);
        CHECK(missed <= kIntervals / 20);
    }
    const MedianInterval few = median_interval({3, 1, 2});
    CHECK((few.low == 1 && few.median == 2 && few.high == 3));
    CHECK(median_interval({1, 2, 3, 4}).median == 2.5);
}
