// How a contraction is computed: which stages it is given, and the loops around its register tile.
#include <algorithm>
#include <bit>

#include "backends/halide/rules/contraction.h"
#include "backends/halide/rules/folds.h"
#include "backends/halide/rules/rules.h"
#include "expr/parts.h"

namespace whittle::halide {
namespace {

using expr::Directive;
using expr::Expr;
using expr::LoopVar;
using expr::Op;
using expr::Stage;
using Kind = Directive::Kind;

constexpr std::int64_t kFewRows = 32;    // a packed panel that fewer rows use costs more than it gives
constexpr std::int64_t kFewTasks = 4;    // parallel loops want as many, two processors' worth twice
constexpr std::int64_t kStoreLanes = 8;  // of a result that is written across its lanes

class TiledSum {
  public:
    TiledSum(Draft& draft, Contraction contraction, const Machine& machine)
        : draft_(draft),
          machine_(machine),
          sum_(std::move(contraction)),
          vars_(draft.group().stage(sum_.stage)->vars),
          original_(sum_.sums),
          tile_(tile_of(sum_, machine)) {}

    void run() {
        pack();
        accumulate();
        const bool across = !sum_.lane_is_innermost;
        if (!draft_.is_output(result_)) stored_ = {draft_.add({.kind = Kind::compute_root, .stage = result_})};
        tiled_ = stored_;
        if (across)
            schedule_across();
        else
            schedule_along();
        if (has_vector_functions(draft_.group().stage(result_)->value)) on_result(Kind::vector_math, {});
        draft_.finish(result_);
        draft_.finish(accumulator_);
        if (!packed_.empty()) draft_.finish(packed_);
    }

  private:
    // ---- stages ----

    const expr::Input* right_input() const { return draft_.group().input(sum_.right->name); }

    /// Whether steps of the sum find whole vectors where the factor lies.
    bool lies_along_lanes() const {
        const Expr& last = sum_.right->operands.back();
        if (last->op != Op::variable || last->name != sum_.lane) return false;
        return !right_input() || right_input()->strides.back() == 1;
    }

    /// A stage of the factor with the lanes, lanes innermost, the sum's steps in order.
    void pack() {
        if (sum_.slide) return;
        const bool along = lies_along_lanes(), constant = right_input() && right_input()->constant;
        if (along && sum_.rows <= kFewRows) return;
        // Constants are packed once, whole; else each panel just before it is used, while it is in cache.
        const bool panel = sum_.lane_is_innermost && (along || !constant);
        const auto read = [&](const std::string& name) { return mentions(sum_.right, Op::variable, name); };
        Stage stage{.name = expr::fresh_name(draft_.group(), sum_.stage + "_packed"), .dtype = DType::f32};
        LoopVar lane;
        for (const LoopVar& v : original_.vars)
            if (v.name == sum_.lane)
                lane = v;
            else if (read(v.name))
                stage.vars.push_back(v);
        for (const LoopVar& v : original_.updates[0].domain)
            if (read(v.name)) stage.vars.push_back(v);
        stage.value = sum_.right;
        if (!panel) {
            lane.extent = spread(is_grouped() ? whole_tiles() : sum_.lanes);
            if (lane.extent > sum_.lanes) stage.value = within_lanes(stage.value);
        }
        stage.vars.push_back(lane);
        stage.origin = original_.origin;
        sum_.right = expr::load(stage.name, stage.dtype, expr::variables(stage.vars));
        packed_ = stage.name;
        packed_at_panel_ = panel;
        draft_.insert_before(sum_.stage, std::move(stage));
    }

    /// A panel's rows lie a whole row apart. Where that is an even number of cache lines they share few of the cache's
    /// sets, so a row gets some lanes more, which nobody reads.
    static std::int64_t spread(std::int64_t lanes) {
        constexpr std::int64_t line = 64 / sizeof(float);
        const std::int64_t lines = ceil_div(lanes, line);
        return lines % 2 || lines < 4 ? lanes : (lines + 1) * line;
    }

