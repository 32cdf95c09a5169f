#include "backends/halide/rules/rules.h"

#include <algorithm>
#include <bit>
#include <map>

#include "backends/halide/rules/contraction.h"
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

// Of a step that reads the element more than once (a maximum compares it and keeps it): what is written out doubles
// with each wherever Halide takes a shared expression for two.
constexpr std::int64_t kMostTermsReadTwice = 9;
constexpr std::int64_t kFewestColumns = 3;
constexpr std::int64_t kLessWork = 8;  // than others need: the plain loops keep the element in memory
constexpr std::int64_t kNarrowestVector = 4;
constexpr std::int64_t kPlainVector = 8;  // what the loops that are left to others are vectorized by

/// Whether the stage is one element's fold over a domain, step by step: its update rewrites each element from itself
/// and others.
bool is_fold(const Stage& stage) {
    if (stage.updates.size() != 1 || stage.updates[0].condition || stage.updates[0].domain.empty()) return false;
    const expr::Update& update = stage.updates[0];
    for (std::size_t d = 0; d < stage.vars.size(); d++)
        if (!is_variable(update.where[d], stage.vars[d].name)) return false;
    bool own = true;
    expr::visit(update.value, [&](const Expr& e) {
        if (e->op == Op::load && e->name == stage.name) own = own && is_itself(e, stage);
    });
    return own;
}

/// How often a step reads the element.
int reads_of_itself(const Stage& stage) {
    int count = 0;
    expr::visit(stage.updates[0].value, [&](const Expr& e) {
        for (const Expr& operand : e->operands) count += is_itself(operand, stage);
    });
    return count;
}

/// `e` in the step with this number.
Expr in_step(const Expr& e, const std::vector<LoopVar>& domain, std::int64_t number) {
    std::map<std::string, Expr> at;
    for (auto v = domain.rbegin(); v != domain.rend(); ++v) {
        at[v->name] = expr::index(number % v->extent);
        number /= v->extent;
    }
    return expr::substituted(e, at);
}

/// The steps from this one on, one for each point of the domain, in order; `element` is what they begin with.
Expr written_out(const Stage& stage, Expr element, std::int64_t first) {
    const expr::Update& update = stage.updates[0];
    for (std::int64_t number = first; number < points(update.domain); number++)
        element = expr::rewrite(in_step(update.value, update.domain, number),
                                [&](const Expr& e) { return is_itself(e, stage) ? element : e; });
    return element;
}

/// Writes a sum of products out, and leaves what it starts from to the stage that reads it in place; if there is none
/// such, to one that takes its name. Contracted, a sum that starts from 0 would not: under LLVM's "no signed zeros"
/// flag an addition of 0 is dropped, and a sum of nothing but -0 is -0. The name of the stage of the terms.
std::string write_terms_out(Draft& draft, const std::string& name) {
    const Stage sum = *draft.group().stage(name);
    Stage terms = sum;
    terms.name = expr::fresh_name(draft.group(), name + "_terms");
    terms.value = written_out(sum, in_step(fold_of(sum)->element, sum.updates[0].domain, 0), 1);
    terms.updates.clear();
    const auto with_start = [&](const Expr& e) {
        if (e->op != Op::load || e->name != name) return e;
        std::map<std::string, Expr> at;
        for (std::size_t d = 0; d < sum.vars.size(); d++) at[sum.vars[d].name] = e->operands[d];
        return expr::substituted(sum.value, at) + expr::load(terms.name, sum.dtype, e->operands);
    };
    const std::string reader = reader_in_place(draft, name);
    if (reader.empty()) {
        draft.insert_before(name, terms);
        draft.stage(name).value = with_start(expr::load(name, sum.dtype, expr::variables(sum.vars)));
        draft.stage(name).updates.clear();
    } else {
        draft.stage(reader).value = expr::rewrite(draft.stage(reader).value, with_start);
        draft.stage(name) = terms;
    }
    return terms.name;
}

/// What the window reads of a stage that nobody else reads and that can be computed as it goes (a padded image): its
/// name, and the number of leading dimensions in which an element of the window reads at its own place.
struct Read {
    std::string name;
    std::size_t own = 0;
};
std::vector<Read> only_read_by(const Draft& draft, const Stage& window) {
    std::vector<Read> found;
    for (const Stage& read : draft.group().stages) {
        if (read.name == window.name || !read.updates.empty() || draft.is_output(read.name) ||
            draft.is_finished(read.name) || read.vars.size() != window.vars.size())
            continue;
        std::size_t own = 0;
        bool reads = false, others = false;
        for (const Stage& stage : draft.group().stages)
            expr::visit(stage, [&](const Expr& e) {
                if (e->op != Op::load || e->name != read.name) return;
                if (stage.name != window.name) {
                    others = true;
                    return;
                }
                std::size_t same = 0;
                while (same < window.vars.size() && is_variable(e->operands[same], window.vars[same].name) &&
                       read.vars[same].extent == window.vars[same].extent)
                    same++;
                own = reads ? std::min(own, same) : same;
                reads = true;
            });
        if (reads && !others && own > 0 && own < window.vars.size()) found.push_back({read.name, own});
    }
    return found;
}

