#include "backends/halide/rules/rules.h"

#include <algorithm>
#include <optional>

#include "backends/halide/rules/folds.h"
#include "expr/parts.h"

namespace whittle::halide {
namespace {

using expr::Expr;
using expr::LoopVar;
using expr::Op;
using expr::Stage;

/// Where an image of `size` lies in a dimension.
struct Place {
    std::int64_t before = 0, size = 0;
};

void add_conjuncts(const Expr& e, std::vector<Expr>& all) {
    if (e->op != Op::logical_and) {
        all.push_back(e);
        return;
    }
    for (const Expr& operand : e->operands) add_conjuncts(operand, all);
}

Expr shifted(const LoopVar& v, std::int64_t before) { return expr::variable(v.name) - expr::index(before); }

/// The place that two of the conditions give; they are taken off the list.
std::optional<Place> place_of(const LoopVar& v, std::vector<Expr>& conditions) {
    for (std::int64_t before = 0; before < v.extent; before++)
        for (std::int64_t size = 1; size + before <= v.extent; size++) {
            const Expr at = shifted(v, before);
            const auto find = [&](const Expr& wanted) {
                return std::ranges::find_if(conditions, [&](const Expr& e) { return expr::same(e, wanted); });
            };
            const auto high = find(at <= expr::index(size - 1));
            if (high == conditions.end()) continue;
            conditions.erase(high);
            const auto low = find(expr::index(0) <= at);
            if (low == conditions.end()) return {};
            conditions.erase(low);
            return Place{before, size};
        }
    return {};
}

}  // namespace

bool split_border(Stage& stage) {
    if (!stage.updates.empty() || stage.value->op != Op::select || stage.value->operands[2]->op != Op::constant)
        return false;
    std::vector<Expr> conditions;
    add_conjuncts(stage.value->operands[0], conditions);
    expr::Update update{.value = stage.value->operands[1]};
    for (const LoopVar& v : stage.vars) {
        const auto place = place_of(v, conditions);
        if (!place) {
            update.where.push_back(expr::variable(v.name));
            continue;
        }
        const LoopVar inside{v.name + "_in", place->size};
        const Expr at = expr::binary(
            Op::max, expr::binary(Op::min, shifted(v, place->before), expr::index(place->size - 1)), expr::index(0));
        update.value = expr::rewrite(
            update.value, [&](const Expr& e) { return expr::same(e, at) ? expr::variable(inside.name) : e; });
        if (mentions(update.value, Op::variable, v.name)) return false;
        update.where.push_back(expr::variable(inside.name) + expr::index(place->before));
        update.domain.push_back(inside);
    }
    if (!conditions.empty() || update.domain.empty()) return false;
    stage.value = stage.value->operands[2];
    stage.updates = {std::move(update)};
    return true;
}

}  // namespace whittle::halide
