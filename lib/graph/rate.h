// Failures that do not show in every run: how often something fails, and after how many runs without a failure it may
// be said to pass.
#pragma once

namespace whittle {

/// So many of these runs failed.
struct Rate {
    int failed = 0, runs = 0;
    bool operator==(const Rate&) const = default;

    /// It fails, but not always.
    bool flaky() const { return failed > 0 && failed < runs; }
    double value() const { return runs ? static_cast<double>(failed) / runs : 0; }
    /// The true rate is no lower in 95 cases of 100 (the lower end of Wilson's score interval); 1 where all runs
    /// failed.
    double least() const;
};

/// The probability that a search takes anything that fails at the least() rate for something that passes.
constexpr double kMostMissed = 1e-3;

/// So many runs without a failure and the `nth` thing that a search finds passing (from 1) passes: the fewest n with
/// (1 - least())^n <= 6 kMostMissed / (pi nth)^2. These bounds add up to kMostMissed, however long the search is. 1
/// where all runs failed.
int repeats(const Rate& rate, int nth);

/// The same of any rate: 1 where nothing was measured or all runs failed.
int runs_until_passing(const Rate& rate, int nth = 1);

}  // namespace whittle