/// Columns in vectors: of the machine's width, of a narrower one, or one by one.
std::int64_t width_for(std::int64_t columns, const Machine& machine) {
    const std::int64_t most = machine.lanes(DType::f32);
    const auto width = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(columns, most))));
    return width < kNarrowestVector ? 1 : width;
}

/// The stage's columns, in vectors of this width.
void vectorize(Draft& draft, const std::string& stage, std::int64_t width, const std::vector<int>& needs) {
    const expr::Stage& of = *draft.group().stage(stage);
    if (const std::int64_t period = period_of(of); period > 0 && width > 1)
        interleave(draft, of, period, width, needs);
    else if (width > 1)
        draft.add({.kind = Kind::vectorize,
                   .stage = stage,
                   .args = {draft.group().stage(stage)->vars.back().name},
                   .factor = width,
                   .tail = "ShiftInwards"},
                  needs);
}

/// The update that split_border() makes, where its rows are whole vectors.
void copy_in_vectors(Draft& draft, const std::string& name, const Machine& machine, int placed) {
    const LoopVar& row = draft.group().stage(name)->updates[0].domain.back();
    std::int64_t width = width_for(row.extent, machine);
    while (width >= kNarrowestVector && row.extent % width != 0) width /= 2;
    if (width < kNarrowestVector) return;
    draft.add({.kind = Kind::vectorize,
               .stage = name,
               .update = 0,
               .args = {row.name},
               .factor = width,
               .tail = "GuardWithIf"},
              {placed});
}

}  // namespace

bool schedule_window(Draft& draft, const std::string& original, const Machine& machine) {
    const Stage stage = *draft.group().stage(original);
    if (draft.is_finished(original) || !is_fold(stage) || stage.dtype != DType::f32 || stage.vars.size() < 2)
        return false;
    const std::int64_t terms = points(stage.updates[0].domain);
    const std::int64_t most = reads_of_itself(stage) > 1 ? kMostTermsReadTwice : kMostTerms;
    if (terms > most) return schedule_sliding(draft, original, machine);
    if (terms < 2) return false;
    const std::int64_t less = contraction_of(draft.group(), stage) ? 1 : kLessWork;  // a small matrix product stays one
    if (less * points(stage.vars) * terms < machine.least_work) return false;
    const LoopVar columns = stage.vars.back();
    if (columns.extent < kFewestColumns) return false;
    const bool products = is_sum_of_products(stage);
    const std::string name = products ? write_terms_out(draft, original) : original;
    if (!products) {
        draft.stage(name).value = written_out(stage, stage.value, 0);
        draft.stage(name).updates.clear();
    }

    const std::string reader = reader_in_place(draft, name);
    const std::string last = reader.empty() ? name : reader;  // whose loops run
    const std::int64_t width = width_for(columns.extent, machine);
    std::vector<int> stored;
    if (!reader.empty()) {
        const std::string at = draft.group().stage(reader)->vars[stage.vars.size() - 2].name;
        stored = {draft.add({.kind = Kind::compute_at, .stage = name, .args = {at}, .at = reader})};
        vectorize(draft, name, width, stored);
        draft.finish(name);
    }
    if (columns.extent < kPlainVector && draft.group().stage(last)->dtype == DType::f32)
        vectorize(draft, last, width, {});
    if (products) draft.add({.kind = Kind::contract, .stage = name}, stored);
    compute_with_window(draft, name, last, machine, stored,
                        [&](std::size_t own) { return draft.group().stage(last)->vars[own - 1].name; });
    return true;
}

void compute_with_window(Draft& draft, const std::string& window, const std::string& last, const Machine& machine,
                         const std::vector<int>& needs, const std::function<std::string(std::size_t)>& loop) {
    for (const Read& read : only_read_by(draft, *draft.group().stage(window))) {
        const std::string at = loop(read.own);
        if (at.empty()) continue;
        const int placed = draft.add({.kind = Kind::compute_at, .stage = read.name, .args = {at}, .at = last}, needs);
        vectorize(draft, read.name, width_for(draft.group().stage(read.name)->vars.back().extent, machine), {placed});
        if (split_border(draft.stage(read.name))) copy_in_vectors(draft, read.name, machine, placed);
        draft.finish(read.name);
    }
}

}  // namespace whittle::halide
