#include "judge/interval_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "judge/bounded_call.h"
#include "ops/core/interpreter.h"
#include "tensor/compute.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

/// Interpreter::step() for others.
class OneStep final : public Interpreter {
  public:
    using Interpreter::step;
};

bool is_position(const Schema& schema, const Node& call, NodeRef operand) {
    for (std::size_t i = 0; i < call.args.size() && i < schema.params.size(); ++i) {
        const std::string& name = schema.params[i].name;
        if (!name.starts_with("ind") && name != "offsets") continue;
        if (call.args[i].node() && *call.args[i].node() == operand) return true;
        if (const ArgList* list = call.args[i].list())
            for (const Arg& item : *list)
                if (item.node() && *item.node() == operand) return true;
    }
    return false;
}

/// One call under its op's rule.
class RuledCall : BoundedCall {
  public:
    using BoundedCall::BoundedCall;

    std::vector<Interval> results() {
        compute_centers();
        inherit();
        const bool same =
            std::ranges::all_of(operands_, [&](NodeRef ref) { return value(ref).smooth == value(ref).full; });
        std::vector<Widths> smooth = zeros(), full;
        const bool jumps = prepare_jumps();
        if (!jumps) add(smooth, false);
        if (!jumps && same && rule() != Rule::choice && !may_be_wider()) {
            full = smooth;
        } else {
            full = zeros();
            add(full, true);
        }
        for (std::size_t i = 0; i < results_.size(); ++i) finish(i, std::move(smooth[i]), std::move(full[i]));
        return std::move(results_);
    }

  private:
    std::vector<Tensor> run_placed(bool full, const Place& place) {
        return run([&](NodeRef ref) { return placed(value(ref), sides_of(ref, full), place); });
    }

    /// Whether an overflow inside the op is a jump: a compiler may compute a narrow type in f32.
    bool may_be_wider() const {
        if (rule() != Rule::sums && rule() != Rule::terms) return false;
        return std::ranges::any_of(results_, [](const Interval& result) { return is_reduced(result.dtype); });
    }
    bool jumps_inside(std::size_t result, bool full) const { return full || !is_reduced(results_[result].dtype); }

    // --- Jumps ---

    bool to_integers() const {
        return std::ranges::any_of(results_, [](const Interval& result) { return !is_floating(result.dtype); }) &&
               std::ranges::any_of(operands_, [&](NodeRef ref) { return is_floating(value(ref).dtype); });
    }

    /// Whether results jump. Then the intervals that operands have here are made: the tolerance where they are too
    /// wide; and those of an op that rounds before it jumps (floor(a / b)) are wider by that.
    bool prepare_jumps() {
        const bool jumps = rule() == Rule::step || (rule() != Rule::choice && to_integers());
        if (!jumps && rule() != Rule::choice) return false;
        for (const NodeRef ref : operands_) {
            const Interval& operand = value(ref);
            if (!is_floating(operand.dtype)) continue;
            const double ulps = op_.def->bound.ulps;
            const double inner = ulps == 0 || by_powers_of_two() ? 0 : ulps * float_limits(operand.dtype).epsilon;
            if (!operand.full && inner == 0) continue;
            const Numbers center = operand.center.values<double>();
            Widths widths = Widths::of(operand.full, center.size());
            const Tolerance tolerance = accuracy_.tolerance(operand.precision);
            for (std::size_t i = 0; i < center.size(); ++i) {
                const double allowed = tolerance.atol + tolerance.rtol * std::fabs(center[i]);
                const bool plain = operand.full.most_at(i) == operand.smooth.most_at(i);
                if (plain && operand.smooth.most_at(i) > kWidestInterval * allowed) {
                    widths.below[i] = widths.above[i] = allowed;
                    for (Interval& result : results_) result.tolerance_decided = true;
                }
                if (std::isfinite(center[i])) widths.add(i, inner * std::fabs(center[i]));
            }
            at_jumps_.emplace_back(ref, std::move(widths).shared());
        }
        return jumps;
    }