    bool is_grouped() const { return !sum_.group.empty(); }
    /// Of a group, whose tiles do not reach into the next one: the lanes of the last that are past its end are summed,
    /// and never read.
    std::int64_t whole_tiles() const { return ceil_div(sum_.lanes, tile_.lanes()) * tile_.lanes(); }
    /// Lanes past the end read the last one.
    Expr within_lanes(const Expr& value) const {
        return with(value, sum_.lane, expr::min(expr::variable(sum_.lane), expr::index(sum_.lanes - 1)));
    }

    /// The sums move to a stage of their own, lanes innermost. What reads them, place by place, computes them as it
    /// goes; if there is no such stage, one that copies them takes their name.
    void accumulate() {
        Stage sums = original_;
        const std::string kind = is_grouped() ? "_group" : sum_.slide ? "_window" : "";
        accumulator_ = sums.name = expr::fresh_name(draft_.group(), sum_.stage + kind + "_sum");
        const auto lane = std::ranges::find(sums.vars, sum_.lane, &LoopVar::name);
        std::rotate(lane, lane + 1, sums.vars.end());
        Expr left = sum_.left;
        const auto row = std::ranges::find(sums.vars, sum_.row, &LoopVar::name);
        if (!sum_.lane_is_innermost && row->extent % tile_.rows) {
            // Rows past the end are summed, and never read.
            left = with(left, sum_.row, expr::min(expr::variable(sum_.row), expr::index(row->extent - 1)));
            sums.value = with(sums.value, sum_.row, expr::min(expr::variable(sum_.row), expr::index(row->extent - 1)));
            row->extent = ceil_div(row->extent, tile_.rows) * tile_.rows;
        }
        if (is_grouped() && whole_tiles() > sum_.lanes) {
            sums.value = within_lanes(sums.value);
            sums.vars.back().extent = whole_tiles();
        }
        Expr product = left ? left * sum_.right : sum_.right;
        cut_into_blocks(sums, product);
        const std::vector<Expr> itself = expr::variables(sums.vars);
        sums.updates[0].where = itself;
        sums.updates[0].value = expr::load(sums.name, sums.dtype, itself) + product;

        result_ = reader_in_place(draft_, sum_.stage);
        const auto sums_for = [&](const Expr& e) {
            if (e->op == Op::cast && is_narrowed_sum(e->operands[0])) return e->operands[0]->operands[0];
            if (e->op != Op::load || e->name != sum_.stage) return e;
            return expr::cast(e->dtype, sum_of_blocks(place_of_sum(e->operands), 0, sum_.blocks));
        };
        Stage& place = draft_.stage(sum_.stage);
        if (result_.empty()) {
            Stage copy{.name = sum_.stage, .dtype = original_.dtype, .vars = vars_};
            copy.origin = original_.origin;
            copy.value = sums_for(expr::load(sum_.stage, copy.dtype, expr::variables(copy.vars)));
            result_ = copy.name;
            place = std::move(sums);
            draft_.insert_behind(accumulator_, std::move(copy));
            return;
        }
        place = std::move(sums);
        Stage& user = draft_.stage(result_);
        user.value = expr::rewrite(user.value, sums_for);
    }

    /// Where the sum of an element of the stage lies, without the block.
    std::vector<Expr> place_of_sum(std::vector<Expr> at) const {
        const auto lane = at.begin() + (std::ranges::find(vars_, sum_.lane, &LoopVar::name) - vars_.begin());
        const Expr position = *lane, size = expr::index(sum_.lanes);
        if (is_grouped())
            *lane = position / size;
        else
            at.erase(lane);
        at.push_back(is_grouped() ? position % size : position);
        return at;
    }

