// Schedule rules: correct for every group first, then quick. Every stage is stored (nothing with updates is ever
// inlined), the innermost dimension is vectorized where it is wide enough and the outermost runs in parallel where
// there is work.
//
// Tails: an initial definition computes a few elements again (ShiftInwards), an update must not (GuardWithIf), nor may
// its guard leave a single element where Halide would lose it (may_lose_tail).
#include <algorithm>

#include "backends/halide/definitions.h"
#include "backends/halide/planned.h"
#include "backends/halide/rules/contraction.h"
#include "backends/halide/rules/folds.h"
#include "backends/halide/rules/rules.h"
#include "expr/parts.h"
#include "graph/backend_options.h"

namespace whittle::halide {
namespace {

using expr::Directive;
using expr::Group;
using expr::Schedule;
using expr::Stage;

constexpr std::int64_t kLoadBytes = 32;          // a vector: what only loads and stores is no quicker in wider ones
constexpr std::int64_t kManyLoads = 8;           // of a window that is written out
constexpr std::int64_t kFewCalls = 512;          // 64 of the C library's exp, tanh or erf take longer than all else
constexpr std::int64_t kParallelWork = 1 << 16;  // element evaluations below which starting threads costs more

/// Of a vector of so many bytes.
std::int64_t lanes(DType dtype, std::int64_t bytes) {
    return std::max<std::int64_t>(4, bytes / static_cast<std::int64_t>(size_of(dtype)));
}

std::int64_t work(const Stage& stage) {
    std::int64_t points = element_count(stage.sizes()), updates = 0;
    for (const expr::Update& update : stage.updates) {
        std::int64_t domain = 1;
        for (const expr::LoopVar& var : update.domain) domain *= std::max<std::int64_t>(var.extent, 1);
        updates += domain;
    }
    return points * (1 + updates);
}

/// Distinct ones of the expression.
std::int64_t loads(const expr::Expr& value) {
    std::int64_t count = 0;
    expr::visit(value, [&](const expr::Expr& e) { count += e->op == expr::Op::load; });
    return count;
}

/// Whether the update writes along stage variable `d` at its own position and nowhere reads the stage across it: then
/// the points of that dimension are independent, and Halide takes it as a pure dimension.
bool is_pure_dimension(const Stage& stage, const expr::Update& update, std::size_t d) {
    const std::string& name = stage.vars[d].name;
    if (!is_variable(update.where[d], name)) return false;
    bool pure = true;
    const auto check = [&](const expr::Expr& expr) {
        if (expr->op == expr::Op::load && expr->name == stage.name) pure &= is_variable(expr->operands[d], name);
    };
    expr::visit(update.value, check);
    if (update.condition) expr::visit(update.condition, check);
    for (const expr::Expr& where : update.where) expr::visit(where, check);
    return pure;
}

class Rules {
  public:
    Rules(Group& group, const Machine& machine) : group_(group), machine_(machine), draft_(group) {}

    Schedule run(bool with_rules) {
        with_rules_ = with_rules;
        if (with_rules) apply_rules();
        const Prepared prepared(group_);
        prepared_ = &prepared;
        for (const Stage& stage : group_.stages) {
            if (draft_.is_finished(stage.name)) continue;
            stored_.clear();
            // The loops of an inlined stage cannot be scheduled.
            if (!draft_.is_output(stage.name))
                stored_ = {draft_.add({.kind = Directive::Kind::compute_root, .stage = stage.name})};
            loops(stage, -1);
            for (std::size_t k = 0; k < stage.updates.size(); k++) loops(stage, static_cast<int>(k));
        }
        return draft_.take();
    }

  private:
    void apply_rules() {
        for (const std::string& name : stages()) schedule_contraction(draft_, name, machine_);
        for (const std::string& name : stages()) schedule_window(draft_, name, machine_);
        schedule_rows(draft_, machine_);
        for (const std::string& name : stages()) schedule_transpose(draft_, name, machine_);
    }

    /// Their names now: rules add stages.
    std::vector<std::string> stages() const {
        std::vector<std::string> names;
        for (const Stage& stage : group_.stages) names.push_back(stage.name);
        return names;
    }

