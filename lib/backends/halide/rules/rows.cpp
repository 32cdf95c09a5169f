#include "backends/halide/rules/rules.h"

#include <algorithm>
#include <bit>

#include "backends/halide/rules/folds.h"
#include "expr/parts.h"

namespace whittle::halide {
namespace {

using expr::Directive;
using expr::Expr;
using expr::LoopVar;
using expr::Op;
using expr::Stage;
using Kind = Directive::Kind;

constexpr std::int64_t kMostVectors = 4;        // folded at a time, to hide an addition's latency
constexpr std::int64_t kLatency = 4;            // cycles
constexpr std::int64_t kTwoMoreStages = 10;     // cycles, of lanes that are stored and loaded
constexpr std::int64_t kNarrowest = 4;          // elements of a vector
constexpr std::int64_t kWorkOfRowElement = 16;  // of a row, in multiply-adds

/// Whether neighbours along the variable lie beside each other in all that is loaded by it: a row.
bool runs_along(const Draft& draft, const Expr& element, const std::string& variable) {
    bool found = false, along = true;
    expr::visit(element, [&](const Expr& e) {
        if (e->op != Op::load || !mentions(e, Op::variable, variable)) return;
        found = true;
        const expr::Input* input = draft.group().input(e->name);
        along = along && is_variable(e->operands.back(), variable) && (!input || input->strides.back() == 1);
        for (std::size_t d = 0; d + 1 < e->operands.size(); d++)
            along = along && !mentions(e->operands[d], Op::variable, variable);
    });
    return found && along;
}

/// One reduction: lanes that are folded apart, then, where there are several vectors of them, one vector, then one
/// element.
class RowFold {
  public:
    RowFold(Draft& draft, const Stage& stage, Fold fold, const Machine& machine)
        : draft_(draft), stage_(stage), fold_(std::move(fold)), row_(stage.updates[0].domain.back()) {
        width_ = machine.lanes(stage.dtype);
        if (row_.extent >= kNarrowest)
            width_ =
                static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(width_, row_.extent))));
        vectors_ = std::clamp<std::int64_t>(row_.extent / width_, 1, kMostVectors);
    }

    /// Whether it takes no more than half of the time in which the plain loops add one element after the other, each
    /// waiting for the last.
    bool pays() const {
        const std::int64_t rows = points(stage_.updates[0].domain) / row_.extent, lanes = width_ * vectors_;
        const auto halvings = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(lanes - 1)));
        const std::int64_t folded = kLatency * (rows * ceil_div(row_.extent, lanes) + halvings) + kTwoMoreStages;
        return row_.extent >= kNarrowest && 2 * folded <= kLatency * rows * row_.extent;
    }

    /// The stages; the original one keeps its name.
    void split() {
        const std::int64_t lanes = width_ * vectors_, blocks = row_.extent / lanes, rest = row_.extent % lanes;
        Stage partial{.name = expr::fresh_name(draft_.group(), stage_.name + "_lanes"),
                      .dtype = stage_.dtype,
                      .vars = stage_.vars};
        const LoopVar lane{row_.name + "_lane", lanes}, block{row_.name + "_block", blocks};
        partial.vars.push_back(lane);
        partial.origin = stage_.origin;
        partial.value = fold_.sum ? neutral_for(stage_.value) : stage_.value;
        const std::vector<Expr> where = expr::variables(partial.vars);
        const Expr itself = expr::load(partial.name, partial.dtype, where), at = expr::variable(lane.name);
        const auto folded = [&](const Expr& position) {
            return fold_(itself, with(fold_.element, row_.name, position), stage_);
        };
        std::vector<LoopVar> outer = stage_.updates[0].domain;
        outer.pop_back();
        std::vector<LoopVar> domain = outer;
        domain.push_back(block);
        partial.updates.push_back(
            {.domain = domain, .where = where, .value = folded(expr::variable(block.name) * expr::index(lanes) + at)});
        if (rest > 0) {
            // The last lanes of the row, of which the first have been folded already, lie beside each other as others
            // do; a row shorter than that is read as far as it goes.
            const Expr last =
                blocks > 0 ? expr::index(row_.extent - lanes) + at : expr::min(at, expr::index(row_.extent - 1));
            partial.updates.push_back(
                {.domain = outer,
                 .where = where,
                 .value = folded(last),
                 .condition = blocks > 0 ? expr::index(lanes - rest) <= at : at < expr::index(rest)});
            if (outer.empty()) partial.updates.back().domain = {{row_.name + "_rest", 1}};
        }
        partial_ = partial.name;
        Stage vector{.name = expr::fresh_name(draft_.group(), stage_.name + "_vector"),
                     .dtype = stage_.dtype,
                     .vars = stage_.vars};
        const LoopVar one{row_.name + "_one", width_};
        vector.vars.push_back(one);
        vector.origin = stage_.origin;
        vector.value = tree(partial_, vector.vars, expr::variable(one.name), width_, 0, vectors_);
        vector_ = vector.name;
        draft_.insert_before(stage_.name, std::move(partial));
        draft_.insert_before(stage_.name, std::move(vector));
        std::vector<LoopVar> vars = stage_.vars;
        vars.push_back(one);
        Stage& last = draft_.stage(stage_.name);
        last.updates.clear();
        const Expr whole = tree(vector_, vars, expr::index(0), 1, 0, width_);
        last.value = fold_.sum ? stage_.value + whole : whole;
    }

    /// `stored`: adds the directive that says where each of the stages is computed; its position.
    template <class Store>
    void schedule(const Store& stored) {
        const std::vector<int> partial = {stored(partial_)}, vector = {stored(vector_)};
        const std::string lane = row_.name + "_lane";
        const Stage& lanes = *draft_.group().stage(partial_);
        for (int update = -1; update < static_cast<int>(lanes.updates.size()); update++) {
            std::vector<int> needs = partial;
            if (update >= 0) {
                std::vector<std::string> order{lane};
                const std::vector<LoopVar>& domain = lanes.updates[static_cast<std::size_t>(update)].domain;
                for (auto v = domain.rbegin(); v != domain.rend(); ++v) order.push_back(v->name);
                needs.push_back(draft_.add(
                    {.kind = Kind::reorder, .stage = partial_, .update = update, .args = std::move(order)}, partial));
            }
            draft_.add({.kind = Kind::vectorize,
                        .stage = partial_,
                        .update = update,
                        .args = {lane},
                        .factor = width_,
                        .tail = update < 0 ? "ShiftInwards" : "GuardWithIf"},
                       needs);
            if (vectors_ > 1)
                draft_.add({.kind = Kind::unroll, .stage = partial_, .update = update, .args = {lane}}, needs);
        }
        draft_.add({.kind = Kind::vectorize,
                    .stage = vector_,
                    .args = {row_.name + "_one"},
                    .factor = width_,
                    .tail = "ShiftInwards"},
                   vector);
        draft_.finish(partial_);
        draft_.finish(vector_);
    }

    const std::string& name() const { return stage_.name; }
    bool is_part(const std::string& stage) const { return stage == partial_ || stage == vector_; }

  private:
    /// The fold of `count` elements of a stage, `step` apart from `begin` on, pairwise.
    Expr tree(const std::string& from, const std::vector<LoopVar>& vars, const Expr& begin, std::int64_t step,
              std::int64_t first, std::int64_t count) const {
        if (count > 1)
            return fold_(tree(from, vars, begin, step, first, count / 2),
                         tree(from, vars, begin, step, first + count / 2, count - count / 2), stage_);
        std::vector<Expr> at;
        for (std::size_t d = 0; d + 1 < vars.size(); d++) at.push_back(expr::variable(vars[d].name));
        at.push_back(begin + expr::index(first * step));
        return expr::load(from, stage_.dtype, std::move(at));
    }

    Draft& draft_;
    const Stage stage_;
    const Fold fold_;
    const LoopVar row_;
    std::int64_t width_ = 0, vectors_ = 0;
    std::string partial_, vector_;
};

