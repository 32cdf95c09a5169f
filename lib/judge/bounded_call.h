// BoundedCall: a call with the intervals of its operands, and its results while rules widen them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "judge/interval_rules.h"
#include "judge/interval_values.h"
#include "ops/core/registry.h"
#include "tensor/limits.h"

namespace whittle {

class BoundedCall {
  public:
    BoundedCall(const WideCall& call, const RegisteredOp& op, double terms, const Accuracy& accuracy)
        : call_(call), node_(call.node()), op_(op), terms_(terms), accuracy_(accuracy) {
        for_each_input(node_, [&](NodeRef ref) { add_once(operands_, ref); });
    }

  protected:
    using Rule = Bound::Rule;
    Rule rule() const { return op_.def->bound.rule; }
    const Interval& value(NodeRef ref) const { return call_.value(ref); }

    std::vector<Tensor> run(const TensorOf& tensor) { return evaluated(call_, tensor); }
    void compute_centers() {
        for (const Tensor& center : run([&](NodeRef ref) { return value(ref).center; })) {
            const DType dtype = call_.results.at(results_.size()).dtype;
            // A result may be narrow all the same, as a constant's dtype says.
            results_.push_back(
                {.center = is_floating(center.dtype()) ? center.to(DType::f64) : center, .dtype = dtype});
            centers_.push_back(center.values<double>());
        }
    }

    std::vector<Widths> zeros() const {
        std::vector<Widths> all;
        for (const Numbers& center : centers_) all.push_back({Numbers(center.size()), Numbers(center.size())});
        return all;
    }
    /// But for the elements to be left.
    void widen_all(std::vector<Widths>& widths, const std::vector<Tensor>& values,
                   const std::vector<bool>& left = {}) const {
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Widths before = left.empty() ? Widths() : widths[k];
            widths[k].reach(centers_[k], values[k]);
            for (std::size_t i = 0; i < left.size(); ++i)
                if (left[i]) widths[k].below[i] = before.below[i], widths[k].above[i] = before.above[i];
        }
    }

    static void set_source(Interval& result, const std::string& source, DType precision) {
        result.source = source;
        if (!source.empty()) result.precision = precision;
    }
    /// Which op is named: that of the operand with the widest interval, until this one adds more.
    void inherit() {
        double widest = -1;
        for (const NodeRef ref : operands_) {
            const Interval& operand = value(ref);
            const double here = operand.smooth.most();
            for (Interval& result : results_) {
                if (here > widest) set_source(result, operand.source, operand.precision);
                if (result.jump.empty()) result.jump = operand.jump;
                result.tolerance_decided = result.tolerance_decided || operand.tolerance_decided;
            }
            widest = std::max(widest, here);
        }
    }

    double number_of(std::string_view parameter) const {
        const Arguments<Tensor> arguments(op_.schema, node_, [&](NodeRef ref) { return value(ref).center; });
        return arguments.scalar(parameter).to_double();
    }
    /// Of an op that divides self by other. x / y and x * (1 / y) are the same number then, and round once; unless x is
    /// an integer that the result's dtype does not hold.
    bool by_powers_of_two() const {
        if (node_.args.size() < 2) return false;
        const NodeRef* const other = node_.args[1].node();
        if (other && value(*other).full) return false;
        const Numbers divisors =
            other ? value(*other).center.values<double>() : Numbers{number_of(op_.schema.params[1].name)};
        const auto is_power = [](double x) {
            int exponent = 0;
            return std::isfinite(x) && std::fabs(std::frexp(x, &exponent)) == 0.5;
        };
        return std::ranges::all_of(divisors, is_power) && std::ranges::all_of(operands_, [&](NodeRef ref) {
                   const Tensor& center = value(ref).center;
                   return is_floating(value(ref).dtype) || std::ranges::all_of(center.values<double>(), [&](double x) {
                              return holds(results_.front().dtype, x);
                          });
               });
    }
    /// The factors of addmm and of its like without their signs.
    Node without_signs() const {
        Node call = node_;
        const auto bare = [](Arg& arg) {
            if (auto* number = std::get_if<double>(&arg.value)) *number = std::fabs(*number);
            if (auto* number = std::get_if<std::int64_t>(&arg.value)) *number = std::abs(*number);
        };
        const auto is_factor = [](std::string_view name) { return name == "alpha" || name == "beta"; };
        for (std::size_t i = 0; i < call.args.size() && i < op_.schema.params.size(); ++i)
            if (is_factor(op_.schema.params[i].name)) bare(call.args[i]);
        for (auto& [key, arg] : call.kwargs)
            if (is_factor(key)) bare(arg);
        return call;
    }
    /// a + b, which rounds once, where a + 3 b rounds the product, too.
    bool is_single_sum() const { return op_.schema.param("alpha") && std::fabs(number_of("alpha")) == 1; }
    /// Of each element of the results the largest that other signs of the operands give.
    std::vector<Numbers> magnitudes() {
        std::vector<Numbers> sizes = centers_;
        for (Numbers& values : sizes)
            for (double& x : values) x = std::fabs(x);
        if (rule() != Rule::terms || is_single_sum()) return sizes;
        const std::size_t most = std::size_t{1} << std::min<std::size_t>(operands_.size(), 3);
        for (std::size_t signs = 1; signs < most; ++signs) {
            const std::vector<Tensor> other = run([&](NodeRef ref) {
                const auto at = static_cast<std::size_t>(std::ranges::find(operands_, ref) - operands_.begin());
                const Tensor& center = value(ref).center;
                return at < 3 && (signs >> at & 1) != 0 ? negated(center) : center;
            });
            for (std::size_t k = 0; k < other.size(); ++k) {
                const Numbers values = other[k].values<double>();
                for (std::size_t i = 0; i < values.size(); ++i)
                    if (!std::isnan(values[i])) sizes[k][i] = std::max(sizes[k][i], std::fabs(values[i]));
            }
        }
        return sizes;
    }

    double epsilon(std::size_t result) const {
        const DType dtype = results_[result].dtype;
        return float_limits(dtype).epsilon * (dtype == DType::f64 ? 2 : 1);  // the center rounds, too
    }

    /// This op is the source where it adds more than comes in.
    void credit(std::size_t result, double own) {
        double before = 0;
        for (const NodeRef ref : operands_) before = std::max(before, value(ref).smooth.most());
        Interval& interval = results_[result];
        if (own >= before || interval.source.empty()) set_source(interval, call_.reported, interval.dtype);
    }

    const WideCall& call_;
    const Node& node_;
    const RegisteredOp& op_;
    const double terms_;
    const Accuracy& accuracy_;
    std::vector<NodeRef> operands_;
    std::vector<Interval> results_;
    std::vector<Numbers> centers_;
};

}  // namespace whittle