    void loops(const Stage& stage, int update) {
        if (stage.vars.empty()) return;
        const auto usable = [&](std::size_t d) {
            return update < 0 || is_pure_dimension(stage, stage.updates[static_cast<std::size_t>(update)], d);
        };
        const std::size_t inner = stage.vars.size() - 1;
        const expr::Expr& value = update < 0 ? stage.value : stage.updates[static_cast<std::size_t>(update)].value;
        const bool functions = kFewCalls * work(stage) >= machine_.least_work && has_vector_functions(value);
        const std::int64_t extent = stage.vars[inner].extent;
        const std::int64_t widest = lanes(stage.dtype, machine_.vector_bytes);
        const std::int64_t width =
            (functions || loads(value) >= kManyLoads) && extent >= widest ? widest : lanes(stage.dtype, kLoadBytes);
        const bool vectorize =
            extent >= width && usable(inner) && !(update >= 0 && extent % width == 1 && loses_tail(stage, update));
        const std::int64_t period = with_rules_ && update < 0 ? period_of(stage) : 0;
        if (vectorize && period > 0)
            interleave(draft_, stage, period, width, stored_);
        else if (vectorize)
            add({.kind = Directive::Kind::vectorize,
                 .stage = stage.name,
                 .update = update,
                 .args = {stage.vars[inner].name},
                 .factor = width,
                 .tail = update < 0 ? "ShiftInwards" : "GuardWithIf"});
        if (vectorize && functions) add({.kind = Directive::Kind::vector_math, .stage = stage.name, .update = update});
        if (terms(stage) * work(stage) >= kParallelWork && has_neighbour_by_rows(stage)) {
            const std::string& rows = stage.vars[inner - 1].name;
            std::vector<std::string> order;
            for (std::size_t d = inner - 1; d-- > 0;) order.push_back(stage.vars[d].name);
            order.push_back(rows);
            add({.kind = Directive::Kind::reorder, .stage = stage.name, .args = order});
            draft_.parallel(stage.name, rows, stage.vars[inner - 1].extent, stored_);
            return;
        }
        for (std::size_t d = 0; d < stage.vars.size(); d++) {
            if (d == inner && vectorize) break;
            if (stage.vars[d].extent < 2) continue;
            if (terms(stage) * work(stage) >= kParallelWork && usable(d))
                add({.kind = Directive::Kind::parallel,
                     .stage = stage.name,
                     .update = update,
                     .args = {stage.vars[d].name}});
            break;  // only the outermost loop that is one
        }
    }

    /// Whether it reads, or is read by, what threads compute by rows of its images: then each of them finds most of
    /// what it reads in its own cache. Where something is computed in the stage's loops, they stay.
    bool has_neighbour_by_rows(const Stage& stage) const {
        if (stage.vars.size() < 3 || stage.vars[stage.vars.size() - 2].extent < kRowsToShare || !stage.updates.empty())
            return false;
        for (const Directive& directive : draft_.schedule())
            if (directive.kind == Directive::Kind::compute_at && directive.at == stage.name) return false;
        const auto reads = [](const Stage& reader, const std::string& name) {
            bool found = false;
            expr::visit(reader, [&](const expr::Expr& e) { found |= e->op == expr::Op::load && e->name == name; });
            return found;
        };
        return std::ranges::any_of(group_.stages, [&](const Stage& other) {
            return draft_.shares_rows(other.name) && other.vars.size() == stage.vars.size() &&
                   (reads(other, stage.name) || reads(stage, other.name));
        });
    }

    /// How many elements a sum that is written out reads, in the stage or in one that is computed in its loops; 1 where
    /// they are few.
    std::int64_t terms(const Stage& stage) const {
        std::int64_t count = loads(stage.value);
        for (const Directive& directive : draft_.schedule())
            if (directive.kind == Directive::Kind::compute_at && directive.at == stage.name)
                count += loads(group_.stage(directive.stage)->value);
        return count < kManyLoads ? 1 : count;
    }

    bool loses_tail(const Stage& stage, int update) const {
        const Definition* definition = prepared_->definition({.stage = stage.name, .update = update});
        return definition && may_lose_tail(*definition, group_);
    }

    void add(Directive directive) { draft_.add(std::move(directive), stored_); }

    const Group& group_;
    const Machine& machine_;
    Draft draft_;
    const Prepared* prepared_ = nullptr;
    bool with_rules_ = false;
    std::vector<int> stored_;  // the directive that stores the stage at hand, if it needs one
};

/// The processor that default_target() names.
const Machine& machine() {
    static const Machine found = [] {
        const bool avx512 = default_target().find("avx512") != std::string::npos;
        return avx512 ? Machine{.vector_bytes = 64, .accumulators = 26} : Machine{};  // of 32 registers, or of 16
    }();
    return found;
}

}  // namespace

RuleUse rule_use(const BackendOptions& options) {
    return static_cast<RuleUse>(option_choice(options, "rules", {"auto", "plain", "always"}));
}

Schedule schedule(Group& group, RuleUse use) { return schedule(group, machine(), use); }

Schedule schedule(Group& group, const Machine& machine, RuleUse use) {
    Machine used = machine;
    if (use == RuleUse::always) used.least_work = used.least_parallel = used.shortest_row = 1;
    return Rules(group, used).run(use != RuleUse::plain);
}

}  // namespace whittle::halide