    /// Sums of f64 become sums of f32 over blocks of the domain's first loop, one after the other along a dimension of
    /// their own: rounded as often as one such block is long.
    void cut_into_blocks(Stage& sums, Expr& product) {
        if (!sum_.wide) return;
        LoopVar& first = sums.updates[0].domain.front();
        sums.dtype = DType::f32;
        sums.value = expr::cast(DType::f32, sums.value);
        if (sum_.blocks == 1) return;
        first.extent /= sum_.blocks;
        const LoopVar block{sum_.lane + "_b", sum_.blocks};
        const Expr number = expr::variable(block.name), none = neutral_for(sums.value);
        product = with(product, first.name, number * expr::index(first.extent) + expr::variable(first.name));
        sums.value = expr::select(expr::equal(number, expr::index(0)), sums.value, none);
        sums.vars.insert(sums.vars.begin(), block);
    }

    /// Pairwise. `at`: without the block.
    Expr sum_of_blocks(const std::vector<Expr>& at, std::int64_t first, std::int64_t count) const {
        if (count > 1)
            return sum_of_blocks(at, first, count / 2) + sum_of_blocks(at, first + count / 2, count - count / 2);
        std::vector<Expr> place = at;
        if (sum_.blocks > 1) place.insert(place.begin(), expr::index(first));
        return expr::load(accumulator_, DType::f32, std::move(place));
    }

    /// f64(…) of what sum_of_blocks() gives.
    bool is_narrowed_sum(const Expr& e) const {
        if (!sum_.wide || e->op != Op::cast || e->operands[0]->dtype != DType::f32) return false;
        Expr first = e->operands[0];
        while (first->op == Op::add) first = first->operands[0];
        return first->op == Op::load && first->name == accumulator_;
    }

    // ---- loops ----

    /// In the reader's words: its variable at the place of one of the stage's.
    std::string named(const std::string& variable) const {
        const auto d = std::ranges::find(vars_, variable, &LoopVar::name) - vars_.begin();
        return draft_.group().stage(result_)->vars[static_cast<std::size_t>(d)].name;
    }
    std::int64_t extent(const std::string& variable) const {
        return std::ranges::find(vars_, variable, &LoopVar::name)->extent;
    }

    /// Names and counts, outermost first.
    using Loops = std::vector<std::pair<std::string, std::int64_t>>;
    /// Of the result's dimensions that both factors have.
    Loops batch_loops() const {
        Loops loops;
        for (const LoopVar& v : vars_)
            if (v.name != sum_.lane && v.name != sum_.row && v.extent > 1 &&
                std::ranges::find(sum_.outer, v.name) == sum_.outer.end())
                loops.emplace_back(named(v.name), v.extent);
        return loops;
    }

    int on_result(Kind kind, std::vector<std::string> args, std::int64_t factor = 0, const std::string& tail = {}) {
        return draft_.add({.kind = kind, .stage = result_, .args = std::move(args), .factor = factor, .tail = tail},
                          tiled_);
    }

    /// Splits the loop, and has later directives of the result require it. The loop of whole tiles is shifted inwards
    /// at its end: their elements are computed again.
    void tile(const std::string& loop, std::int64_t factor) {
        const int position = on_result(Kind::split, {loop, loop + "_o", loop + "_i"}, factor, "ShiftInwards");
        tiled_.push_back(position);
    }

    /// In multiply-adds; what is only added comes from memory.
    std::int64_t work() const { return sum_.left ? sum_.products : 16 * sum_.products; }

    /// The outermost loop that has enough steps to share; `loops`: outermost first. The name of the innermost loop
    /// afterwards, at which the sums are computed.
    std::string share(const Loops& loops) {
        std::string innermost = loops.back().first;
        if (work() < machine_.least_parallel) return innermost;
        for (const std::int64_t fewest : {kFewTasks, std::int64_t{2}})
            for (const auto& [loop, count] : loops)
                if (count >= fewest) {
                    shared_ = loop;
                    inside_shared_ = draft_.parallel(result_, loop, count, tiled_);
                    if (loop == panel_) panel_ = inside_shared_;
                    return loop == innermost ? inside_shared_ : innermost;
                }
        return innermost;
    }