    Sides sides_of(NodeRef ref, bool full) const {
        if (!full) return value(ref).smooth;
        for (const auto& [operand, sides] : at_jumps_)
            if (operand == ref) return sides;
        return value(ref).full;
    }

    // --- Rules ---

    void add(std::vector<Widths>& widths, bool full) {
        std::vector<NodeRef> moved;
        for (const NodeRef ref : operands_) {
            if (!sides_of(ref, full)) continue;
            if (!is_floating(value(ref).dtype) && is_position(op_.schema, node_, ref)) {
                // An index that a jump has left open: it may name any element.
                for (Widths& width : widths) width.fill(kUnbounded);
                return;
            }
            moved.push_back(ref);
        }
        add_by_rule(widths, moved, full);
        if (const auto other = with_narrow_numbers())
            widen_all(widths, evaluated(
                                  call_, [&](NodeRef ref) { return value(ref).center; }, &*other));
    }

    void add_by_rule(std::vector<Widths>& widths, const std::vector<NodeRef>& moved, bool full) {
        switch (rule()) {
            case Rule::none:
                WHITTLE_CHECK(false, "an op without a rule has no bounded results");
                return;
            case Rule::exact:
                return add_ends(widths, moved, full);
            case Rule::choice:
                add_ends(widths, moved, full);
                if (full) add_positions(widths, moved);
                if (full && finds_any_of_equal()) add_ties(widths);
                return;
            case Rule::sums:
                return add_sums(widths, full);
            case Rule::step:
                add_corners(widths, moved, full);
                return add_meetings(widths, moved, full);
            case Rule::function:
            case Rule::quotient:
            case Rule::terms:
                return add_corners(widths, moved, full);
        }
    }

    /// ATen computes with some host numbers in f32 and with others in the half type of the tensor.
    std::optional<Node> with_narrow_numbers() const {
        std::optional<DType> narrow;
        for (const NodeRef ref : operands_)
            if (is_reduced(value(ref).dtype)) narrow = value(ref).dtype;
        if (!narrow) return std::nullopt;
        Node node = node_;
        const auto round = [&](Arg& arg) {
            if (auto* number = std::get_if<double>(&arg.value))
                *number = Tensor::of(Scalar(*number), *narrow).item().to_double();
        };
        for (Arg& arg : node.args) round(arg);
        for (auto& [key, arg] : node.kwargs) round(arg);
        return node == node_ ? std::nullopt : std::optional(std::move(node));
    }

    /// No result falls where an operand rises: the ends of the intervals give the ends of the results.
    void add_ends(std::vector<Widths>& widths, const std::vector<NodeRef>& moved, bool full) {
        if (moved.empty()) return;
        for (const bool top : {false, true}) {
            const auto values =
                run_placed(full, [&](const ElementInterval& span, std::size_t) { return span.end(top); });
            for (std::size_t k = 0; k < values.size(); ++k)
                if (rule() != Rule::choice || is_value(k)) widths[k].reach(centers_[k], values[k]);
        }
    }
    /// Of a choice: no position.
    bool is_value(std::size_t result) const { return result == 0 && (results_.size() > 1 || !to_integers()); }

    /// Any two elements differ in a bit of their positions: where each bit sends one of them up and the other down, and
    /// then the other way, any two whose intervals meet change their order once.
    void add_positions(std::vector<Widths>& widths, const std::vector<NodeRef>& moved) {
        std::size_t most = 1;
        for (const NodeRef ref : moved) most = std::max(most, static_cast<std::size_t>(value(ref).center.numel()));
        if (moved.empty()) return;
        for (std::size_t bit = 0; ((most - 1) >> bit) != 0; ++bit)
            for (const bool top : {false, true}) {
                const auto values = run_placed(true, [&](const ElementInterval& span, std::size_t i) {
                    return span.end(((i >> bit & 1) != 0) == top);
                });
                for (std::size_t k = 0; k < values.size(); ++k)
                    if (!is_value(k)) widths[k].reach(centers_[k], values[k]);
            }
    }

    bool finds_any_of_equal() const {
        const Arg* const stable = node_.kwarg("stable");
        return op_.def->bound.any_of_equal && !(stable && *stable == Arg(true));
    }

