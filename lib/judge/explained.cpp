#include "judge/explained.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/number_text.h"
#include "compile/gradients.h"
#include "judge/interval.h"
#include "judge/rounding.h"
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
        const double aim = std::isnan(expected) ? 0 : expected;  // a NaN has no tolerance
        double most = std::max(allowed(tolerance, aim), allowed(widest, aim));
        if (std::isfinite(center)) most = std::max(most, allowed(widest, center));
        return !(smooth <= kWidestInterval * most);
    }
    bool within(const Tolerance& by) const {
        return std::isfinite(got) && std::fabs(got - expected) <= allowed(by, expected);
    }
    /// Both are, and the interval has ends.
    bool both_inside() const { return inside(got) && inside(expected) && std::isfinite(std::max(below, above)); }
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

/// What the intervals say of differences, in the order in which one that is said of some counts for all.
enum class Says {
    rounding,
    wide,  ///< all values are inside, but an interval is too wide to decide
    open,
    failure
};

/// Of one output.
class OutputDecision {
  public:
    OutputDecision(const std::string& output, const Interval& interval, const Accuracy& accuracy)
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
            const std::string place = output_ + " " + index_text(position, got.sizes());
            const bool too_wide = is_floating(interval_.dtype) && judged.too_wide();
            decision.too_wide |= too_wide;
            decision.outside |= !judged.inside(judged.got);
            if (too_wide && judged.within(widest_)) {
                if (decision.why.empty()) decision.why = reason_of_precision(judged, place);
            } else if (too_wide) {
                if (all == Says::rounding)
                    decision.why = place + ": the rounding error of " + figure(judged.smooth) + " exceeds " +
                                   figure(kWidestInterval) + " times the tolerance";
                all = std::max(all, judged.both_inside() ? Says::wide : Says::open);
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
            why = place + ": the two integers differ, but are equal in f64, so their rounding error has no bound";
            return false;
        }
        for (const double value : {judged.got, judged.expected}) {
            if (judged.inside(value)) continue;
            const double off = std::fabs(value - judged.center);
            why = place + (std::isfinite(off)
                               ? ": the error against f64 is " + figure(off) + ", but rounding explains at most " +
                                     figure(std::max(judged.below, judged.above))
                               : ": found " + figure(value) + ", but the f64 result is " + figure(judged.center));
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
               (judged.jumps() ? interval_.jump
                               : "the difference of " + figure(std::fabs(judged.got - judged.expected)) +
                                     " is within the rounding error of " + interval_.source);
    }

    const std::string& output_;
    const Interval& interval_;
    const Tolerance tolerance_, widest_;
};

/// Why the interval of an output decides nothing; empty: it does.
std::string unusable(const std::string& output, const Interval& interval, const Tensor& expected) {
    if (!interval.unbounded.empty())
        return "the rounding error of " + interval.unbounded + " has no known bound" +
               (interval.other_type ? " for this data type" : "");
    if (is_complex(interval.dtype)) return output + " is complex";
    if (interval.dtype != expected.dtype() || interval.center.sizes() != expected.sizes())
        return output + " does not have the type that the graph declares";
    return {};
}

/// Outputs of two implementations of a graph.
struct Compared {
    const Graph& graph;
    std::span<const Tensor> inputs, got, expected;
    const Accuracy& accuracy;
    std::span<const std::string> names;
    std::vector<std::size_t> differing = {};  ///< outputs

    std::string name_of(std::size_t output) const {
        return names.empty() ? "output " + std::to_string(output) : names[output];
    }
};

Says by_intervals(const Compared& compared, RoundingDecision& decision) {
    const auto intervals = intervals_of(compared.graph, compared.inputs, compared.accuracy, &decision.why);
    if (!intervals) return Says::open;
    Says all = Says::rounding;
    for (const std::size_t i : compared.differing) {
        const Interval& interval = intervals->at(i);
        const std::string name = compared.name_of(i);
        decision.too_wide = decision.too_wide || interval.tolerance_decided;
        std::string why = unusable(name, interval, compared.expected[i]);
        const OutputDecision output(name, interval, compared.accuracy);
        const Says here = why.empty() ? output.says(compared.got[i], compared.expected[i], decision) : Says::open;
        if (!why.empty()) decision.why = std::move(why);
        if (here == Says::failure || (!interval.unbounded.empty() && !interval.other_type)) return Says::failure;
        all = std::max(all, here);
    }
    return all;
}

