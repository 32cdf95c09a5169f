// Schedule rules: correct for every group first, then quick. Every stage is stored (nothing with updates is ever
// inlined), the innermost dimension is vectorized where it is wide enough and the outermost runs in parallel where
// there is work.
//
// Tails: an initial definition computes a few elements again (ShiftInwards), an update must not (GuardWithIf), nor may
// its guard leave a single element where Halide would lose it (may_lose_tail).
#include <algorithm>

#include "backends/halide/definitions.h"
#include "backends/halide/planned.h"

namespace whittle::halide {
namespace {

using expr::Directive;
using expr::Expr;
using expr::Group;
using expr::Schedule;
using expr::Stage;

constexpr std::int64_t kParallelWork = 1 << 16;  // element evaluations below which starting threads costs more

/// Lanes of a 32-byte vector.
std::int64_t lanes(DType dtype) { return std::max<std::int64_t>(4, 32 / static_cast<std::int64_t>(size_of(dtype))); }

bool is_variable(const Expr& expr, const std::string& name) {
    return expr->op == expr::Op::variable && expr->name == name;
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

/// Whether the update writes along stage variable `d` at its own position and nowhere reads the stage across it: then
/// the points of that dimension are independent, and Halide takes it as a pure dimension.
bool is_pure_dimension(const Stage& stage, const expr::Update& update, std::size_t d) {
    const std::string& name = stage.vars[d].name;
    if (!is_variable(update.where[d], name)) return false;
    bool pure = true;
    const auto check = [&](const Expr& expr) {
        if (expr->op == expr::Op::load && expr->name == stage.name) pure &= is_variable(expr->operands[d], name);
    };
    expr::visit(update.value, check);
    if (update.condition) expr::visit(update.condition, check);
    for (const Expr& where : update.where) expr::visit(where, check);
    return pure;
}

class Rules {
  public:
    explicit Rules(const Group& group) : group_(group), prepared_(group) {}

    Schedule run() {
        for (const Stage& stage : group_.stages) {
            const bool output =
                std::find(group_.outputs.begin(), group_.outputs.end(), stage.name) != group_.outputs.end();
            stored_.clear();
            if (!output) {
                add({.kind = Directive::Kind::compute_root, .stage = stage.name});
                stored_ = {static_cast<int>(schedule_.size()) -
                           1};  // the loops of an inlined stage cannot be scheduled
            }
            loops(stage, -1);
            for (std::size_t k = 0; k < stage.updates.size(); k++) loops(stage, static_cast<int>(k));
        }
        return std::move(schedule_);
    }

  private:
    void loops(const Stage& stage, int update) {
        if (stage.vars.empty()) return;
        const auto usable = [&](std::size_t d) {
            return update < 0 || is_pure_dimension(stage, stage.updates[static_cast<std::size_t>(update)], d);
        };
        const std::size_t inner = stage.vars.size() - 1;
        const std::int64_t width = lanes(stage.dtype);
        const std::int64_t extent = stage.vars[inner].extent;
        const bool vectorize =
            extent >= width && usable(inner) && !(update >= 0 && extent % width == 1 && loses_tail(stage, update));
        if (vectorize)
            add({.kind = Directive::Kind::vectorize,
                 .stage = stage.name,
                 .update = update,
                 .args = {stage.vars[inner].name},
                 .factor = width,
                 .tail = update < 0 ? "ShiftInwards" : "GuardWithIf"});
        for (std::size_t d = 0; d < stage.vars.size(); d++) {
            if (d == inner && vectorize) break;
            if (stage.vars[d].extent < 2) continue;
            if (work(stage) >= kParallelWork && usable(d))
                add({.kind = Directive::Kind::parallel,
                     .stage = stage.name,
                     .update = update,
                     .args = {stage.vars[d].name}});
            break;  // only the outermost loop that is one
        }
    }

    bool loses_tail(const Stage& stage, int update) const {
        const Definition* definition = prepared_.definition({.stage = stage.name, .update = update});
        return definition && may_lose_tail(*definition, group_);
    }

    void add(Directive directive) {
        directive.requires_ = stored_;
        schedule_.push_back(std::move(directive));
    }

    const Group& group_;
    const Prepared prepared_;
    Schedule schedule_;
    std::vector<int> stored_;  // the directive that stores the stage at hand, if it needs one
};

}  // namespace

Schedule schedule(const Group& group) { return Rules(group).run(); }

}  // namespace whittle::halide
