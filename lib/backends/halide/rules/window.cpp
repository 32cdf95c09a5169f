#include "backends/halide/rules/window.h"

#include "backends/halide/rules/folds.h"

namespace whittle::halide {
namespace {

using expr::Directive;
using expr::Expr;
using expr::LoopVar;
using expr::Stage;
using Kind = Directive::Kind;

constexpr std::int64_t kMostTerms = 32;
constexpr std::int64_t kFewestColumns = 8;

/// start + the terms, one for each point of the domain, in order.
Expr written_out(const Stage& stage, const Fold& fold) {
    const std::vector<LoopVar>& domain = stage.updates[0].domain;
    Expr sum = stage.value;
    for (std::int64_t term = 0; term < points(domain); term++) {
        Expr element = fold.element;
        std::int64_t rest = term;
        for (auto v = domain.rbegin(); v != domain.rend(); ++v) {
            element = with(element, v->name, expr::index(rest % v->extent));
            rest /= v->extent;
        }
        sum = sum + element;
    }
    return sum;
}

}  // namespace

bool schedule_window(Draft& draft, const std::string& name, const Machine& machine) {
    Stage& stage = draft.stage(name);
    const auto fold = draft.is_finished(name) ? std::nullopt : fold_of(stage);
    if (!fold || !fold->sum || stage.dtype != DType::f32 || stage.vars.size() < 2) return false;
    const std::int64_t terms = points(stage.updates[0].domain);
    if (terms < 2 || terms > kMostTerms || points(stage.vars) * terms < machine.least_work) return false;
    const LoopVar columns = stage.vars.back();
    if (columns.extent < kFewestColumns) return false;
    stage.value = written_out(stage, *fold);
    stage.updates.clear();

    const std::string reader = reader_in_place(draft, name);
    std::vector<int> stored;
    if (!reader.empty()) {
        const std::string at = draft.group().stage(reader)->vars[stage.vars.size() - 2].name;
        stored = {draft.add({.kind = Kind::compute_at, .stage = name, .args = {at}, .at = reader})};
        const auto width = machine.vector_bytes / static_cast<std::int64_t>(sizeof(float));
        draft.add({.kind = Kind::vectorize,
                   .stage = name,
                   .args = {columns.name},
                   .factor = columns.extent < width ? kFewestColumns : width,
                   .tail = "ShiftInwards"},
                  stored);
        draft.finish(name);
    }
    draft.add({.kind = Kind::contract, .stage = name}, stored);
    return true;
}

}  // namespace whittle::halide
