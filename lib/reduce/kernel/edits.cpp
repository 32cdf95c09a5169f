#include "reduce/kernel/edits.h"

#include <algorithm>
#include <set>

#include "base/words.h"

namespace whittle::reduce::kernel {

using expr::Expr;
using expr::Group;
using expr::Op;
using expr::Stage;

std::vector<Root> roots(Group& group) {
    std::vector<Root> all;
    for (Stage& stage : group.stages) {
        all.push_back({&stage.value, stage.vars});
        for (expr::Update& update : stage.updates) {
            std::vector<expr::LoopVar> loops = update.domain;
            for (const expr::LoopVar& var : expr::loops_of(stage, update)) add_once(loops, var);
            all.push_back({&update.value, loops});
            if (update.condition) all.push_back({&update.condition, loops});
            for (Expr& index : update.where) all.push_back({&index, loops});
        }
    }
    return all;
}

void each_expression(expr::Update& update, const std::function<Expr(const Expr&)>& f) {
    for (Expr& index : update.where) index = f(index);
    update.value = f(update.value);
    if (update.condition) update.condition = f(update.condition);
}

void each_expression(Stage& stage, const std::function<Expr(const Expr&)>& f) {
    stage.value = f(stage.value);
    for (expr::Update& update : stage.updates) each_expression(update, f);
}

void each_expression(Group& group, const std::function<Expr(const Expr&)>& f) {
    for (Stage& stage : group.stages) each_expression(stage, f);
}

Expr with_loads(const Expr& root, const std::string& name, const std::function<Expr(const Expr&)>& f) {
    return expr::rewrite(root, [&](const Expr& e) { return e->op == Op::load && e->name == name ? f(e) : e; });
}

bool drop_directives(KernelCase& kernel, const std::function<bool(const expr::Directive&)>& gone) {
    std::vector<int> position(kernel.schedule.size(), -1);
    expr::Schedule kept;
    for (std::size_t i = 0; i < kernel.schedule.size(); i++) {
        expr::Directive directive = kernel.schedule[i];
        const bool needs_gone = std::ranges::any_of(
            directive.requires_, [&](int needed) { return position[static_cast<std::size_t>(needed)] < 0; });
        if (needs_gone || gone(directive)) {
            if (static_cast<int>(i) == kernel.culprit) return false;
            continue;
        }
        for (int& needed : directive.requires_) needed = position[static_cast<std::size_t>(needed)];
        position[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(directive));
    }
    if (kernel.culprit >= 0) kernel.culprit = position[static_cast<std::size_t>(kernel.culprit)];
    kernel.schedule = std::move(kept);
    return true;
}

void release(KernelCase& kernel, const std::function<bool(const expr::Directive&)>& granted) {
    for (expr::Directive& directive : kernel.schedule)
        std::erase_if(directive.requires_,
                      [&](int needed) { return granted(kernel.schedule[static_cast<std::size_t>(needed)]); });
}

bool drop_unused(KernelCase& kernel) {
    Group& group = kernel.group;
    const std::set<std::string> wanted = expr::needed(group);
    std::erase_if(group.stages, [&](const Stage& stage) { return !wanted.contains(stage.name); });
    std::vector<expr::Input> inputs;
    std::vector<Tensor> data;
    for (std::size_t i = 0; i < group.inputs.size(); i++)
        if (wanted.contains(group.inputs[i].name)) {
            inputs.push_back(group.inputs[i]);
            data.push_back(kernel.inputs[i]);
        }
    group.inputs = std::move(inputs);
    kernel.inputs = std::move(data);
    return drop_directives(kernel, [&](const expr::Directive& directive) {
        return !group.stage(directive.stage) || (!directive.at.empty() && !group.stage(directive.at));
    });
}

}  // namespace whittle::reduce::kernel
