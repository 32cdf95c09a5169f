// Expressions: an operand in place of an operation, then 0, 1 or a loop's variable in place of anything.
#include <algorithm>

#include "reduce/kernel/edits.h"
#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

using expr::Expr;
using expr::LoopVar;
using expr::Op;

/// The distinct nodes, users before their operands.
std::vector<Expr> nodes(const Expr& root) {
    std::vector<Expr> all;
    expr::visit(root, [&](const Expr& e) { all.push_back(e); });
    return {all.rbegin(), all.rend()};
}

/// What may stand in the place of an expression, the plainest last but what leaves most away first.
std::vector<Expr> plainer(const Expr& e, const std::vector<LoopVar>& loops) {
    std::vector<Expr> choices;
    const auto add = [&](Expr choice) {
        if (choice->dtype == e->dtype && !expr::same(choice, e)) choices.push_back(std::move(choice));
    };
    if (e->op != Op::load)
        for (const Expr& operand : e->operands) add(operand);
    const bool zero = e->op == Op::constant && e->number.to_double() == 0;
    const bool one = e->op == Op::constant && e->number.to_double() == 1;
    if (e->op == Op::variable || zero || is_reduced(e->dtype)) return choices;
    add(expr::cast(e->dtype, expr::constant(DType::i32, Scalar(0))));
    if (!one) add(expr::cast(e->dtype, expr::constant(DType::i32, Scalar(1))));
    if (e->op != Op::constant && e->op != Op::load && e->dtype != DType::boolean)
        for (const LoopVar& var : loops) add(expr::cast(e->dtype, expr::variable(var.name)));
    return choices;
}

/// One simplification of the expression at `at`; false when none is taken.
bool simplify(Search& search, std::size_t at) {
    KernelCase now = search.best();
    const Root root = roots(now.group)[at];
    for (const Expr& node : nodes(*root.place))
        for (const Expr& choice : plainer(node, root.loops)) {
            if (search.time_is_up()) return false;
            const auto simpler = [&](KernelCase& kernel) {
                Expr& place = *roots(kernel.group)[at].place;
                place = expr::rewrite(place, [&](const Expr& e) { return expr::same(e, node) ? choice : e; });
                return drop_unused(kernel);
            };
            if (search.attempt_with(simpler)) return true;
        }
    return false;
}

}  // namespace

void simpler_operands(Search& search) {
    KernelCase counted = search.best();
    for (std::size_t at = 0; at < roots(counted.group).size();) {
        if (!simplify(search, at)) at++;
        counted = search.best();
    }
}

}  // namespace whittle::reduce::kernel
