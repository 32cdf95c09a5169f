#include "report/hash_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/interval.h"
#include "ops/core/registry.h"
#include "tensor/limits.h"

namespace whittle::report {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double relative(double before, double after, double scale) {
    if (before == after || (std::isnan(before) && std::isnan(after))) return 0;
    if (!std::isfinite(before) || !std::isfinite(after)) return kInfinity;
    return std::fabs(before - after) / scale;  // infinity where the scale is 0, and they differ
}

double count_of(const HashedValue& value) { return static_cast<double>(element_count(value.sizes)); }

bool is_floating_tensor(const HashedValue& value) {
    const auto dtype = dtype_from_name(value.type);
    return dtype && is_inexact(*dtype);
}

/// What is added up for all elements of the result, and how many terms each has, estimated from sizes alone: sums of
/// one operand, or of products of two.
struct Sums {
    double magnitude = 0, terms = 1;
};
Sums sums_of(const std::vector<BothRows>& operands, const HashedValue& result) {
    std::vector<const BothRows*> floating;
    for (const BothRows& operand : operands)
        if (is_floating_tensor(operand.value) && count_of(operand.value) > 0) floating.push_back(&operand);
    std::ranges::stable_sort(floating, std::greater(), [](const BothRows* one) { return count_of(one->value); });
    const double results = std::max(1.0, count_of(result));
    Sums sums;
    for (const BothRows* one : floating) sums.magnitude += one->before->absolute;
    if (floating.empty()) return sums;
    const BothRows &first = *floating[0], &second = *floating[std::min<std::size_t>(1, floating.size() - 1)];
    const double most = count_of(first.value), other = count_of(second.value);
    if (floating.size() == 1 || other <= 1) {
        sums.terms = std::max(1.0, most / results);
        return sums;
    }
    // A matrix product has sqrt(most * other / results) terms, a convolution up to the width of its kernel times as
    // many.
    constexpr double kWidest = 8;
    sums.terms = std::clamp(kWidest * std::sqrt(most * other / results), 1.0, most);
    const double uses = results * sums.terms;
    sums.magnitude += std::min(first.before->absolute * second.before->largest * uses / most,
                               second.before->absolute * first.before->largest * uses / other);
    return sums;
}

/// In-place forms have the record of the op without the underscore.
const RegisteredOp* op_called(std::string target) {
    if (const RegisteredOp* const op = Registry::instance().op(target)) return op;
    const auto overload = target.rfind('.');
    if (overload == std::string::npos || overload == 0 || target[overload - 1] != '_') return nullptr;
    return Registry::instance().op(target.erase(overload - 1, 1));
}

}  // namespace

double BothRows::moved() const {
    if (same()) return 0;
    if (before->nans != after->nans) return kInfinity;
    const double scale = std::max(before->absolute, after->absolute);
    return std::max({relative(before->sum, after->sum, scale), relative(before->absolute, after->absolute, scale),
                     relative(before->largest, after->largest, std::max(before->largest, after->largest))});
}

HashJudgement judge_hashes(const std::string& target, const std::vector<BothRows>& operands, const BothRows& result) {
    using enum HashJudgement::Verdict;
    using Rule = Bound::Rule;
    const RegisteredOp* const op = op_called(target);
    const auto dtype = dtype_from_name(result.value.type);
    double operands_moved = 0;
    bool same = true;
    for (const BothRows& operand : operands) {
        operands_moved = std::max(operands_moved, operand.moved());
        same = same && operand.same();
    }
    if (!result.value.is_tensor() && !same)
        return {.why = "the operation reads an operand that differs", .carried = true};
    if (!op) return {.why = "Whittle does not know the op"};
    const Bound& bound = op->def->bound;
    if (bound.rule == Rule::none) return {.why = "the rounding error of the op has no known bound"};
    if (!dtype) return {.why = "Whittle does not know the dtype"};
    const bool adds = bound.rule == Rule::sums || bound.rule == Rule::terms;
    const bool computes = adds || bound.rule == Rule::function || bound.rule == Rule::quotient;
    if (!same && !(computes && is_inexact(*dtype)))
        return {.why = "the operands differ, and the op moves, selects or compares them", .carried = true};
    if (!std::isfinite(operands_moved)) return {.why = "the operands differ by NaN or infinities"};
    HashJudgement judged{.moved = result.moved()};
    if (computes && is_inexact(*dtype)) {
        const double unit = float_limits(real_of(*dtype)).epsilon;
        double scale = 1, own = 2 * unit * (adds ? std::max<double>(bound.ulps, 1) : bound.ulps);
        if (adds) {
            const Sums sums = sums_of(operands, result.value);
            const double size = std::max(result.before->absolute, result.after->absolute);
            scale = size > 0 ? std::max(1.0, sums.magnitude / size) : kInfinity;
            // As for the judge: a wider bound decides nothing.
            own = std::min(own * sums.terms, kWidestInterval * info_of(*dtype).rtol);
        }
        judged.allowed = (own + kGrowth * operands_moved) * scale;
    }
    const bool explained = judged.allowed > 0 ? judged.moved <= judged.allowed : result.same();
    judged.verdict = explained ? within : beyond;
    return judged;
}

}  // namespace whittle::report
