#include "expr/bounds.h"

#include <algorithm>
#include <limits>

#include "expr/fold.h"
#include "tensor/limits.h"

namespace whittle::expr {

Interval range_of(DType dtype) {
    if (is_inexact(dtype) || dtype == DType::u64)
        return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    return {lowest(dtype).to_integer(), greatest(dtype).to_integer()};
}

Bounds::Bounds(std::span<const LoopVar> loops) {
    for (const LoopVar& v : loops) loops_[v.name] = {0, std::max<std::int64_t>(v.extent - 1, 0)};
}

Interval Bounds::of(const Expr& e) { return result(e).interval; }
bool Bounds::may_wrap(const Expr& e) { return result(e).wraps; }

const Bounds::Result& Bounds::result(const Expr& root) {
    if (const auto found = known_.find(root); found != known_.end()) return found->second;
    visit(root, [&](const Expr& e) {
        if (!known_.contains(e)) known_.emplace(e, compute(e));
    });
    return known_.at(root);
}

namespace {

__extension__ typedef __int128 Int128;

/// Quotient and remainder of intervals by a divisor interval that is positive.
Interval divide(const Interval& a, const Interval& b) {
    const std::int64_t corners[] = {euclidean_div(a.lo, b.lo), euclidean_div(a.lo, b.hi), euclidean_div(a.hi, b.lo),
                                    euclidean_div(a.hi, b.hi)};
    return {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
}

Interval modulo(const Interval& a, const Interval& b) {
    if (b.lo == b.hi && euclidean_div(a.lo, b.lo) == euclidean_div(a.hi, b.lo))
        return {euclidean_mod(a.lo, b.lo), euclidean_mod(a.hi, b.lo)};
    return {0, a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1};
}

/// Whether `a op b` holds for all, none or some of the values.
Interval compare(Op op, const Interval& a, const Interval& b) {
    const auto truth = [](bool always, bool never) {
        return always ? Interval{1, 1} : never ? Interval{0, 0} : Interval{0, 1};
    };
    const bool disjoint = a.hi < b.lo || b.hi < a.lo, equal = a.lo == a.hi && a == b;
    switch (op) {
        case Op::eq:
            return truth(equal, disjoint);
        case Op::ne:
            return truth(disjoint, equal);
        case Op::lt:
            return truth(a.hi < b.lo, a.lo >= b.hi);
        default:
            return truth(a.hi <= b.lo, a.lo > b.hi);
    }
}

}  // namespace

Bounds::Result Bounds::compute(const Expr& e) {
    const Interval whole = range_of(e->dtype);
    if (is_floating(e->dtype)) return {};
    // Nothing is said of u64, whose range no interval holds.
    const auto is_u64 = [](const Expr& x) { return x->dtype == DType::u64; };
    if (is_u64(e) || (e->op != Op::load && std::ranges::any_of(e->operands, is_u64))) return {whole, true};
    const auto fit = [&](Int128 lo, Int128 hi) -> Result {
        if (lo < whole.lo || hi > whole.hi) return {whole, true};
        return {{static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)}};
    };
    if (e->op == Op::constant) return {{e->number.to_integer(), e->number.to_integer()}};
    if (e->op == Op::variable) {
        const auto found = loops_.find(e->name);
        return {found == loops_.end() ? whole : found->second};
    }
    if (e->op == Op::load || is_floating(e->operands[0]->dtype)) return {whole};
    const Interval a = of(e->operands[0]), b = e->operands.size() > 1 ? of(e->operands[1]) : Interval{};
    const Int128 al = a.lo, ah = a.hi, bl = b.lo, bh = b.hi;
    switch (e->op) {
        case Op::cast:
            if (e->dtype == DType::boolean) return {compare(Op::ne, a, {0, 0})};
            return fit(al, ah);
        case Op::abs:
            return fit(al <= 0 && ah >= 0 ? 0 : std::min(al < 0 ? -al : al, ah < 0 ? -ah : ah), std::max(-al, ah));
        case Op::logical_not:
            return {{1 - a.hi, 1 - a.lo}};
        case Op::add:
            return fit(al + bl, ah + bh);
        case Op::sub:
            return fit(al - bh, ah - bl);
        case Op::mul: {
            const Int128 corners[] = {al * bl, al * bh, ah * bl, ah * bh};
            return fit(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
        }
        case Op::div:
            if (b.lo > 0) return {divide(a, b)};
            return {whole, b.lo <= -1 && b.hi >= -1 && a.lo == whole.lo};
        case Op::mod:
            return {b.lo > 0 ? modulo(a, b) : whole};
        case Op::min:
            return {{std::min(a.lo, b.lo), std::min(a.hi, b.hi)}};
        case Op::max:
            return {{std::max(a.lo, b.lo), std::max(a.hi, b.hi)}};
        case Op::eq:
        case Op::ne:
        case Op::lt:
        case Op::le:
            return {compare(e->op, a, b)};
        case Op::logical_and:
            return {{a.lo & b.lo, a.hi & b.hi}};
        case Op::logical_or:
            return {{a.lo | b.lo, a.hi | b.hi}};
        case Op::bit_and:
            return {a.lo >= 0 && b.lo >= 0 ? Interval{0, std::min(a.hi, b.hi)} : whole};
        case Op::select: {
            const Interval c = of(e->operands[2]);
            return {{std::min(b.lo, c.lo), std::max(b.hi, c.hi)}};
        }
        default:
            return {whole};
    }
}

}  // namespace whittle::expr
