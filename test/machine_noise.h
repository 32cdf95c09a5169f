// Times of runs as machines disturb them, made up or as recorded, and decisions on them: no clock is read.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>

#include "judge/ratio_test.h"

namespace whittle::test {

using Draws = std::mt19937_64;
inline constexpr std::size_t kMostPairs = 400;

/// How a machine disturbs the run that begins now, as a factor of what it takes.
using Noise = std::function<double(Draws&)>;

/// 3 %, as a quiet machine has it.
inline Noise quiet() {
    return [](Draws& random) { return std::exp(std::normal_distribution(0.0, 0.03)(random)); };
}
/// One run in four is interrupted, for a time without a mean (Pareto, exponent 0.8).
inline Noise heavy_tails() {
    return [](Draws& random) {
        std::uniform_real_distribution one(0.0, 1.0);
        const double base = std::exp(std::normal_distribution(0.0, 0.03)(random));
        return one(random) < 0.25 ? base * std::pow(1 - one(random), -1 / 0.8) : base;
    };
}
/// The clock frequency falls by 2 % with each run, then recovers at once.
inline Noise drift() {
    return [run = 0](Draws& random) mutable {
        return std::pow(1.02, run++ % 40) * std::exp(std::normal_distribution(0.0, 0.02)(random));
    };
}
/// A neighbor who takes half of the machine in every second run: who always goes second would always be slow.
inline Noise every_second() {
    return [run = 0](Draws& random) mutable {
        return (run++ % 2 ? 2.0 : 1.0) * std::exp(std::normal_distribution(0.0, 0.02)(random));
    };
}
/// 1500 runs of a convolution (86 us) by PyTorch 1.13 on a shared machine of two cores, as multiples of their median:
/// 64 quantiles and the largest.
inline Noise recorded() {
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
inline RatioTest decided(double ratio, double bound, const Noise& noise, Draws& random) {
    RatioTest test(bound);
    while (test.answer() == RatioTest::Answer::open && test.ratios().size() < kMostPairs) {
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
inline const Machine kMachines[] = {{"quiet", quiet},
                                    {"heavy tails", heavy_tails},
                                    {"drift", drift},
                                    {"every second run", every_second},
                                    {"recorded", recorded}};

}  // namespace whittle::test
