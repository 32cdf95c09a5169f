#include "backends/halide/rules/folds.h"

#include "expr/parts.h"

namespace whittle::halide {

using expr::Expr;
using expr::Op;
using expr::Stage;

bool is_variable(const Expr& e, const std::string& name) { return e->op == Op::variable && e->name == name; }

bool is_itself(const Expr& e, const Stage& stage) {
    if (e->op != Op::load || e->name != stage.name) return false;
    for (std::size_t d = 0; d < stage.vars.size(); d++)
        if (!is_variable(e->operands[d], stage.vars[d].name)) return false;
    return true;
}

bool mentions(const Expr& root, Op op, const std::string& name) {
    bool found = false;
    expr::visit(root, [&](const Expr& e) { found = found || (e->op == op && e->name == name); });
    return found;
}

Expr with(const Expr& root, const std::string& variable, const Expr& value) {
    return expr::substituted(root, {{variable, value}});
}

Expr Fold::operator()(const Expr& self, const Expr& x, const Stage& stage) const {
    if (sum) return self + x;
    return expr::rewrite(stage.updates[0].value, [&](const Expr& e) {
        if (is_itself(e, stage)) return self;
        return expr::same(e, element) ? x : e;
    });
}

std::optional<Fold> fold_of(const Stage& stage) {
    if (stage.updates.size() != 1 || !is_floating(stage.dtype) || is_reduced(stage.dtype)) return {};
    const expr::Update& update = stage.updates[0];
    if (update.condition || update.domain.empty()) return {};
    for (std::size_t d = 0; d < stage.vars.size(); d++)
        if (!is_variable(update.where[d], stage.vars[d].name)) return {};
    const Expr& value = update.value;
    Fold fold;
    if (value->op == Op::add) {
        const bool first = is_itself(value->operands[0], stage);
        fold = {.element = value->operands[first ? 1 : 0], .sum = true};
        if (!first && !is_itself(value->operands[1], stage)) return {};
    } else if (value->op == Op::select && is_itself(value->operands[1], stage)) {
        fold.element = value->operands[2];
        const Expr& keeps = value->operands[0];
        if (keeps->op != Op::logical_or || keeps->operands[0]->op != Op::is_nan) return {};
        const Expr& order = keeps->operands[1];
        if (!is_itself(keeps->operands[0]->operands[0], stage) || order->op != Op::le) return {};
        const Expr &a = order->operands[0], &b = order->operands[1];
        if (!(is_itself(a, stage) && expr::same(b, fold.element)) &&
            !(is_itself(b, stage) && expr::same(a, fold.element)))
            return {};
    } else {
        return {};
    }
    if (mentions(fold.element, Op::load, stage.name)) return {};
    return fold;
}

Expr neutral_for(const Expr& start) {
    const Expr zero = expr::constant(start->dtype, Scalar(0.0));
    return expr::same(start, zero) ? zero : expr::constant(start->dtype, Scalar(-0.0));
}

std::string reader_in_place(const Draft& draft, const std::string& name) {
    if (draft.is_output(name)) return {};
    const Stage& read = *draft.group().stage(name);
    std::string found;
    for (const Stage& stage : draft.group().stages) {
        if (stage.name == name) continue;
        bool reads = false, in_place = stage.vars.size() == read.vars.size() && stage.updates.empty();
        expr::visit(stage, [&](const Expr& e) {
            if (e->op != Op::load || e->name != name) return;
            reads = true;
            for (std::size_t d = 0; d < e->operands.size() && in_place; d++)
                in_place =
                    is_variable(e->operands[d], stage.vars[d].name) && stage.vars[d].extent == read.vars[d].extent;
        });
        if (!reads) continue;
        if (!in_place || !found.empty() || draft.is_finished(stage.name)) return {};
        found = stage.name;
    }
    return found;
}

}  // namespace whittle::halide