/// The number of leading dimensions in which one element of the stage belongs to one row.
std::size_t row_dimensions(const Stage& stage) {
    std::size_t count = 0;
    for (std::size_t d = 0; d < stage.vars.size(); d++)
        if (stage.vars[d].extent > 1) count = d + 1;
    return count;
}

/// Whether all that is loaded of `name` in the group is of the loading element's own row.
bool stays_in_row(const expr::Group& group, const std::string& name, std::size_t dimensions) {
    bool stays = true;
    for (const Stage& stage : group.stages)
        expr::visit(stage, [&](const Expr& e) {
            if (e->op != Op::load || e->name != name) return;
            for (std::size_t d = 0; d < dimensions; d++)
                stays = stays && d < stage.vars.size() && is_variable(e->operands[d], stage.vars[d].name);
        });
    return stays;
}

class Rows {
  public:
    Rows(Draft& draft, const Machine& machine) : draft_(draft), machine_(machine) {}

    void run() {
        for (const Stage& stage : std::vector<Stage>(draft_.group().stages)) {
            if (draft_.is_finished(stage.name)) continue;
            auto fold = fold_of(stage);
            if (!fold) continue;
            const LoopVar& row = stage.updates[0].domain.back();
            const std::int64_t elements = points(stage.vars) * points(stage.updates[0].domain);
            if (4 * elements < machine_.least_work || !runs_along(draft_, fold->element, row.name)) continue;
            RowFold candidate(draft_, stage, std::move(*fold), machine_);
            if (row.extent < machine_.shortest_row && !candidate.pays()) continue;
            folds_.push_back(std::move(candidate));
            dimensions_ = std::max(dimensions_, row_dimensions(stage));
            length_ = std::max(length_, points(stage.updates[0].domain));
        }
        if (folds_.empty()) return;
        const bool together = is_one_row();
        for (RowFold& fold : folds_) fold.split();
        together ? schedule_together() : schedule_apart();
    }

