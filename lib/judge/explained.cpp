#include "judge/explained.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/number_text.h"
#include "judge/interval.h"
#include "ops/core/interpreter.h"
#include "passes/widen.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

std::string figure(double value) { return significant(value, 2); }

/// One element of an output and its interval.
struct Judged {
    double got, expected, center, smooth, below, above;
    Tolerance tolerance, widest;  ///< of its dtype; of the precision that it was computed in
    FloatLimits limits;

    bool too_wide() const {
        double most = std::max(allowed(tolerance, expected), allowed(widest, expected));
        if (std::isfinite(center)) most = std::max(most, allowed(widest, center));
        return !(smooth <= kWidestInterval * most);
    }
    bool within(const Tolerance& by) const {
        return std::isfinite(got) && std::fabs(got - expected) <= allowed(by, expected);
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

/// What the intervals say of a difference.
enum class Says { rounding, failure, open };

/// Of one output.
class OutputDecision {
  public:
    OutputDecision(std::size_t output, const Interval& interval, const Accuracy& accuracy)
        : output_(output),
          interval_(interval),
          tolerance_(accuracy.tolerance(interval.dtype)),
          widest_(accuracy.tolerance(interval.precision)) {}

    Says says(const Tensor& got, const Tensor& expected, RoundingDecision& decision) const {
        const std::vector<double> xs = got.values<double>(), ys = expected.values<double>(),
                                  at = interval_.center.values<double>();
        Says all = Says::rounding;
        for (const std::int64_t position : differing_elements(got, expected, tolerance_)) {
            const auto i = static_cast<std::size_t>(position);
            const Judged judged{xs[i],
                                ys[i],
                                at[i],
                                interval_.smooth.most_at(i),
                                interval_.full.below_at(i),
                                interval_.full.above_at(i),
                                tolerance_,
                                widest_,
                                float_limits(interval_.dtype)};
            const std::string place = "output " + std::to_string(output_) + " " + index_text(position, got.sizes());
            const bool too_wide = is_floating(interval_.dtype) && judged.too_wide();
            decision.too_wide |= too_wide;
            if (too_wide && judged.within(widest_)) {
                if (decision.why.empty()) decision.why = reason_of_precision(judged, place);
            } else if (too_wide) {
                if (all == Says::rounding)
                    decision.why = place + ": the rounding error of " + figure(judged.smooth) + " exceeds " +
                                   figure(kWidestInterval) + " tolerances";
                all = Says::open;
            } else if (!is_inside(judged, place, decision.why)) {
                return Says::failure;
            } else if (decision.why.empty()) {  // the first one is reported
                decision.why = reason(judged, place);
            }
        }
        return all;
    }

  private:
    /// Both results are; `why` says which is not.
    bool is_inside(const Judged& judged, const std::string& place, std::string& why) const {
        if (!is_floating(interval_.dtype) && judged.got == judged.expected) {
            why = place + ": the two integers are equal in f64, so their rounding error has no bound";
            return false;
        }
        for (const double value : {judged.got, judged.expected}) {
            if (judged.inside(value)) continue;
            why = place + ": the error against f64 is " + figure(std::fabs(value - judged.center)) +
                  ", but rounding explains at most " + figure(std::max(judged.below, judged.above));
            return false;
        }
        return true;
    }
    std::string reason_of_precision(const Judged& judged, const std::string& place) const {
        return "within rounding error at " + place + ": the difference of " +
               figure(std::fabs(judged.got - judged.expected)) + " is within the tolerance of " +
               std::string(name(interval_.precision)) + ", to which " + interval_.source + " rounds";
    }
    std::string reason(const Judged& judged, const std::string& place) const {
        return "within rounding error at " + place + ": " +
               (judged.jumps() ? "rounding decides the result of " + interval_.jump
                               : "the difference of " + figure(std::fabs(judged.got - judged.expected)) +
                                     " is within the rounding error of " + interval_.source);
    }

    const std::size_t output_;
    const Interval& interval_;
    const Tolerance tolerance_, widest_;
};

/// Why the interval of an output decides nothing; empty: it does.
std::string unusable(std::size_t output, const Interval& interval, const Tensor& expected) {
    const std::string named = "output " + std::to_string(output);
    if (!interval.unbounded.empty())
        return "no bound on the rounding error of " + interval.unbounded +
               (interval.other_type ? " for this data type" : "");
    if (is_complex(interval.dtype)) return named + " is complex";
    if (interval.dtype != expected.dtype() || interval.center.sizes() != expected.sizes())
        return named + " does not have the type that the graph declares";
    return {};
}

/// Of the outputs that differ.
Says by_intervals(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                  std::span<const Tensor> expected, const std::vector<std::size_t>& differing, const Accuracy& accuracy,
                  RoundingDecision& decision) {
    const auto intervals = intervals_of(graph, inputs, accuracy, &decision.why);
    if (!intervals) return Says::open;
    Says all = Says::rounding;
    for (const std::size_t i : differing) {
        const Interval& interval = intervals->at(i);
        decision.too_wide = decision.too_wide || interval.tolerance_decided;
        std::string why = unusable(i, interval, expected[i]);
        const Says here =
            why.empty() ? OutputDecision(i, interval, accuracy).says(got[i], expected[i], decision) : Says::open;
        if (!why.empty()) decision.why = std::move(why);
        if (here == Says::failure || (!interval.unbounded.empty() && !interval.other_type)) return Says::failure;
        if (here == Says::open) all = here;
    }
    return all;
}

/// Step 2: `got` is about as near to the same computation in f64 as `expected`, and that as the reference's results.
bool as_near_to_f64(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                    std::span<const Tensor> expected, Accuracy accuracy) {
    if (accuracy.mode != Accuracy::Mode::close) return false;  // fp64 has compared so already
    const auto exact = evaluate_exactly(graph, inputs);
    if (!exact) return false;
    accuracy.mode = Accuracy::Mode::fp64;
    const auto rounds = [&](std::span<const Tensor> values, std::span<const Tensor> right) {
        if (std::min(right.size(), exact->size()) < values.size()) return false;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (compare(values[i], right[i], accuracy, [&] { return &(*exact)[i]; }) ||
                !rounds_where_it_differs(values[i], right[i], (*exact)[i], accuracy))
                return false;
        return true;
    };
    if (!rounds(got, expected)) return false;
    try {  // anything is nearer to f64 than values that are wrong
        return rounds(expected, evaluate(graph, inputs));
    } catch (const Error&) {  // the reference cannot run it
        return false;
    }
}

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
    const Says says = by_intervals(graph, inputs, got, expected, differing, accuracy, decision);
    decision.explained = says == Says::rounding;
    if (says != Says::open) return decision;
    decision.explained = as_near_to_f64(graph, inputs, got, expected, accuracy);
    decision.why =
        decision.explained
            ? "within rounding error: about as close to the f64 result as the expected values (" + decision.why + ")"
            : decision.why + ", so the tolerance decides";
    return decision;
}

}  // namespace whittle
