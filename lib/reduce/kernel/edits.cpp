#include "reduce/kernel/edits.h"

#include <algorithm>
#include <set>

namespace whittle::reduce::kernel {

using expr::Expr;
using expr::Group;
using expr::Op;
using expr::Stage;

void each_expression(Stage& stage, const std::function<Expr(const Expr&)>& f) {
    stage.value = f(stage.value);
    for (expr::Update& update : stage.updates) {
        for (Expr& index : update.where) index = f(index);
        update.value = f(update.value);
        if (update.condition) update.condition = f(update.condition);
    }
}

void each_expression(Group& group, const std::function<Expr(const Expr&)>& f) {
    for (Stage& stage : group.stages) each_expression(stage, f);
}

Expr substituted(const Expr& root, const std::map<std::string, Expr>& values) {
    return expr::rewrite(root, [&](const Expr& e) {
        if (e->op != Op::variable) return e;
        const auto found = values.find(e->name);
        return found == values.end() ? e : found->second;
    });
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
            if (static_cast<int>(i) == kernel.guilty) return false;
            continue;
        }
        for (int& needed : directive.requires_) needed = position[static_cast<std::size_t>(needed)];
        position[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(directive));
    }
    if (kernel.guilty >= 0) kernel.guilty = position[static_cast<std::size_t>(kernel.guilty)];
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
    std::set<std::string> needed(group.outputs.begin(), group.outputs.end());
    for (auto stage = group.stages.rbegin(); stage != group.stages.rend(); ++stage) {
        if (!needed.contains(stage->name)) continue;
        each_expression(*stage, [&](const Expr& root) {
            expr::visit(root, [&](const Expr& e) {
                if (e->op == Op::load) needed.insert(e->name);
            });
            return root;
        });
    }
    std::erase_if(group.stages, [&](const Stage& stage) { return !needed.contains(stage.name); });
    std::vector<expr::Input> inputs;
    std::vector<Tensor> data;
    for (std::size_t i = 0; i < group.inputs.size(); i++)
        if (needed.contains(group.inputs[i].name)) {
            inputs.push_back(group.inputs[i]);
            data.push_back(kernel.inputs[i]);
        }
    group.inputs = std::move(inputs);
    kernel.inputs = std::move(data);
    return drop_directives(kernel, [&](const expr::Directive& directive) {
        return !group.stage(directive.stage) || (!directive.at.empty() && !group.stage(directive.at));
    });
}

std::string fresh_name(const Group& group, const std::string& wanted) {
    std::set<std::string> taken;
    for (const expr::Input& input : group.inputs) taken.insert(input.name);
    for (const Stage& stage : group.stages) {
        taken.insert(stage.name);
        for (const expr::LoopVar& var : stage.vars) taken.insert(var.name);
        for (const expr::Update& update : stage.updates)
            for (const expr::LoopVar& var : update.domain) taken.insert(var.name);
    }
    std::string name = wanted;
    for (int i = 2; taken.contains(name) || !expr::is_identifier(name); i++) name = wanted + std::to_string(i);
    return name;
}

}  // namespace whittle::reduce::kernel