  private:
    /// Whether every stage but one output belongs, row by row, to the output's rows, and has no loops that another rule
    /// has scheduled.
    bool is_one_row() const {
        const expr::Group& group = draft_.group();
        if (group.outputs.size() != 1 || dimensions_ == 0 || group.stages.back().name != group.outputs[0]) return false;
        const Stage& output = group.stages.back();
        if (!output.updates.empty() || output.vars.size() < dimensions_) return false;
        for (const Stage& stage : group.stages) {
            if (draft_.is_finished(stage.name) || stage.vars.size() < dimensions_) return false;
            const bool folded = std::ranges::any_of(folds_, [&](const RowFold& f) { return f.name() == stage.name; });
            if (!stage.updates.empty() && !folded) return false;
            for (std::size_t d = 0; d < dimensions_; d++)
                if (stage.vars[d].extent != output.vars[d].extent) return false;
            if (!stays_in_row(group, stage.name, dimensions_)) return false;
        }
        return true;
    }

    /// Shares the outermost loop that has as many steps as there should be pieces; the name of the loop inside, if it
    /// is `innermost`.
    std::string share(const Stage& stage, std::size_t dimensions, const std::vector<int>& needs,
                      const std::string& innermost) {
        std::int64_t count = 1;
        for (std::size_t d = 0; d < dimensions; d++) count *= stage.vars[d].extent;
        if (count * length_ * kWorkOfRowElement < machine_.least_parallel) return innermost;
        for (std::size_t d = 0; d < dimensions; d++) {
            const LoopVar& v = stage.vars[d];
            if (v.extent < 2 || (v.extent < kTasks && d + 1 < dimensions)) continue;
            const std::string inner = draft_.parallel(stage.name, v.name, v.extent, needs);
            return v.name == innermost ? inner : innermost;
        }
        return innermost;
    }

    /// In vectors along its innermost loop, if that is one of a row.
    void vectorize(const Stage& stage, const std::vector<int>& needs) {
        const std::int64_t width = machine_.lanes(stage.dtype);
        if (stage.vars.size() == dimensions_ || stage.vars.back().extent < width) return;
        const std::string& inner = stage.vars.back().name;
        draft_.add(
            {.kind = Kind::vectorize, .stage = stage.name, .args = {inner}, .factor = width, .tail = "ShiftInwards"},
            needs);
        if (has_vector_functions(stage.value)) draft_.add({.kind = Kind::vector_math, .stage = stage.name}, needs);
    }

    void schedule_together() {
        const Stage& output = draft_.group().stages.back();
        const std::string row = share(output, dimensions_, {}, output.vars[dimensions_ - 1].name);
        vectorize(output, {});
        const auto at_row = [&](const std::string& stage) {
            return draft_.add({.kind = Kind::compute_at, .stage = stage, .args = {row}, .at = output.name});
        };
        for (RowFold& fold : folds_) fold.schedule(at_row);
        for (const Stage& stage : draft_.group().stages) {
            const bool part = std::ranges::any_of(folds_, [&](const RowFold& f) { return f.is_part(stage.name); });
            if (!part && stage.name != output.name) vectorize(stage, {at_row(stage.name)});
            draft_.finish(stage.name);
        }
    }

    /// Each reduction by itself, its lanes in the loop over its rows.
    void schedule_apart() {
        for (RowFold& fold : folds_) {
            const Stage& stage = *draft_.group().stage(fold.name());
            std::vector<int> stored;
            if (!draft_.is_output(stage.name)) stored = {draft_.add({.kind = Kind::compute_root, .stage = stage.name})};
            draft_.finish(stage.name);
            const std::size_t dimensions = row_dimensions(stage);
            const auto place = [&](const std::string& row) {
                return [this, &stage, row, stored](const std::string& part) {
                    if (row.empty()) return draft_.add({.kind = Kind::compute_root, .stage = part});
                    return draft_.add({.kind = Kind::compute_at, .stage = part, .args = {row}, .at = stage.name},
                                      stored);
                };
            };
            if (dimensions == 0)
                fold.schedule(place({}));
            else
                fold.schedule(place(share(stage, dimensions, stored, stage.vars[dimensions - 1].name)));
        }
    }

    Draft& draft_;
    const Machine& machine_;
    std::vector<RowFold> folds_;
    std::size_t dimensions_ = 0;  ///< of rows
    std::int64_t length_ = 1;     ///< of a row, or of the rows that are folded into one element
};

}  // namespace

void schedule_rows(Draft& draft, const Machine& machine) { Rows(draft, machine).run(); }

}  // namespace whittle::halide
