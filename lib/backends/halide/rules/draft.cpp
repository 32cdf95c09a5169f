#include "backends/halide/rules/draft.h"

#include <algorithm>

#include "base/error.h"

namespace whittle::halide {

bool has_vector_functions(const expr::Expr& root) {
    bool found = false;
    expr::visit(root, [&](const expr::Expr& e) {
        found = found || (e->dtype == DType::f32 && std::ranges::count(kVectorFunctions, e->op) > 0);
    });
    return found;
}

std::int64_t points(const std::vector<expr::LoopVar>& loops) {
    std::int64_t count = 1;
    for (const expr::LoopVar& v : loops) count *= v.extent;
    return count;
}

bool Draft::is_output(const std::string& stage) const {
    return std::ranges::find(group_.outputs, stage) != group_.outputs.end();
}

int Draft::add(expr::Directive directive, std::vector<int> requires_) {
    directive.requires_ = std::move(requires_);
    schedule_.push_back(std::move(directive));
    return static_cast<int>(schedule_.size()) - 1;
}

std::string Draft::parallel(const std::string& stage, const std::string& loop, std::int64_t count,
                            const std::vector<int>& requires_) {
    using Kind = expr::Directive::Kind;
    constexpr std::int64_t kMostTasks = 16, kPieces = 8;
    if (count <= kMostTasks) {
        add({.kind = Kind::parallel, .stage = stage, .args = {loop}}, requires_);
        return loop;
    }
    const int pieces = add({.kind = Kind::split,
                            .stage = stage,
                            .args = {loop, loop + "_p", loop + "_c"},
                            .factor = ceil_div(count, kPieces),
                            .tail = "GuardWithIf"},
                           requires_);
    add({.kind = Kind::parallel, .stage = stage, .args = {loop + "_p"}}, {pieces});
    return loop + "_c";
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