/// No element that differs is further from f64 than expected values are and rounding moves it: by four units, of which
/// the sway is the effect of one. A sum of n terms rounds by the order of √n units where signs are random (Higham
/// 2002, 4.2); of equal terms, which all round alike, by a few times that. Moving the terms moves a sum so far, but for
/// sums inside composites, whose parts are not moved: there it is √n times as much.
bool sways_so_far(const Compared& compared, std::span<const Tensor> exact) {
    constexpr double kUnits = 4;
    const std::vector<Rounding> rounding = rounding_of(compared.graph, compared.inputs, exact);
    return std::ranges::all_of(compared.differing, [&](std::size_t output) {
        const Tensor &got = compared.got[output], &expected = compared.expected[output];
        const Rounding& rounds = rounding[output];
        if (rounds.sway.empty()) return false;
        const std::vector<double> xs = got.values<double>(), ys = expected.values<double>(),
                                  at = exact[output].values<double>();
        const Tolerance tolerance = compared.accuracy.tolerance(expected.dtype());
        for (const std::int64_t position : differing_elements(got, expected, tolerance)) {
            const auto i = static_cast<std::size_t>(position);
            const double most = kUnits * std::sqrt(rounds.hidden) * rounds.sway[i] + std::fabs(ys[i] - at[i]);
            if (!(std::fabs(xs[i] - at[i]) <= most)) return false;
        }
        return true;
    });
}

/// Step 2: why `got` is near enough to f64, in words; empty: it is not. `inside`: all that differs is inside its
/// interval.
std::string nearness_to_f64(const Compared& compared, bool inside) {
    if (compared.accuracy.mode != Accuracy::Mode::close) return {};  // fp64 has compared so already
    const auto exact = evaluate_exactly(compared.graph, compared.inputs);
    if (!exact) return {};
    Accuracy accuracy = compared.accuracy;
    accuracy.mode = Accuracy::Mode::fp64;
    const auto rounds = [&](std::span<const Tensor> values, std::span<const Tensor> right) {
        if (std::min(right.size(), exact->size()) < values.size()) return false;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (compare(values[i], right[i], accuracy, [&] { return &(*exact)[i]; }) ||
                !rounds_where_it_differs(values[i], right[i], (*exact)[i], accuracy))
                return false;
        return true;
    };
    const bool near = rounds(compared.got, compared.expected);
    if (!near && !inside) return {};
    try {  // anything is nearer to f64 than values that are wrong
        if (!rounds(compared.expected, evaluate(compared.graph, compared.inputs))) return {};
    } catch (const Error&) {  // the reference cannot run it
        return {};
    }
    if (near) return "the values are about as close to the f64 result as the expected values";
    return sways_so_far(compared, *exact) ? "rounding each intermediate value by a few units in the last place "
                                            "explains the difference from the f64 result"
                                          : "";
}

/// Of the gradients of a run.
RoundingDecision gradients_explained(const Graph& graph, std::span<const Tensor> inputs, const Outcome& outcome,
                                     const Accuracy& accuracy) {
    if (outcome.gradients.empty()) return {};  // it failed otherwise
    const auto made = differentiated_of(outcome, graph);
    const program::Part part = program::gradients_alone(*made, inputs);
    std::vector<std::string> names;
    for (const std::string& name : made->joint.gradients) names.push_back(program::gradient_text(graph, name));
    return explained_by_rounding(part.graph, part.inputs, outcome.gradients, evaluate(part.graph, part.inputs),
                                 accuracy, names);
}

}  // namespace

RoundingDecision explained_by_rounding(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                                       std::span<const Tensor> expected, const Accuracy& accuracy,
                                       std::span<const std::string> names) {
    RoundingDecision decision;
    if (accuracy.wants_bits() || got.size() != expected.size()) return decision;
    Compared compared{graph, inputs, got, expected, accuracy, names};
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto difference = compare(got[i], expected[i], accuracy.tolerance(expected[i].dtype()));
        if (!difference) continue;
        if (difference->kind == Difference::Kind::dtype || difference->kind == Difference::Kind::sizes) return decision;
        compared.differing.push_back(i);
    }
    if (compared.differing.empty()) return decision;
    const Says says = by_intervals(compared, decision);
    decision.explained = says == Says::rounding;
    decision.inside = says == Says::rounding || says == Says::wide;
    if (says == Says::rounding || says == Says::failure) return decision;
    const std::string near = nearness_to_f64(compared, decision.inside);
    decision.explained = !near.empty();
    decision.why = decision.explained ? "within rounding error: " + near + " (" + decision.why + ")"
                                      : decision.why + ", so the tolerance decides";
    return decision;
}

RoundingDecision explained_by_rounding(const Graph& graph, std::span<const Tensor> inputs, Outcome& outcome,
                                       std::span<const Tensor> expected, const Accuracy& accuracy) {
    if (outcome.kind != Outcome::Kind::mismatch) return {};
    if (outcome.failed_at_gradients()) return gradients_explained(graph, inputs, outcome, accuracy);
    RoundingDecision outputs = explained_by_rounding(graph, inputs, outcome.outputs, expected, accuracy);
    if (!outputs.explained) return outputs;
    Outcome close = outcome;
    close.kind = Outcome::Kind::ok;
    close.outputs.assign(expected.begin(), expected.end());  // gradients are compared where outputs are close
    close = judge(std::move(close), graph, inputs, expected, accuracy);
    if (!close.failed()) return outputs;
    RoundingDecision gradients = gradients_explained(graph, inputs, close, accuracy);
    if (gradients.explained) return outputs;
    close.outputs = std::move(outcome.outputs);
    outcome = std::move(close);
    return gradients;
}

}  // namespace whittle
