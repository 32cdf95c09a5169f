#include "backends/halide/rules/rules.h"

#include <algorithm>

#include "backends/halide/rules/folds.h"

namespace whittle::halide {
namespace {

using expr::Directive;
using expr::Expr;
using expr::LoopVar;
using expr::Op;
using expr::Stage;
using Kind = Directive::Kind;

constexpr std::int64_t kWorkOfMovedElement = 8;  // in multiply-adds
constexpr std::int64_t kBlock = 16;              // elements of f32 that a cache line has

/// The variable along which a load's elements lie beside each other; null where it is none of the stage's alone.
const LoopVar* along(const Draft& draft, const Expr& load, const Stage& stage) {
    if (load->operands.empty()) return nullptr;
    std::size_t nearest = load->operands.size() - 1;
    if (const expr::Input* input = draft.group().input(load->name)) {
        const auto one = std::ranges::find(input->strides, 1);
        if (one == input->strides.end()) return nullptr;
        nearest = static_cast<std::size_t>(one - input->strides.begin());
    }
    const Expr& index = load->operands[nearest];
    if (index->op != Op::variable) return nullptr;
    const auto found = std::ranges::find(stage.vars, index->name, &LoopVar::name);
    return found == stage.vars.end() ? nullptr : &*found;
}

/// The dimension across which all that is large is read; null if there is none, or more than one.
const LoopVar* across(const Draft& draft, const Stage& stage) {
    const LoopVar* result = nullptr;
    bool one = true;
    expr::visit(stage.value, [&](const Expr& e) {
        // What the innermost loop does not move is not read across.
        if (e->op != Op::load || !mentions(e, Op::variable, stage.vars.back().name)) return;
        const LoopVar* dimension = along(draft, e, stage);
        if (!dimension || dimension == &stage.vars.back()) return;
        one = one && (!result || result == dimension);
        result = dimension;
    });
    return one ? result : nullptr;
}

}  // namespace

bool schedule_transpose(Draft& draft, const std::string& name, const Machine& machine) {
    const Stage& stage = *draft.group().stage(name);
    if (draft.is_finished(name) || !stage.updates.empty() || stage.vars.size() < 2) return false;
    const std::int64_t elements = points(stage.vars);
    if (2 * elements < machine.least_work || stage.vars.back().extent < kBlock) return false;
    const LoopVar* const other = across(draft, stage);
    if (!other || other->extent < kBlock) return false;

    std::vector<int> needs;
    if (!draft.is_output(name)) needs = {draft.add({.kind = Kind::compute_root, .stage = name})};
    const std::string row = other->name, column = stage.vars.back().name;
    const auto add = [&](Kind kind, std::vector<std::string> args, std::int64_t factor = 0,
                         const std::string& tail = {}) {
        return draft.add({.kind = kind, .stage = name, .args = std::move(args), .factor = factor, .tail = tail}, needs);
    };
    for (const std::string& loop : {row, column})
        needs.push_back(add(Kind::split, {loop, loop + "_o", loop + "_i"}, kBlock, "ShiftInwards"));
    needs.push_back(add(Kind::reorder, {column + "_i", row + "_i", column + "_o", row + "_o"}));
    const auto width = std::min(kBlock, machine.lanes(stage.dtype));
    add(Kind::vectorize, {column + "_i"}, width, "ShiftInwards");
    if (has_vector_functions(stage.value)) add(Kind::vector_math, {});
    draft.finish(name);
    if (elements * kWorkOfMovedElement < machine.least_parallel) return true;
    for (const LoopVar& v : stage.vars) {
        const bool split = v.name == row || v.name == column;
        if (v.extent < (split ? kTasks * kBlock : kTasks)) continue;
        add(Kind::parallel, {split ? v.name + "_o" : v.name});
        break;
    }
    return true;
}

}  // namespace whittle::halide
