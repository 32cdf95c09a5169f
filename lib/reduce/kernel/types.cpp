// Common element types in place of others.
#include <cmath>
#include <optional>

#include "expr/exprmap.h"
#include "reduce/kernel/edits.h"
#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

using expr::Expr;
using expr::Op;

Expr rebuilt(const Expr& e, DType from, DType to, bool& possible) {
    if (e->dtype != from) {
        for (const Expr& operand : e->operands)
            if (e->op != Op::cast && e->op != Op::load && !expr::takes(e->op, operand->dtype)) possible = false;
        return e;
    }
    if (e->op == Op::constant) {
        if (is_floating(to)) return expr::constant(to, Scalar(e->number.to_double()));
        if (is_floating(from) && !std::isfinite(e->number.to_double())) possible = false;
        return possible ? expr::constant(to, Scalar(e->number.to_integer())) : e;
    }
    if (e->op == Op::load) return expr::load(e->name, to, e->operands);
    if (e->op == Op::cast) return expr::cast(to, e->operands[0]);
    return e;
}

/// Bottom up by hand: the makers refuse operands of two types, so that no node may be made of old and new ones.
Expr retyped(const Expr& root, DType from, DType to, bool& possible, expr::ExprMap<Expr>& done) {
    if (const auto found = done.find(root); found != done.end()) return found->second;
    std::vector<Expr> operands;
    for (const Expr& operand : root->operands) operands.push_back(retyped(operand, from, to, possible, done));
    if (!possible) return root;
    Expr result = root;
    const bool typed_leaf = root->operands.empty() || root->op == Op::load || root->op == Op::cast;
    if (typed_leaf) {
        expr::Node node = *root;
        node.operands = operands;
        result = rebuilt(std::make_shared<const expr::Node>(node), from, to, possible);
        if (possible && root->dtype != from && !root->operands.empty()) result = expr::rebuild(root, operands);
    } else {
        const DType operated = operands[root->op == Op::select ? 1 : 0]->dtype;
        if (!expr::takes(root->op, operated)) {
            possible = false;
            return root;
        }
        result = expr::rebuild(root, operands);
    }
    return done[root] = result;
}

std::optional<KernelCase> with_type(const KernelCase& kernel, DType from, DType to) {
    KernelCase result = kernel;
    bool possible = true;
    expr::ExprMap<Expr> done;
    each_expression(result.group, [&](const Expr& root) { return retyped(root, from, to, possible, done); });
    if (!possible) return std::nullopt;
    for (expr::Stage& stage : result.group.stages)
        if (stage.dtype == from) stage.dtype = to;
    for (std::size_t i = 0; i < result.group.inputs.size(); i++) {
        if (result.group.inputs[i].dtype != from) continue;
        result.group.inputs[i].dtype = to;
        result.inputs[i] = result.inputs[i].to(to);
    }
    return result;
}

bool uses(const expr::Group& group, DType dtype) {
    bool found = false;
    for (const expr::Input& input : group.inputs) found = found || input.dtype == dtype;
    for (const expr::Stage& stage : group.stages) {
        found = found || stage.dtype == dtype;
        expr::visit(stage.value, [&](const Expr& e) { found = found || e->dtype == dtype; });
        for (const expr::Update& update : stage.updates)
            expr::visit(update.value, [&](const Expr& e) { found = found || e->dtype == dtype; });
    }
    return found;
}

}  // namespace

void commoner_types(Search& search) {
    for (const DType from : kAllDTypes) {
        if (from == DType::i32 || from == DType::boolean || !uses(search.best().group, from)) continue;
        // Integers become floats, too, where operations take care: on floats nothing wraps.
        std::vector<DType> choices = {DType::i32};
        if (from != DType::f32) choices.insert(search.best().careful ? choices.begin() : choices.end(), DType::f32);
        if (from == DType::f32 && search.best().careful) continue;
        for (const DType to : choices)
            if (std::optional<KernelCase> candidate = with_type(search.best(), from, to))
                if (search.attempt(std::move(*candidate))) break;
    }
}

}  // namespace whittle::reduce::kernel
