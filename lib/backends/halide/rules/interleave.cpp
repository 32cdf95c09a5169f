#include <algorithm>
#include <bit>

#include "backends/halide/rules/folds.h"
#include "backends/halide/rules/rules.h"

namespace whittle::halide {
namespace {

using expr::Expr;
using expr::Op;
using Kind = expr::Directive::Kind;

/// Whether the index is the variable, or lies a constant away from it.
bool follows(const Expr& index, const std::string& variable) {
    if (is_variable(index, variable)) return true;
    return (index->op == Op::add || index->op == Op::sub) && is_variable(index->operands[0], variable) &&
           index->operands[1]->op == Op::constant;
}

}  // namespace

std::int64_t period_of(const expr::Stage& stage) {
    constexpr std::int64_t kLongest = 4, kFewestColumns = 4;
    if (stage.vars.empty() || !stage.updates.empty()) return 0;
    const expr::LoopVar& column = stage.vars.back();
    std::int64_t period = 0;
    bool one = true;
    expr::visit(stage.value, [&](const Expr& e) {
        if ((e->op != Op::div && e->op != Op::mod) || e->dtype != DType::i32 || !mentions(e, Op::variable, column.name))
            return;
        const Expr& by = e->operands[1];
        const std::int64_t found = by->op == Op::constant ? by->number.to_integer() : 0;
        one = one && follows(e->operands[0], column.name) && (period == 0 || found == period);
        period = found;
    });
    const bool fits = one && period > 1 && period <= kLongest && column.extent % period == 0;
    return fits && column.extent / period >= kFewestColumns ? period : 0;
}

void interleave(Draft& draft, const expr::Stage& stage, std::int64_t period, std::int64_t width,
                const std::vector<int>& needs) {
    const std::string column = stage.vars.back().name;
    const auto columns = static_cast<std::uint64_t>(stage.vars.back().extent / period);
    const auto add = [&](Kind kind, std::vector<std::string> args, std::int64_t factor, const std::string& tail,
                         const std::vector<int>& requires_) {
        return draft.add({.kind = kind, .stage = stage.name, .args = std::move(args), .factor = factor, .tail = tail},
                         requires_);
    };
    std::vector<int> split = needs;
    // All of the columns are whole periods.
    split.push_back(add(Kind::split, {column, column + "_o", column + "_i"}, period, "RoundUp", needs));
    add(Kind::unroll, {column + "_i"}, 0, "", split);
    const auto most = static_cast<std::int64_t>(std::bit_floor(columns));
    add(Kind::vectorize, {column + "_o"}, std::min(width, most), "ShiftInwards", split);
}

}  // namespace whittle::halide
