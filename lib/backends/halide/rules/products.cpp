// Which sums of products are contractions that are worth their tiles.
#include <map>

#include "backends/halide/rules/contraction.h"
#include "backends/halide/rules/folds.h"
#include "backends/halide/rules/rules.h"
#include "expr/parts.h"

namespace whittle::halide {
namespace {

using expr::Expr;
using expr::LoopVar;
using expr::Stage;

// Sums are worth their tiles with a quarter of the work that others need: the plain loops keep them in memory.
constexpr std::int64_t kLessWorkOfSums = 4;
constexpr std::int64_t kRowsAlongSum = 4;  // so few rows are no reason to pack what is used for them alone

/// Without the loops of one step of the sum's domain, unless there are no others: a convolution of points is a matrix
/// product, and one of single channels reads its image's channel at the result's own.
Stage without_single_steps(Stage stage) {
    for (expr::Update& update : stage.updates) {
        std::map<std::string, Expr> first;
        for (const LoopVar& v : update.domain)
            if (v.extent == 1 && first.size() + 1 < update.domain.size()) first[v.name] = expr::index(0);
        std::erase_if(update.domain, [&](const LoopVar& v) { return first.contains(v.name); });
        update.value = expr::substituted(update.value, first);
    }
    return stage;
}

/// Whether few rows are multiplied with what is no constant and lies along the sum: packing it would take longer than
/// the sums, which then run along its rows as they lie (rules/rows).
bool lies_along_sum(const expr::Group& group, const Contraction& sum, const Machine& machine) {
    const expr::Input* input = group.input(sum.right->name);
    const std::vector<LoopVar>& domain = sum.sums.updates[0].domain;
    if (!input || input->constant || input->strides.back() != 1 || sum.rows > kRowsAlongSum || domain.empty())
        return false;
    const auto runs = [&](const Expr& factor) { return is_variable(factor->operands.back(), domain.back().name); };
    return domain.back().extent >= machine.shortest_row && runs(sum.right) && sum.left && runs(sum.left);
}

/// Whether groups, whose few lanes may leave some of a vector idle, take no longer than a window, in vectors along the
/// result's columns.
bool pays_in_groups(const expr::Group& group, const Contraction& grouped, const Machine& machine) {
    constexpr double kInFavor = 1.3;  // packed weights: the image is read less, by fewer vectors that lie across lines
    if (grouped.steps > kMostTerms) {
        const auto sliding = sliding_contraction_of(group, without_single_steps(*group.stage(grouped.stage)));
        return !sliding || cycles_of(grouped, machine) <= kInFavor * cycles_of(*sliding, machine);
    }
    const std::int64_t width = machine.lanes(DType::f32), columns = grouped.rows;
    const auto loads = static_cast<double>(grouped.steps * ceil_div(columns, width));  // one a cycle
    return cycles_of(grouped, machine) <= loads / static_cast<double>(columns);
}

}  // namespace

bool schedule_contraction(Draft& draft, const std::string& name, const Machine& machine) {
    const Stage& stage = *draft.group().stage(name);
    auto contraction = contraction_of(draft.group(), stage);
    if (!contraction) {
        contraction = grouped_contraction_of(draft.group(), stage);
        if (contraction && !pays_in_groups(draft.group(), *contraction, machine)) return false;
    }
    if (!contraction || kLessWorkOfSums * contraction->products < machine.least_work) return false;
    if (lies_along_sum(draft.group(), *contraction, machine)) return false;
    if (contraction->lane_is_innermost && contraction->lanes < machine.lanes(DType::f32)) {
        const auto across = contraction_across(draft.group(), stage);  // in whole vectors, maybe
        if (across && cycles_of(*across, machine) < cycles_of(*contraction, machine)) contraction = across;
    } else if (contraction->group.empty() && !contraction->lane_is_innermost) {
        const auto simpler = contraction_of(draft.group(), without_single_steps(stage));
        if (simpler && simpler->lane_is_innermost && pays_along(*simpler, machine)) contraction = simpler;
    }
    schedule_tiles(draft, *contraction, machine);
    return true;
}

bool schedule_sliding(Draft& draft, const std::string& name, const Machine& machine) {
    const auto sliding = sliding_contraction_of(draft.group(), without_single_steps(*draft.group().stage(name)));
    if (!sliding || kLessWorkOfSums * sliding->products < machine.least_work) return false;
    schedule_tiles(draft, *sliding, machine);
    return true;
}

}  // namespace whittle::halide
