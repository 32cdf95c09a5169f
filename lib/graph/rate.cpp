#include "graph/rate.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace whittle {

double Rate::least() const {
    if (runs == 0) return 0;
    if (failed == runs) return 1;
    constexpr double kDeviations = 1.645;  // that a normal distribution exceeds in 5 cases of 100
    constexpr double kSquare = kDeviations * kDeviations;
    const double n = runs, seen = value();
    const double spread = kDeviations * std::sqrt(seen * (1 - seen) / n + kSquare / (4 * n * n));
    return (seen + kSquare / (2 * n) - spread) / (1 + kSquare / n);
}

int repeats(const Rate& rate, int nth) {
    WHITTLE_CHECK(rate.failed > 0 && nth > 0, "repeats of a failure that never occurs");
    if (rate.failed == rate.runs) return 1;
    const double missed = 6 * kMostMissed / std::pow(std::numbers::pi * nth, 2);
    return static_cast<int>(std::ceil(std::log(missed) / std::log1p(-rate.least())));
}

int runs_until_passing(const Rate& rate, int nth) { return rate.flaky() ? repeats(rate, nth) : 1; }

}  // namespace whittle
