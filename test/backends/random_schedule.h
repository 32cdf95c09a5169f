// Random schedules that are legal by construction. What only newer versions of Halide have is drawn where Halide has
// it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "backends/halide/build_info.h"
#include "backends/halide/definitions.h"
#include "expr/group.h"
#include "tensor/random.h"

namespace whittle::halide {

class RandomSchedule {
  public:
    RandomSchedule(const expr::Group& group, Random& random) : group_(group), prepared_(group), random_(random) {}

    expr::Schedule make() {
        for (const expr::Stage* stage : prepared_.stages()) {
            if (!place(*stage)) continue;
            for (const Definition& d : prepared_.definitions(*stage)) loops(d);
        }
        return std::move(schedule_);
    }

  private:
    using Kind = expr::Directive::Kind;
    struct Loop {
        std::string name;
        bool reduction = false;
        int made_by = -1;  ///< the split that made it
        std::int64_t extent = 0;
        bool exact = true;  ///< no split that made it leaves a tail
    };

    bool chance(int of) { return random_.below(of) == 0; }
    static bool has(Kind kind) { return expr::info(kind).since <= major_version(); }

    int add(expr::Directive directive) {
        if (placed_ >= 0) directive.requires_.push_back(placed_);
        directive.enabled = !chance(10);
        schedule_.push_back(std::move(directive));
        return static_cast<int>(schedule_.size()) - 1;
    }

    /// Whether the stage has loops of its own: the others are inlined. Outputs are stored anyway; a stage with updates
    /// would be computed again for each element unless it is stored.
    bool place(const expr::Stage& stage) {
        placed_ = -1;
        if (std::ranges::count(group_.outputs, stage.name)) return true;
        if (stage.updates.empty() && chance(2)) return false;
        placed_ = add({.kind = Kind::compute_root, .stage = stage.name});
        if (!stage.updates.empty()) schedule_.back().enabled = true;
        return true;
    }

    void loops(const Definition& d) {
        std::vector<Loop> loops;  // outermost first, as Halide nests them: pure loops around the reduction
        for (const expr::LoopVar& v : d.loops)
            if (!d.is_reduction(v.name)) loops.push_back({v.name, false, -1, v.extent});
        for (auto v = d.reduction.rbegin(); v != d.reduction.rend(); ++v)
            loops.push_back({v->name, true, -1, v->extent});
        const auto needs = [&](const Loop& loop) {
            return loop.made_by < 0 ? std::vector<int>{} : std::vector<int>{loop.made_by};
        };
        const auto directive = [&](Kind kind, std::vector<std::string> args, std::int64_t factor = 0) {
            return expr::Directive{
                .kind = kind, .stage = d.stage->name, .update = d.update, .args = std::move(args), .factor = factor};
        };
        for (int splits = static_cast<int>(random_.below(3)); splits > 0 && !loops.empty(); --splits) {
            const auto at = loops.begin() + random_.below(static_cast<std::int64_t>(loops.size()));
            if (at->made_by >= 0 || at->extent < 4) continue;
            const Loop old = *at;
            expr::Directive split =
                directive(Kind::split, {old.name, old.name + "o", old.name + "i"}, 2 + random_.below(3));
            if (chance(2)) split.tail = "GuardWithIf";
            if (has(Kind::never_partition) && chance(4)) split.tail = "Predicate";
            const std::int64_t factor = split.factor;
            const int made_by = add(split);
            if (!schedule_.back().enabled) continue;
            const bool exact = old.exact && old.extent % factor == 0;
            *at = {old.name + "o", old.reduction, made_by, (old.extent + factor - 1) / factor, exact};
            loops.insert(at + 1, {old.name + "i", old.reduction, made_by, factor, exact});
        }
        if (chance(3)) reorder(d, loops);
        for (std::size_t i = 0; i < loops.size(); ++i) {
            const Loop& loop = loops[i];
            const bool inner_of_split = loop.made_by >= 0 && loop.name.ends_with("i");
            // No vectors longer than a loop and no unrolled last step of one: the rules make neither, and random groups
            // under such schedules were seen to fail ("is accessed at 32767, which is beyond the max") or to differ.
            const std::int64_t factor = 2 << random_.below(3);
            const bool no_tail = loop.exact && (inner_of_split || loop.extent % factor == 0);
            expr::Directive made;
            if (!loop.reduction && chance(3) && (inner_of_split || factor <= loop.extent) &&
                (no_tail || !may_lose_tail(d, group_))) {
                made = directive(Kind::vectorize, {loop.name}, inner_of_split ? 0 : factor);
            } else if (chance(5) && !loop.name.ends_with("o")) {
                made = directive(Kind::unroll, {loop.name}, inner_of_split ? 0 : 2 + random_.below(2));
            } else if (!loop.reduction && i == 0 && chance(3)) {
                made = directive(Kind::parallel, {loop.name});
            } else {
                continue;
            }
            made.requires_ = needs(loop);
            const bool vectorized = made.kind == Kind::vectorize;
            // A loop that runs in parallel gets no vectors here, so no other thread computes what is blended.
            const bool blends = vectorized && d.update >= 0 && loop.made_by < 0;
            if (blends && has(Kind::never_partition) && chance(2)) made.tail = "ShiftInwardsAndBlend";
            add(made);
            if (vectorized) break;
        }
        if (loops.empty() || !has(Kind::never_partition) || !chance(3)) return;
        const Loop& loop = loops[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(loops.size())))];
        expr::Directive whole = directive(Kind::never_partition, {loop.name});
        whole.requires_ = needs(loop);
        add(whole);
    }

    /// Pure loops in another order; the reduction keeps its own.
    void reorder(const Definition& d, std::vector<Loop>& loops) {
        std::vector<std::size_t> pure;
        for (std::size_t i = 0; i < loops.size(); ++i)
            if (!loops[i].reduction) pure.push_back(i);
        if (pure.size() < 2) return;
        const std::size_t a = pure[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(pure.size())))];
        std::swap(loops[a], loops[pure[0]]);
        expr::Directive made{.kind = Kind::reorder, .stage = d.stage->name, .update = d.update};
        for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
            made.args.push_back(loop->name);
            if (loop->made_by >= 0) made.requires_.push_back(loop->made_by);
        }
        add(made);
    }

    const expr::Group& group_;
    const Prepared prepared_;
    Random& random_;
    expr::Schedule schedule_;
    int placed_ = -1;  ///< the directive that stores the current stage
};

}  // namespace whittle::halide