    /// A matrix product: the result's rows and lanes in tiles, each summed whole before it is written.
    void schedule_along() {
        const std::string lane = named(sum_.lane);
        Loops loops = batch_loops();  // around a tile
        tile(lane, tile_.lanes());
        panel_ = lane + "_o";
        loops.emplace_back(panel_, ceil_div(sum_.lanes, tile_.lanes()));
        for (const std::string& name : sum_.outer) loops.emplace_back(named(name), extent(name));
        std::vector<std::string> order{lane + "_i"};
        if (!sum_.row.empty()) {
            const std::string row = named(sum_.row);
            tile(row, tile_.rows);
            order.push_back(row + "_i");
            loops.emplace_back(row + "_o", ceil_div(sum_.rows, tile_.rows));
        }
        for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) order.push_back(loop->first);
        tiled_.push_back(on_result(Kind::reorder, order));
        on_result(Kind::vectorize, {lane + "_i"}, tile_.width, "ShiftInwards");
        if (tile_.vectors > 1) on_result(Kind::unroll, {lane + "_i"});
        if (!sum_.row.empty() && tile_.rows > 1) on_result(Kind::unroll, {named(sum_.row) + "_i"});
        schedule_sums(share(loops));
        schedule_packed();
        if (sum_.slide) place_image();
    }

    /// What only the sums read of an image that is computed for them, with its border, is computed in the innermost
    /// loop around their tiles in which it is not computed twice, if there is one, and if it is one thread's.
    void place_image() {
        const std::vector<LoopVar>& vars = draft_.group().stage(result_)->vars;
        const auto shared = std::ranges::find(vars, shared_, &LoopVar::name) - vars.begin();
        const std::size_t around = vars.size() - (sum_.row.empty() ? 1 : 2);
        compute_with_window(draft_, accumulator_, result_, machine_, tiled_, [&](std::size_t own) -> std::string {
            const auto loops = static_cast<std::ptrdiff_t>(std::min(own, around));
            const bool alone = shared_.empty() || shared < loops;
            if (!alone || points({vars.begin(), vars.begin() + loops}) == 1) return {};
            const std::string& at = vars[static_cast<std::size_t>(loops) - 1].name;
            return at == shared_ ? inside_shared_ : at;
        });
    }

    /// Whether the loop over an image's rows is around the one over its channels' tiles, so that it is the one that
    /// threads share, if any: all weights stay in the second cache meanwhile, while the image is what other threads
    /// wrote before.
    bool rows_come_first(std::int64_t rows) const {
        return rows >= kRowsToShare && sum_.steps * sum_.lanes * sum_.groups <= machine_.far_floats;
    }

    /// A convolution: the sums of one row of the result, over all its columns, for one tile of lanes or one group, then
    /// written across their lanes.
    void schedule_across() {
        const std::string lane = named(sum_.lane), row = named(sum_.row);
        Loops loops = batch_loops();
        for (std::size_t i = 0; i + 1 < sum_.outer.size(); i++)
            loops.emplace_back(named(sum_.outer[i]), extent(sum_.outer[i]));
        const std::int64_t step = is_grouped() ? sum_.lanes : tile_.lanes();  // a group at a time
        tile(lane, step);
        loops.emplace_back(lane + "_o", ceil_div(extent(sum_.lane), step));
        if (!sum_.outer.empty()) {
            const bool first = rows_come_first(extent(sum_.outer.back()));
            loops.emplace(first ? loops.end() - 1 : loops.end(), named(sum_.outer.back()), extent(sum_.outer.back()));
        }
        std::vector<std::string> order{row, lane + "_i"};
        for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) order.push_back(loop->first);
        tiled_.push_back(on_result(Kind::reorder, order));
        const auto width = std::bit_floor(static_cast<std::uint64_t>(std::min(sum_.rows, kStoreLanes)));
        if (width > 1) on_result(Kind::vectorize, {row}, static_cast<std::int64_t>(width), "ShiftInwards");
        schedule_sums(share(loops));
        const std::vector<LoopVar>& vars = draft_.group().stage(result_)->vars;
        if (vars.size() > 2 && shared_ == vars[vars.size() - 2].name)
            for (const std::string& stage : {result_, accumulator_}) draft_.share_rows(stage);
        schedule_packed();
    }

