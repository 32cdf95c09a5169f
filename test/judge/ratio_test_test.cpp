// The test that says which of two takes longer, on times that are made up: no clock is read.
#include "judge/ratio_test.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <optional>
#include <random>

using namespace whittle;
using Decision = RatioTest::Answer;

namespace {

using Draws = std::mt19937_64;
constexpr std::size_t kMostPairs = 400;

/// How a machine disturbs the run that begins now, as a factor of what it takes.
using Noise = std::function<double(Draws&)>;

/// 3 %, as a quiet machine has it.
Noise quiet() {
    return [](Draws& random) { return std::exp(std::normal_distribution(0.0, 0.03)(random)); };
}
/// One run in four is interrupted, for a time without a mean (Pareto, exponent 0.8).
Noise heavy_tails() {
    return [](Draws& random) {
        std::uniform_real_distribution one(0.0, 1.0);
        const double base = std::exp(std::normal_distribution(0.0, 0.03)(random));
        return one(random) < 0.25 ? base * std::pow(1 - one(random), -1 / 0.8) : base;
    };
}
/// The clock frequency falls by 2 % with each run, then recovers at once.
Noise drift() {
    return [run = 0](Draws& random) mutable {
        return std::pow(1.02, run++ % 40) * std::exp(std::normal_distribution(0.0, 0.02)(random));
    };
}
/// A neighbor who takes half of the machine in every second run: who always goes second would always be slow.
Noise every_second() {
    return [run = 0](Draws& random) mutable {
        return (run++ % 2 ? 2.0 : 1.0) * std::exp(std::normal_distribution(0.0, 0.02)(random));
    };
}
/// 1500 runs of a convolution (86 us) by PyTorch 1.13 on a shared machine of two cores, as multiples of their median:
/// 64 quantiles and the largest.
Noise recorded() {
    static constexpr double kRecorded[] = {
        0.9789, 0.9823, 0.9839, 0.9855, 0.9863, 0.9873, 0.9881, 0.9887, 0.9895, 0.9902, 0.9909, 0.9914, 0.9919,
        0.9924, 0.993,  0.9936, 0.9942, 0.9946, 0.995,  0.9955, 0.9958, 0.996,  0.9965, 0.997,  0.9973, 0.9975,
        0.998,  0.9985, 0.9987, 0.9992, 0.9994, 0.9999, 1,      1.001,  1.001,  1.002,  1.002,  1.003,  1.003,
        1.004,  1.004,  1.005,  1.006,  1.006,  1.007,  1.008,  1.009,  1.01,   1.011,  1.013,  1.014,  1.016,
        1.018,  1.021,  1.025,  1.036,  1.051,  1.06,   1.138,  1.324,  1.494,  5.378,  9.462,  14.82,  986.7};
    return [](Draws& random) {
        return kRecorded[std::uniform_int_distribution<std::size_t>(0, std::size(kRecorded) - 1)(random)];
    };
}

/// Interleaves runs of two whose times have this ratio until the test decides.
RatioTest decided(double ratio, double bound, const Noise& noise, Draws& random) {
    RatioTest test(bound);
    while (test.answer() == Decision::open && test.ratios().size() < kMostPairs) {
        const bool first = std::bernoulli_distribution(0.5)(random);
        const double one = noise(random), other = noise(random);
        test.add(first ? ratio * one / other : ratio * other / one);
    }
    return test;
}

struct Machine {
    const char* name;
    std::function<Noise()> noise;
};
const Machine kMachines[] = {{"quiet", quiet},
                             {"heavy tails", heavy_tails},
                             {"drift", drift},
                             {"every second run", every_second},
                             {"recorded", recorded}};

}  // namespace

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
        const int guilty = std::uniform_int_distribution(0, kSwitches - 1)(random);
        int low = 0, high = kSwitches;
        bool decides = true;
        while (high - low > 1 && decides) {
            const int middle = (low + high) / 2;
            const Decision answer = decided(guilty < middle ? 2.0 : 1.0, 1.5, noise, random).answer();
            decides = answer != Decision::open;
            (answer == Decision::above ? high : low) = middle;
        }
        open += !decides;
        wrong += decides && low != guilty;
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