    /// A position is that of any element along `dim` that equals the element found; NaN equals NaN.
    void add_ties(std::vector<Widths>& widths) {
        const Arguments<Tensor> arguments(
            op_.schema, node_, [&](NodeRef ref) { return value(ref).center; }, {}, &call_.graph);
        const Tensor self = arguments.tensor("self");
        Sizes sizes = self.sizes();
        if (sizes.empty()) sizes = {1};
        const std::int64_t dim = arguments.integer("dim") + (arguments.integer("dim") < 0 ? std::ssize(sizes) : 0);
        const auto extent = static_cast<std::size_t>(sizes.at(static_cast<std::size_t>(dim)));
        const auto inner = static_cast<std::size_t>(element_count(Sizes(sizes.begin() + dim + 1, sizes.end())));
        const Numbers elements = self.values<double>(), &found = centers_.at(0), &positions = centers_.at(1);
        if (elements.empty() || found.empty()) return;
        const auto key = [](double x) { return std::isnan(x) ? std::pair(true, 0.0) : std::pair(false, x); };
        const std::size_t lines = elements.size() / extent, count = found.size() / lines;
        for (std::size_t line = 0; line < lines; ++line) {
            const std::size_t outer = line / inner, at = line % inner;
            std::map<std::pair<bool, double>, std::pair<double, double>> ends;  // first and last position of each
            for (std::size_t i = 0; i < extent; ++i) {
                const auto position = static_cast<double>(i);
                ends.try_emplace(key(elements[(outer * extent + i) * inner + at]), position, position)
                    .first->second.second = position;
            }
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t result = (outer * count + i) * inner + at;
                const auto known = ends.find(key(found[result]));
                if (known == ends.end()) continue;
                const auto [first, last] = known->second;
                if (first == last) continue;
                widths[1].below[result] = std::max(widths[1].below[result], positions[result] - first);
                widths[1].above[result] = std::max(widths[1].above[result], last - positions[result]);
                if (results_[1].jump.empty())
                    results_[1].jump = call_.reported + " finds one of several equal elements";
            }
        }
    }

    /// sum(|a| + r) - sum(|a|) is what operands bring in, and n eps sum(|a| + r) what any order of the sum rounds by.
    void add_sums(std::vector<Widths>& widths, bool full) {
        const Node call = without_signs();
        const std::vector<Tensor> inner = evaluated(
            call_, [&](NodeRef ref) { return magnitude_of(value(ref).center); }, &call);
        const std::vector<Tensor> outer = evaluated(
            call_, [&](NodeRef ref) { return outer_magnitude_of(value(ref).center, sides_of(ref, full)); }, &call);
        for (std::size_t k = 0; k < outer.size(); ++k) {
            const Numbers low = inner[k].values<double>(), high = outer[k].values<double>();
            const FloatLimits limits = float_limits(results_[k].dtype);
            const double terms = is_floating(results_[k].dtype) ? terms_ + op_.def->bound.ulps : 0;
            double most = 0;
            for (std::size_t i = 0; i < high.size(); ++i) {
                if (std::isinf(low[i]) && results_[k].dtype != DType::f64) {  // no order makes it finite
                    if (full && any_unbounded()) widths[k].set(i, kUnbounded);
                    continue;
                }
                const double own =
                    high[i] == 0 ? 0 : terms * std::max(epsilon(k) * std::fabs(high[i]), limits.denormal);
                const double off = high[i] == low[i] ? own : std::fabs(high[i] - low[i]) + own;
                widths[k].add(i, !std::isnan(off) ? off : std::isnan(centers_[k][i]) ? 0 : kUnbounded);
                if (limits.largest > 0 && std::fabs(high[i]) > limits.largest && jumps_inside(k, full))
                    widths[k].set(i, kUnbounded);
                most = std::max(most, own);
            }
            credit(k, most);
        }
    }
    bool any_unbounded() const {
        return std::ranges::any_of(operands_, [&](NodeRef ref) { return sides_of(ref, true).most() == kUnbounded; });
    }
    /// Elements of the one result for which both operands are one value (Interval::origin): they move together.
    std::vector<bool> one_value(const std::vector<NodeRef>& moved, bool full) const {
        if (moved.size() != 2 || results_.size() != 1 || value(moved[0]).origin == 0 ||
            value(moved[0]).origin != value(moved[1]).origin)
            return {};

        const Sizes& sizes = results_[0].center.sizes();
        if (broadcast_sizes(value(moved[0]).center.sizes(), value(moved[1]).center.sizes()) != sizes) return {};
        const Interval one = broadcast_to(value(moved[0]), sides_of(moved[0], full), sizes),
                       other = broadcast_to(value(moved[1]), sides_of(moved[1], full), sizes);
        const Numbers xs = one.center.values<double>(), ys = other.center.values<double>();
        std::vector<bool> alike(xs.size());
        // A side is the difference of two numbers, of which moving it again costs some bits.
        const auto equal = [](double x, double y) { return std::fabs(x - y) <= 1e-6 * std::max(x, y); };
        for (std::size_t i = 0; i < xs.size(); ++i)
            alike[i] = xs[i] == ys[i] && equal(one.full.below_at(i), other.full.below_at(i)) &&
                       equal(one.full.above_at(i), other.full.above_at(i));
        return alike;
    }

    /// At the ends of all intervals, and half way: a slope that grows between the two is a pole's.
    void add_corners(std::vector<Widths>& widths, const std::vector<NodeRef>& moved, bool full) {
        if (!moved.empty()) {
            std::vector<Widths> half = zeros();
            const std::vector<bool> alike = one_value(moved, full);
            const std::size_t corners = std::size_t{1} << std::min<std::size_t>(moved.size(), 4);
            for (const double share : {0.5, 1.0})
                for (std::size_t corner = 0; corner < corners; ++corner) {
                    const std::vector<Tensor> values = run([&](NodeRef ref) {
                        const auto at = std::ranges::find(moved, ref) - moved.begin();
                        const bool top = corner >> std::min<std::ptrdiff_t>(at, 3) & 1;
                        return placed(value(ref), sides_of(ref, full),
                                      [&](const ElementInterval& span, std::size_t) { return span.end(top, share); });
                    });
                    const bool together = corner == 0 || corner + 1 == corners;
                    widen_all(share == 1 ? widths : half, values, together ? std::vector<bool>() : alike);
                }
            if (rule() != Rule::step) find_poles(widths, half, moved, full);
        }
        add_own(widths, full);
    }

    void find_poles(std::vector<Widths>& widths, const std::vector<Widths>& half, const std::vector<NodeRef>& moved,
                    bool full) const {
        double widest = 0;
        for (const NodeRef ref : moved) widest = std::max(widest, sides_of(ref, full).most());
        for (std::size_t k = 0; k < widths.size(); ++k)
            for (std::size_t i = 0; i < centers_[k].size(); ++i) {
                const double whole = widths[k].most_at(i), part = half[k].most_at(i),
                             center = std::fabs(centers_[k][i]);
                constexpr double kSteeper = 8, kSlope = 16;
                const bool grows = whole > kSteeper * part && whole > kSlope * widest;
                const bool falls = whole > 0.5 * center && part > 0.9 * whole && whole > kSlope * widest;
                if (grows || falls || part == kUnbounded) widths[k].set(i, kUnbounded);
            }
    }

    /// By so many ulps of the result, or of the largest that other signs of the operands give.
    void add_own(std::vector<Widths>& widths, bool full) {
        if (op_.def->bound.ulps == 0) return;
        const double ulps = rule() == Rule::quotient && by_powers_of_two() ? 1 : op_.def->bound.ulps;
        const std::vector<Numbers> sizes = magnitudes();
        const bool nearest = ulps == 1 && (rule() == Rule::function || rule() == Rule::quotient || is_single_sum());
        for (std::size_t k = 0; k < widths.size(); ++k) {
            if (!is_floating(results_[k].dtype)) continue;
            const FloatLimits limits = float_limits(results_[k].dtype);
            double most = 0;
            for (std::size_t i = 0; i < sizes[k].size(); ++i) {
                const double size = sizes[k][i] + widths[k].most_at(i);
                // An infinite operand of one addition is what makes its sum infinite; a product inside may overflow.
                const bool given = is_single_sum() && std::isinf(sizes[k][i]) && results_[k].dtype != DType::f64;
                if (rule() == Rule::terms && !given && 2 * size > limits.largest && jumps_inside(k, full))
                    widths[k].set(i, kUnbounded);
                if (!std::isfinite(centers_[k][i]) || !std::isfinite(size) || size == 0) continue;
                const double own = ulps * std::max(epsilon(k) * size, limits.denormal);
                if (nearest)
                    widths[k].round_ends(i, centers_[k][i], own, results_[k].dtype);
                else
                    widths[k].add(i, own);
                most = std::max(most, own);
            }
            credit(k, most);
        }
    }
    /// Between the ends of intervals that hold zero, and where two of them meet: x == 0, a == b.
    void add_meetings(std::vector<Widths>& widths, const std::vector<NodeRef>& moved, bool full) {
        if (moved.empty()) return;
        const auto meet = [&](double aim) {
            widen_all(widths,
                      run_placed(full, [&](const ElementInterval& span, std::size_t) { return span.nearest(aim); }));
        };
        meet(0);
        const Param* other = op_.schema.param("other");
        if (other && other->type == ParamType::scalar) meet(number_of("other"));
        if (operands_.size() != 2) return;
        for (const std::size_t which : {0, 1}) {
            const NodeRef from = operands_[which], to = operands_[1 - which];
            if (!sides_of(from, full) || !is_floating(value(from).dtype)) continue;
            const Sizes& sizes = results_[0].center.sizes();
            const Numbers aims = load_broadcast<double>(value(to).center, sizes);
            const Tensor met =
                placed(broadcast_to(value(from), sides_of(from, full), sizes),
                       [&](const ElementInterval& span, std::size_t i) { return span.nearest(aims[i]); });
            widen_all(widths, run([&](NodeRef ref) { return ref == from ? met : value(ref).center; }));
        }
    }

    /// A narrower dtype rounds what is moved into it.
    void finish(std::size_t result, Widths smooth, Widths full) {
        Interval& interval = results_[result];
        const FloatLimits limits = float_limits(interval.dtype);
        const bool converts =
            (rule() == Rule::exact || rule() == Rule::choice) && is_floating(interval.dtype) &&
            std::ranges::any_of(operands_, [&](NodeRef ref) { return value(ref).dtype != interval.dtype; });
        double most = 0;
        for (std::size_t i = 0; i < centers_[result].size(); ++i) {
            const double center = std::fabs(centers_[result][i]);
            if (converts && std::isfinite(center) && center != 0) {
                const double own = std::max(epsilon(result) * center, limits.denormal);
                for (Widths* widths : {&smooth, &full}) widths->round_ends(i, centers_[result][i], own, interval.dtype);
                most = std::max(most, own);
            }
            full.below[i] = std::max(full.below[i], smooth.below[i]);
            full.above[i] = std::max(full.above[i], smooth.above[i]);
            if (full.most_at(i) > smooth.most_at(i) && interval.jump.empty())
                interval.jump = "rounding decides the result of " + call_.reported;
        }
        if (most > 0) credit(result, most);
        const bool equal = smooth == full;
        interval.smooth = std::move(smooth).shared();
        interval.full = equal ? interval.smooth : std::move(full).shared();
    }

    std::vector<std::pair<NodeRef, Sides>> at_jumps_;
};

}  // namespace

std::vector<Tensor> evaluated(const WideCall& call, const TensorOf& value, const Node* instead) {
    const Node& node = instead ? *instead : call.node();
    const RegisteredOp& op = Registry::instance().require(node.target);
    const Arguments<Tensor> arguments(op.schema, node, value, {}, &call.graph);
    return OneStep().step(call.graph, node, op, arguments);
}

std::vector<Interval> bounded_results(const WideCall& call, const RegisteredOp& op, double terms,
                                      const Accuracy& accuracy) {
    return RuledCall(call, op, terms, accuracy).results();
}

}  // namespace whittle