    void schedule_sums(const std::string& at) {
        std::vector<int> needs = tiled_;
        const int stored =
            draft_.add({.kind = Kind::compute_at, .stage = accumulator_, .args = {at}, .at = result_}, needs);
        needs.push_back(stored);
        for (const int update : {-1, 0}) {
            std::vector<int> tiled = needs;
            const auto add = [&](Kind kind, std::vector<std::string> args, std::int64_t factor = 0,
                                 const std::string& tail = {}) {
                return draft_.add({.kind = kind,
                                   .stage = accumulator_,
                                   .update = update,
                                   .args = std::move(args),
                                   .factor = factor,
                                   .tail = tail},
                                  tiled);
            };
            const std::string &lane = sum_.lane, &row = sum_.row;
            std::vector<std::string> order{lane + "_i"};
            tiled.push_back(add(Kind::split, {lane, lane + "_o", lane + "_i"}, tile_.lanes(), "RoundUp"));
            if (!row.empty()) {
                tiled.push_back(add(Kind::split, {row, row + "_o", row + "_i"}, tile_.rows, "RoundUp"));
                order.push_back(row + "_i");
            }
            if (update >= 0) {
                const std::vector<LoopVar>& domain = original_.updates[0].domain;
                for (auto v = domain.rbegin(); v != domain.rend(); ++v) order.push_back(v->name);
            }
            if (!row.empty()) order.push_back(row + "_o");
            order.push_back(lane + "_o");
            tiled.push_back(add(Kind::reorder, order));
            add(Kind::vectorize, {lane + "_i"}, tile_.width, "GuardWithIf");
            if (tile_.vectors > 1) add(Kind::unroll, {lane + "_i"});
            if (!row.empty() && tile_.rows > 1) add(Kind::unroll, {row + "_i"});
            if (update >= 0 && sum_.slide && !sum_.slide->taps.empty()) add(Kind::unroll, {sum_.slide->taps});
        }
        // A single step would be seen to add to 0, which contracted is the product itself, -0 too.
        if (sum_.left && points(draft_.group().stage(accumulator_)->updates[0].domain) > 1)
            draft_.add({.kind = Kind::contract, .stage = accumulator_, .update = 0}, {stored});
    }

    void schedule_packed() {
        if (packed_.empty()) return;
        const Stage& stage = *draft_.group().stage(packed_);
        std::vector<int> needs;
        if (packed_at_panel_) {
            needs = tiled_;
            needs.push_back(
                draft_.add({.kind = Kind::compute_at, .stage = packed_, .args = {panel_}, .at = result_}, needs));
        } else {
            needs.push_back(draft_.add({.kind = Kind::compute_root, .stage = packed_}));
        }
        draft_.add({.kind = Kind::vectorize,
                    .stage = packed_,
                    .args = {sum_.lane},
                    .factor = tile_.width,
                    .tail = packed_at_panel_ ? "RoundUp" : "ShiftInwards"},
                   needs);
        if (!packed_at_panel_ && stage.vars.front().extent >= kFewTasks && sum_.products >= machine_.least_parallel)
            draft_.add({.kind = Kind::parallel, .stage = packed_, .args = {stage.vars.front().name}}, needs);
    }

    Draft& draft_;
    const Machine& machine_;
    Contraction sum_;
    const std::vector<LoopVar> vars_;  // of the stage
    const Stage original_;             // as it is summed
    const Tile tile_;
    std::string packed_, accumulator_, result_;  // stages
    std::string panel_;                          // the result's loop over the tiles of lanes
    std::string shared_, inside_shared_;         // … and that of threads, and of a thread
    bool packed_at_panel_ = false;
    std::vector<int> stored_, tiled_;  // the directives that store the result, and that tile its loops
};

}  // namespace

void schedule_tiles(Draft& draft, const Contraction& contraction, const Machine& machine) {
    TiledSum(draft, contraction, machine).run();
}

}  // namespace whittle::halide
