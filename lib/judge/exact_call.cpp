#include "judge/interval_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "judge/bounded_call.h"

namespace whittle {
namespace {

class ExactCall : BoundedCall {
  public:
    using BoundedCall::BoundedCall;

    std::vector<Interval> results() {
        compute_centers();
        const std::string call = inexact_call();
        for (std::size_t k = 0; k < results_.size(); ++k) {
            Interval& result = results_[k];
            result.used = used_;
            for (const NodeRef ref : operands_) result.used = std::max(result.used, value(ref).used);
            const std::string why = call.empty() ? inexact_result(k) : call;
            if (!why.empty()) result = {.dtype = result.dtype, .unbounded = call_.reported, .inexact = why};
        }
        return std::move(results_);
    }

  private:
    std::string inexact_call() {
        const Bound& bound = op_.def->bound;
        switch (bound.exact) {
            case Bound::Exact::never:
                return "is not exact";
            case Bound::Exact::always:
                return {};
            case Bound::Exact::quotients:
                return by_powers_of_two() ? "" : "divides by numbers that are not powers of two";
            case Bound::Exact::sums:
                return too_large_a_sum();
        }
        __builtin_unreachable();
    }

    /// All products are multiples of the product of the units of what they are of, and no sum of some of them is larger
    /// than that of their magnitudes: where that takes no more digits than the dtype has, none rounds.
    std::string too_large_a_sum() {
        const int divided = digits_divided_off();
        if (divided < 0) return "divides by a number that is not a power of two";
        const int unit = unit_of_products() - divided;
        const std::vector<double> most = largest_sums();
        for (std::size_t k = 0; k < results_.size(); ++k) {
            const DType dtype = results_[k].dtype;
            if (!is_floating(dtype) || most[k] == 0) continue;
            const FloatLimits limits = float_limits(dtype);
            const double digits = 1 - std::log2(limits.epsilon);
            used_ = std::max(used_, (std::log2(most[k]) - unit) / digits);
            if (!(most[k] <= std::ldexp(1, static_cast<int>(digits) + unit)) || most[k] > limits.largest ||
                std::ldexp(1, unit) < limits.normal)
                return "computes sums that need more digits than " + std::string(name(dtype)) + " has";
        }
        return {};
    }

    /// Of a mean, which is a multiple of a smaller power of two than its terms are, so many digits; -1: no such power.
    int digits_divided_off() const {
        const DivisorFn divisor = op_.def->bound.divisor;
        if (!divisor) return 0;
        const std::int64_t number =
            divisor(Arguments<Tensor>(op_.schema, node_, [&](NodeRef ref) { return value(ref).center; }));
        return std::bit_width(static_cast<std::uint64_t>(number)) - 1;
    }

    int unit_of_products() const {
        int unit = 0;
        for_each_input(node_, [&](NodeRef ref) { unit += unit_of(value(ref).center.values<double>()); });
        for_each_number([&](double x) { unit += unit_of(std::span(&x, 1)); });
        return unit;
    }

    /// The arguments that are numbers.
    void for_each_number(const auto& use) const {
        const auto see = [&](const Arg& arg) {
            if (const auto* number = std::get_if<double>(&arg.value)) use(*number);
        };
        for (const Arg& arg : node_.args) see(arg);
        for (const auto& [key, arg] : node_.kwargs) see(arg);
    }

    /// Of each result the largest sum of magnitudes. A difference is one under some signs of its operands.
    std::vector<double> largest_sums() {
        const Node call = without_signs();
        const std::size_t all = rule() == Rule::sums ? 1 : std::size_t{1} << std::min<std::size_t>(operands_.size(), 3);
        std::vector<double> most(results_.size());
        for (std::size_t signs = 0; signs < all; ++signs) {
            const std::vector<Tensor> sums = evaluated(
                call_,
                [&](NodeRef ref) {
                    const auto at = static_cast<std::size_t>(std::ranges::find(operands_, ref) - operands_.begin());
                    const Tensor magnitude = magnitude_of(value(ref).center);
                    return at < 3 && (signs >> at & 1) != 0 ? negated(magnitude) : magnitude;
                },
                &call);
            for (std::size_t k = 0; k < sums.size(); ++k)
                for (const double x : sums[k].values<double>())
                    most[k] = std::isnan(x) ? kUnbounded : std::max(most[k], std::fabs(x));
        }
        return most;
    }

    /// Of a comparison: who rounds the number to the dtype of the operand compares with another one.
    std::string inexact_number() const {
        std::string why;
        for_each_number([&](double x) {
            for (const NodeRef ref : operands_)
                if (const DType dtype = value(ref).dtype; is_floating(dtype) && !holds(dtype, x))
                    why = "compares with a number that " + std::string(name(dtype)) + " cannot represent";
        });
        return why;
    }

    std::string inexact_result(std::size_t k) const {
        const DType dtype = results_[k].dtype;
        if (!is_floating(dtype)) {
            const bool places = rule() == Rule::choice && std::ranges::any_of(operands_, [&](NodeRef ref) {
                                    return is_floating(value(ref).dtype);
                                });
            return places ? "returns positions, which are not unique among equal elements" : inexact_number();
        }
        for (const double x : centers_[k]) {
            if (!std::isfinite(x)) return "computes values that are not finite";
            if (!holds(dtype, x)) return "computes numbers that " + std::string(name(dtype)) + " cannot represent";
        }
        return {};
    }

    double used_ = 0;  ///< as Interval::used, by this call
};

}  // namespace

std::vector<Interval> exact_results(const WideCall& call, const RegisteredOp& op, const Accuracy& accuracy) {
    return ExactCall(call, op, 1, accuracy).results();
}

int unit_of(std::span<const double> numbers) {
    int unit = 0;
    for (const double x : numbers) {
        if (!std::isfinite(x) || x == std::floor(x)) continue;
        int exponent = 0;
        const double significand = std::frexp(std::fabs(x), &exponent);
        const auto digits = static_cast<std::uint64_t>(std::ldexp(significand, 53));
        unit = std::min(unit, exponent - 53 + std::countr_zero(digits));
    }
    return unit;
}

}  // namespace whittle
