#include "backends/halide/rules/draft.h"

#include <algorithm>

#include "base/error.h"

namespace whittle::halide {

bool has_vector_functions(const expr::Expr& root) {
    bool found = false;
    expr::visit(root, [&](const expr::Expr& e) {
        found = found || (e->dtype == DType::f32 &&
                          (e->op == expr::Op::exp || e->op == expr::Op::tanh || e->op == expr::Op::erf));
    });
    return found;
}

bool Draft::is_output(const std::string& stage) const {
    return std::ranges::find(group_.outputs, stage) != group_.outputs.end();
}

int Draft::add(expr::Directive directive, std::vector<int> requires_) {
    directive.requires_ = std::move(requires_);
    schedule_.push_back(std::move(directive));
    return static_cast<int>(schedule_.size()) - 1;
}

std::string Draft::unique(const std::string& wanted) const {
    const auto taken = [&](const std::string& name) { return group_.stage(name) || group_.input(name); };
    std::string name = wanted;
    for (int i = 1; taken(name); i++) name = wanted + std::to_string(i);
    return name;
}

std::size_t Draft::position(const std::string& stage) const {
    const auto found = std::ranges::find(group_.stages, stage, &expr::Stage::name);
    WHITTLE_CHECK(found != group_.stages.end(), "group " + group_.name + " has no stage " + stage);
    return static_cast<std::size_t>(found - group_.stages.begin());
}

void Draft::insert_before(const std::string& place, expr::Stage stage) {
    group_.stages.insert(group_.stages.begin() + static_cast<std::ptrdiff_t>(position(place)), std::move(stage));
}

void Draft::insert_behind(const std::string& place, expr::Stage stage) {
    group_.stages.insert(group_.stages.begin() + static_cast<std::ptrdiff_t>(position(place)) + 1, std::move(stage));
}

}  // namespace whittle::halide
