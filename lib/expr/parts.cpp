#include "expr/parts.h"

namespace whittle::expr {

void visit(const Stage& stage, const std::function<void(const Expr&)>& f) {
    visit(stage.value, f);
    for (const Update& update : stage.updates) {
        for (const Expr& index : update.where) visit(index, f);
        visit(update.value, f);
        if (update.condition) visit(update.condition, f);
    }
}

std::set<std::string> loaded_by(const Stage& stage) {
    std::set<std::string> names;
    visit(stage, [&](const Expr& e) {
        if (e->op == Op::load && e->name != stage.name) names.insert(e->name);
    });
    return names;
}

std::set<std::string> needed(const Group& group) {
    std::set<std::string> names(group.outputs.begin(), group.outputs.end());
    for (auto stage = group.stages.rbegin(); stage != group.stages.rend(); ++stage)
        if (names.contains(stage->name)) names.merge(loaded_by(*stage));
    return names;
}

Expr substituted(const Expr& root, const std::map<std::string, Expr>& values) {
    return rewrite(root, [&](const Expr& e) {
        if (e->op != Op::variable) return e;
        const auto found = values.find(e->name);
        return found == values.end() ? e : found->second;
    });
}

std::string fresh_name(const Group& group, const std::string& wanted) {
    const std::set<std::string> taken = names_in(group);
    std::string name = wanted;
    for (int i = 2; taken.contains(name) || !is_identifier(name); i++) name = wanted + std::to_string(i);
    return name;
}

}  // namespace whittle::expr
