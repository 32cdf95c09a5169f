#include "judge/ratio_test.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"

namespace whittle {
namespace {

constexpr double kOutside = 0.05;  // of an interval's two sides together

double log_factorial(std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); }

/// The probability that a fair coin shows heads at most `heads` times in `throws`.
double at_most(std::size_t heads, std::size_t throws) {
    if (heads >= throws) return 1;
    if (2 * heads >= throws) return 1 - at_most(throws - heads - 1, throws);
    double term = std::exp(log_factorial(throws) - log_factorial(heads) - log_factorial(throws - heads) -
                           static_cast<double>(throws) * std::numbers::ln2);
    double sum = term;
    for (std::size_t i = heads; i > 0 && term > 1e-17 * sum; --i) {
        term *= static_cast<double>(i) / static_cast<double>(throws - i + 1);
        sum += term;
    }
    return sum;
}

/// The least k with which k of `values` on one side are evidence enough; `values` + 1: none is.
std::size_t least_decisive(std::size_t values, double wrong) {
    std::size_t k = values / 2;
    while (k <= values && evidence(k, values) < 1 / wrong) ++k;
    return k;
}

}  // namespace

/// The integral is a Beta function's, and what of that lies above 1/2 is a tail of the binomial distribution.
double evidence(std::size_t above, std::size_t pairs) {
    WHITTLE_CHECK(above <= pairs, "more pairs above than there are");
    const double beta = log_factorial(above) + log_factorial(pairs - above) - log_factorial(pairs + 1);
    return std::exp(static_cast<double>(pairs + 1) * std::numbers::ln2 + beta) * at_most(above, pairs + 1);
}

MedianInterval median_interval(std::vector<double> values) {
    WHITTLE_CHECK(!values.empty(), "the median of nothing");
    std::ranges::sort(values);
    const std::size_t count = values.size();
    MedianInterval interval{.low = values.front(), .median = values[count / 2], .high = values.back()};
    if (count % 2 == 0) interval.median = (values[count / 2 - 1] + values[count / 2]) / 2;
    const std::size_t k = least_decisive(count, kOutside / 2);
    if (k <= count) interval.low = values[count - k], interval.high = values[k - 1];
    return interval;
}

void RatioTest::add(double ratio) {
    ratios_.push_back(ratio);
    above_ += ratio > bound_;
    below_ += ratio < bound_;
    if (answer_ != Answer::open) return;
    const std::size_t pairs = ratios_.size();
    const auto decides = [&](std::size_t k) { return 2 * k > pairs && evidence(k, pairs) >= 1 / kMostWrong; };
    if (decides(above_)) answer_ = Answer::above;
    if (decides(below_)) answer_ = Answer::below;
}

std::string time_text(double seconds) {
    if (seconds >= 1) return significant(seconds, 3) + " s";
    return seconds >= 1e-3 ? significant(seconds * 1e3, 3) + " ms" : significant(seconds * 1e6, 3) + " us";
}

static std::string times_text(const MedianInterval& times) {
    return time_text(times.median) + " (" + time_text(times.low) + " to " + time_text(times.high) + ")";
}

std::string figures(const RatioTest& test, const std::string& other, const MedianInterval& mine,
                    const MedianInterval& its) {
    const MedianInterval ratio = median_interval({test.ratios().begin(), test.ratios().end()});
    return "takes " + significant(ratio.median, 3) + " times as long as " + other +
           " (95 % confidence: " + significant(ratio.low, 3) + " to " + significant(ratio.high, 3) + "): median " +
           times_text(mine) + " against " + times_text(its) + ", " + plural(test.ratios().size(), "pair") + " of runs";
}

}  // namespace whittle
