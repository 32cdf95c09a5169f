#include "expr/canonical.h"

#include <map>
#include <unordered_map>

#include "base/error.h"

namespace whittle::expr {
namespace {

using Renaming = std::map<std::string, std::string>;

Renaming renaming(const Group& group) {
    Renaming names;
    for (std::size_t i = 0; i < group.inputs.size(); i++) names[group.inputs[i].name] = "in" + std::to_string(i);
    for (std::size_t i = 0; i < group.stages.size(); i++) names[group.stages[i].name] = 's' + std::to_string(i);
    return names;
}

/// Rebuilds expressions with loads renamed; shared nodes stay shared.
class Renamer {
  public:
    explicit Renamer(const Renaming& names) : names_(names) {}

    Expr operator()(const Expr& expr) {
        if (!expr) return expr;
        if (const auto found = done_.find(expr.get()); found != done_.end()) return found->second;
        std::vector<Expr> operands;
        for (const Expr& operand : expr->operands) operands.push_back((*this)(operand));
        return done_[expr.get()] = rebuilt(*expr, std::move(operands));
    }

  private:
    Expr rebuilt(const Node& node, std::vector<Expr> operands) const {
        switch (node.op) {
            case Op::constant:
                return constant(node.dtype, node.number);
            case Op::variable:
                return variable(node.name);
            case Op::load:
                return load(names_.at(node.name), node.dtype, std::move(operands));
            case Op::cast:
                return cast(node.dtype, operands[0]);
            case Op::select:
                return select(operands[0], operands[1], operands[2]);
            default:
                return operands.size() == 1 ? unary(node.op, operands[0]) : binary(node.op, operands[0], operands[1]);
        }
    }

    const Renaming& names_;
    std::unordered_map<const Node*, Expr> done_;
};

}  // namespace

Group canonical(const Group& group) {
    const Renaming names = renaming(group);
    Renamer rename(names);
    Group result = group;
    result.name = "kernel";
    for (Input& input : result.inputs) input.name = names.at(input.name);
    for (Stage& stage : result.stages) {
        stage.name = names.at(stage.name);
        stage.origin.clear();
        stage.value = rename(stage.value);
        for (Update& update : stage.updates) {
            update.value = rename(update.value);
            update.condition = rename(update.condition);
            for (Expr& where : update.where) where = rename(where);
        }
    }
    for (std::string& output : result.outputs) output = names.at(output);
    return result;
}

Schedule canonical(const Schedule& schedule, const Group& group) {
    const Renaming names = renaming(group);
    Schedule result = schedule;
    // Who compiles the schedule refuses a stage that is not there.
    const auto rename = [&](std::string& name) {
        if (const auto known = names.find(name); known != names.end()) name = known->second;
    };
    for (Directive& directive : result) {
        rename(directive.stage);
        rename(directive.at);
    }
    return result;
}

std::string key(const Group& group, const Schedule& schedule) {
    std::string text = print(canonical(group));
    const Schedule renamed = canonical(schedule, group);
    for (const Directive* directive : active(renamed)) text += print(*directive) + "\n";
    return text;
}

}  // namespace whittle::expr
