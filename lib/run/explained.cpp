#include "run/explained.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "run/interval.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", value);
    return text;
}

std::string element_place(std::size_t output, std::size_t position, const Sizes& sizes) {
    Sizes index(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0; position /= static_cast<std::size_t>(sizes[d]))
        index[d] = static_cast<std::int64_t>(position % static_cast<std::size_t>(sizes[d]));
    return "output " + std::to_string(output) + " " + to_string(index);
}

/// One element of an output and its interval.
struct Judged {
    double got, expected, center, smooth, below, above;
    Tolerance tolerance, widest;  ///< of its dtype; of the precision that it was computed in
    FloatLimits limits;

    bool differs(const Tolerance& by) const {
        if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) != std::isnan(expected);
        if (std::isinf(got) || std::isinf(expected)) return got != expected;
        return std::fabs(got - expected) > allowed(by, expected);
    }
    bool too_wide() const {
        double most = std::max(allowed(tolerance, expected), allowed(widest, expected));
        if (std::isfinite(center)) most = std::max(most, allowed(widest, center));
        return !(smooth <= kWidestInterval * most);
    }
    bool inside(double value) const {
        if (value == center || (std::isnan(value) && std::isnan(center))) return true;
        if (std::isnan(value)) return std::isinf(below) || std::isinf(above);
        if (std::isinf(value) && limits.largest > 0)
            return value > 0 ? center + above > limits.largest : center - below < -limits.largest;
        return value < center ? center - value <= below : value - center <= above;
    }
    bool jumps() const { return std::max(below, above) > smooth; }
    static double allowed(const Tolerance& by, double value) { return by.atol + by.rtol * std::fabs(value); }
};

/// Of one output; false once an element is not explained.
class OutputDecision {
  public:
    OutputDecision(std::size_t output, const Interval& interval, const Accuracy& accuracy)
        : output_(output),
          interval_(interval),
          tolerance_(accuracy.tolerance(interval.dtype)),
          widest_(accuracy.tolerance(interval.precision)) {}

    bool explains(const Tensor& got, const Tensor& expected, RoundingDecision& decision) const {
        const std::vector<double> xs = got.values<double>(), ys = expected.values<double>(),
                                  at = interval_.center.values<double>();
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const Judged judged{xs[i],
                                ys[i],
                                at[i],
                                interval_.smooth.most_at(i),
                                interval_.full.below_at(i),
                                interval_.full.above_at(i),
                                tolerance_,
                                widest_,
                                float_limits(interval_.dtype)};
            if (judged.differs(tolerance_) && !explains(judged, element_place(output_, i, got.sizes()), decision))
                return false;
        }
        return true;
    }

  private:
    bool explains(const Judged& judged, const std::string& place, RoundingDecision& decision) const {
        if (is_floating(interval_.dtype) && judged.too_wide()) {
            decision.too_wide = true;
            if (!judged.differs(widest_)) {
                if (!decision.why.empty()) return true;  // the first one is reported
                decision.why = "within rounding at " + place + ": " +
                               short_number(std::fabs(judged.got - judged.expected)) + " is within the tolerance of " +
                               std::string(name(interval_.precision)) + ", in which " + interval_.source + " rounds";
                return true;
            }
            decision.why = place + ": rounding by " + short_number(judged.smooth) + " is more than " +
                           short_number(kWidestInterval) + " tolerances: the tolerance decides";
            return false;
        }
        for (const double value : {judged.got, judged.expected})
            if (!judged.inside(value)) {
                decision.why = place + ": " + short_number(std::fabs(value - judged.center)) +
                               " from the result in f64 is more than rounding explains, " +
                               short_number(std::max(judged.below, judged.above));
                return false;
            }
        if (!decision.why.empty()) return true;  // the first one is reported
        decision.why = "within rounding at " + place + ": ";
        if (judged.jumps())
            decision.why += "a tie of " + interval_.jump;
        else
            decision.why += short_number(std::fabs(judged.got - judged.expected)) + " is within the rounding of " +
                            interval_.source;
        return true;
    }

    const std::size_t output_;
    const Interval& interval_;
    const Tolerance tolerance_, widest_;
};

}  // namespace

RoundingDecision explained_by_rounding(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                                       std::span<const Tensor> expected, const Accuracy& accuracy) {
    RoundingDecision decision;
    if (accuracy.mode == Accuracy::Mode::strict || got.size() != expected.size()) return decision;
    std::vector<std::size_t> differing;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto difference = compare(got[i], expected[i], accuracy.tolerance(expected[i].dtype()));
        if (!difference) continue;
        if (difference->kind == Difference::Kind::dtype || difference->kind == Difference::Kind::sizes) return decision;
        differing.push_back(i);
    }
    if (differing.empty()) return decision;
    const auto intervals = intervals_of(graph, inputs, accuracy, &decision.why);
    if (!intervals) return decision;
    for (const std::size_t i : differing) {
        const Interval& interval = intervals->at(i);
        decision.too_wide = decision.too_wide || interval.tolerance_decided;
        if (!interval.unbounded.empty() || is_complex(interval.dtype)) {
            decision.why = interval.unbounded.empty() ? "output " + std::to_string(i) + " is complex"
                                                      : interval.unbounded + " has no bound of its rounding";
            return decision;
        }
        if (interval.dtype != expected[i].dtype() || interval.center.sizes() != expected[i].sizes()) {
            decision.why = "output " + std::to_string(i) + " is not what the graph says";
            return decision;
        }
        if (!OutputDecision(i, interval, accuracy).explains(got[i], expected[i], decision)) return decision;
    }
    decision.explained = true;
    return decision;
}

}  // namespace whittle
