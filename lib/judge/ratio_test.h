// Which of two takes longer: a sequential test on pairs of times, and intervals for medians. It assumes nothing of how
// times are distributed: only whether a pair's ratio lies above a bound counts, never by how much.
//
// Of each pair it is drawn who runs first. If the median of the ratio is at most the bound, each pair, given all
// before, lies above it with a probability of at most 1/2, whatever the tails and however the machine's speed drifts.
// The test bets against that: with k of n pairs above the bound,
//
//   E(k, n) = 2 * 2^n * integral of p^k (1 - p)^(n - k) over p from 1/2 to 1
//
// is the mean, over all p from 1/2 to 1, of how much likelier the pairs are if p is the probability than if 1/2 is.
// Multiplied pair by pair, such likelihood ratios are no submartingale under any probability up to 1/2, so E ever
// reaches 1/w with a probability of at most w, however often one looks (Ville's inequality). Wald calls the integral a
// weight function ("Sequential Analysis", 1947, A.6); the open-ended form is from H. Robbins, "Statistical Methods
// Related to the Law of the Iterated Logarithm", Annals of Mathematical Statistics 41 (1970), sections 2 and 3.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace whittle {

/// E(k, n) above: the evidence against "a pair lies above with probability 1/2 or less" when k of n did.
double evidence(std::size_t above, std::size_t pairs);

/// The median of some values, and an interval that holds the true one in 95 cases of 100, also where the number of
/// values depends on what they are.
struct MedianInterval {
    double low = 0, median = 0, high = 0;
};
/// Of at least one value. The ends are values: the outermost where there are too few to say more.
MedianInterval median_interval(std::vector<double> values);

/// Whether the median ratio of two times is above a bound.
class RatioTest {
  public:
    /// The probability that a decision is wrong. A search for a culprit asks less than 1000 times: its answer is wrong
    /// in one search of a thousand at most.
    static constexpr double kMostWrong = 1e-6;

    explicit RatioTest(double bound) : bound_(bound) {}

    /// One pair's ratio, of seconds to seconds.
    void add(double ratio);

    enum class Answer { open, above, below };
    /// `open`: more pairs are needed. Once it is decided it stays so.
    Answer answer() const { return answer_; }
    std::span<const double> ratios() const { return ratios_; }

  private:
    double bound_;
    std::vector<double> ratios_;
    std::size_t above_ = 0, below_ = 0;  ///< a pair on the bound is neither
    Answer answer_ = Answer::open;
};

/// "3.2 ms", with three digits.
std::string time_text(double seconds);
/// "takes 2.01 times as long as OTHER (95 % confidence: 1.97 to 2.05): median 3.2 ms (3.1 ms to 3.3 ms) against 1.6 ms
/// (1.5 ms to 1.7 ms), 24 pairs of runs". Of at least one pair.
std::string figures(const RatioTest& test, const std::string& other, const MedianInterval& mine,
                    const MedianInterval& its);

}  // namespace whittle
