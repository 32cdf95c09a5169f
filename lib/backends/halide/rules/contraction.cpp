#include "backends/halide/rules/contraction.h"

#include <algorithm>
#include <bit>

#include "backends/halide/rules/folds.h"
#include "backends/halide/rules/rules.h"

namespace whittle::halide {
namespace {

using expr::Expr;
using expr::Group;
using expr::LoopVar;
using expr::Op;
using expr::Stage;

constexpr std::int64_t kFewestLanes = 4;

bool reads(const Expr& e, const std::string& variable) { return mentions(e, Op::variable, variable); }

/// Whether the index grows with the variable, one by one: it is the variable, or a sum of it and of something else.
bool counts(const Expr& index, const std::string& variable) {
    if (is_variable(index, variable)) return true;
    return index->op == Op::add && is_variable(index->operands[1], variable) && !reads(index->operands[0], variable);
}

/// Whether one of the load's indices is the variable, or counts from where its group begins, and no other has it.
bool stands_alone(const Expr& load, const std::string& variable, const std::string& group) {
    int alone = 0, inside = 0;
    for (const Expr& index : load->operands) {
        if (is_variable(index, variable) || (!group.empty() && reads(index, group) && counts(index, variable)))
            alone++;
        else if (reads(index, variable))
            inside++;
    }
    return alone == 1 && inside == 0;
}

struct Factors {
    Expr a, b;  ///< b alone: its elements are added as they are
};

/// The factors of stage[p] += a * b, or stage[p] += b: loads of something else; nothing else.
std::optional<Factors> factors(const Stage& stage) {
    const auto fold = fold_of(stage);
    if (!fold || !fold->sum) return {};
    const Expr& term = fold->element;
    Factors found;
    if (term->op == Op::mul)
        found = {term->operands[0], term->operands[1]};
    else
        found = {nullptr, term};
    for (Expr* factor : {&found.a, &found.b}) {
        if (!*factor) continue;
        if (stage.dtype == DType::f64 && (*factor)->op == Op::cast) *factor = (*factor)->operands[0];
        if ((*factor)->op != Op::load || (*factor)->dtype != DType::f32) return {};
    }
    return found;
}

/// contraction_of(), of a stage in which the variable `quotient`, if any, counts groups of another one. Across: the
/// lanes are not the innermost dimension.
std::optional<Contraction> contraction_with(const Group& group, const Stage& stage, const std::string& quotient,
                                            bool across = false) {
    constexpr std::int64_t kLongestBlock = 1024;  // steps of a sum in f32 where one in f64 is asked for
    constexpr std::int64_t kMostBlocks = 64;
    const auto found = factors(stage);
    if (!found) return {};
    Contraction result{.stage = stage.name, .sums = stage, .left = {}, .right = {}, .lane = {}, .row = {}};
    result.steps = points(stage.updates[0].domain);
    result.products = points(stage.vars) * result.steps;
    result.wide = stage.dtype == DType::f64;
    if (result.wide) {
        const std::int64_t first = stage.updates[0].domain.front().extent;
        const std::int64_t most = std::min(first, kMostBlocks);
        while (result.blocks <= most && (result.steps / result.blocks > kLongestBlock || first % result.blocks))
            result.blocks++;
        if (result.blocks > most) return {};
    }

    // The innermost dimension if it can be, else the widest.
    const LoopVar* innermost = nullptr;
    for (const LoopVar& v : stage.vars)
        if (v.extent > 1) innermost = &v;
    const LoopVar* lane = nullptr;
    for (const LoopVar& v : stage.vars)
        for (const auto& [left, right] : {*found, Factors{found->b, found->a}}) {
            if (v.extent < kFewestLanes || (across && &v == innermost) || !right ||
                !stands_alone(right, v.name, quotient))
                continue;
            if (left ? reads(left, v.name) : !is_variable(right->operands.back(), v.name)) continue;
            if (lane && &v != innermost && v.extent <= lane->extent) continue;
            lane = &v, result.left = left, result.right = right;
        }
    if (!lane) return {};
    result.lane = lane->name, result.lanes = lane->extent, result.lane_is_innermost = lane == innermost;
    for (const LoopVar& v : stage.vars) {
        if (v.extent == 1 || &v == lane || reads(result.right, v.name)) continue;
        if (!result.row.empty()) result.outer.push_back(result.row);
        result.row = v.name, result.rows = v.extent;
    }
    if (!result.lane_is_innermost && result.row != innermost->name) return {};
    if (!result.left) {
        const expr::Input* input = group.input(result.right->name);
        if (!result.lane_is_innermost || !result.row.empty() || (input && input->strides.back() != 1)) return {};
    }
    return result;
}

/// A variable of the stage and the size of its groups, where a factor has their number.
std::optional<LoopVar> groups_of(const Stage& stage, const Factors& of) {
    std::optional<LoopVar> found;
    for (const Expr& factor : {of.a, of.b}) {
        if (!factor) continue;
        expr::visit(factor, [&](const Expr& e) {
            if (found || e->op != Op::div || e->operands[0]->op != Op::variable || e->operands[1]->op != Op::constant)
                return;
            const std::int64_t size = e->operands[1]->number.to_integer();
            for (const LoopVar& v : stage.vars)
                if (is_variable(e->operands[0], v.name) && size > 1 && v.extent > size && v.extent % size == 0)
                    found = LoopVar{v.name, size};
        });
    }
    return found;
}

/// The stage with two dimensions, the number of the group and the place in it, in place of one that has groups.
Stage in_groups(const Stage& stage, const LoopVar& within, const std::string& number) {
    const Expr size = expr::index(within.extent);
    const auto in_new_variables = [&](const Expr& root) {
        const Expr numbered = expr::rewrite(root, [&](const Expr& e) {
            const bool quotient =
                e->op == Op::div && is_variable(e->operands[0], within.name) && expr::same(e->operands[1], size);
            return quotient ? expr::variable(number) : e;
        });
        return with(numbered, within.name, expr::variable(number) * size + expr::variable(within.name));
    };
    Stage result = stage;
    const auto v = std::ranges::find(result.vars, within.name, &LoopVar::name);
    const std::int64_t count = v->extent / within.extent;
    v->extent = within.extent;
    result.vars.insert(v, {number, count});
    result.value = in_new_variables(stage.value);
    const std::vector<Expr> itself = expr::variables(result.vars);
    expr::Update& update = result.updates[0];
    update.where = itself;
    update.value = expr::load(stage.name, stage.dtype, itself) + in_new_variables(fold_of(stage)->element);
    return result;
}

/// By how much the index grows with the variable; nothing where that is not the same everywhere.
std::optional<std::int64_t> stride_of(const Expr& index, const std::string& variable) {
    if (!reads(index, variable)) return 0;
    if (index->op == Op::variable) return 1;
    if (index->op != Op::add && index->op != Op::sub && index->op != Op::mul) return {};
    const auto a = stride_of(index->operands[0], variable), b = stride_of(index->operands[1], variable);
    if (!a || !b) return {};
    if (index->op == Op::add) return *a + *b;
    if (index->op == Op::sub) return *a - *b;
    const Expr& factor = index->operands[1];
    if (factor->op != Op::constant) return {};
    return *a * factor->number.to_integer();
}

/// The one index of the load that grows with the variable, by 1 or more; null if there is none such.
Expr index_along(const Expr& load, const std::string& variable) {
    Expr found;
    for (const Expr& index : load->operands) {
        if (!reads(index, variable)) continue;
        const auto stride = stride_of(index, variable);
        if (found || !stride || *stride < 1) return nullptr;
        found = index;
    }
    return found;
}

/// Has the window's rows written out, if a loop is left beside them: without one, all would be a single expression.
void write_taps_out(Contraction& sum, const Expr& across) {
    std::vector<LoopVar>& domain = sum.sums.updates[0].domain;
    for (const LoopVar& v : std::vector<LoopVar>(domain)) {
        if (v.extent < 2 || v.extent > kMostTerms || v.extent == sum.steps || stride_of(across, v.name) != 1) continue;
        std::erase(domain, v);
        domain.push_back(v);
        sum.slide->taps = v.name, sum.slide->tap_count = v.extent;
        return;
    }
}

}  // namespace

bool is_sum_of_products(const Stage& stage) {
    const auto found = factors(stage);
    return found && found->a;
}

std::optional<Contraction> contraction_of(const Group& group, const Stage& stage) {
    return contraction_with(group, stage, {});
}

std::optional<Contraction> contraction_across(const Group& group, const Stage& stage) {
    auto result = contraction_with(group, stage, {}, true);
    return result && is_variable(result->right->operands.back(), result->lane) ? result : std::nullopt;
}

std::optional<Contraction> grouped_contraction_of(const Group& group, const Stage& stage) {
    const auto of = factors(stage);
    const auto within = of ? groups_of(stage, *of) : std::nullopt;
    if (!within) return {};
    const std::string number = within->name + "_group";
    auto result = contraction_with(group, in_groups(stage, *within, number), number);
    if (!result || result->lane != within->name || result->lane_is_innermost) return {};
    result->group = number;
    result->groups = std::ranges::find(result->sums.vars, number, &LoopVar::name)->extent;
    return result;
}

std::optional<Contraction> sliding_contraction_of(const Group& group, const Stage& stage) {
    constexpr std::int64_t kWidestStride = 4;
    const auto found = factors(stage);
    if (!found || !found->a || stage.dtype != DType::f32 || stage.vars.size() < 2) return {};
    const LoopVar &lane = stage.vars.back(), &row = stage.vars[stage.vars.size() - 2];
    const bool first = reads(found->a, lane.name);
    if (lane.extent < kFewestLanes || first == reads(found->b, lane.name)) return {};
    Contraction result{.stage = stage.name, .sums = stage, .left = {}, .right = {}, .lane = lane.name, .row = {}};
    result.right = first ? found->a : found->b, result.left = first ? found->b : found->a;
    const Expr along = index_along(result.right, lane.name);
    const expr::Input* input = group.input(result.right->name);
    if (!along || along != result.right->operands.back() || (input && input->strides.back() != 1)) return {};
    result.lane_is_innermost = true, result.lanes = lane.extent;
    result.steps = points(stage.updates[0].domain), result.products = points(stage.vars) * result.steps;
    result.slide = Slide{.lanes = *stride_of(along, lane.name)};
    if (result.slide->lanes > kWidestStride) return {};
    const Expr across = reads(result.left, row.name) ? nullptr : index_along(result.right, row.name);
    if (row.extent > 1 && across && across != along) {
        result.row = row.name, result.rows = row.extent, result.slide->rows = *stride_of(across, row.name);
        write_taps_out(result, across);
    }
    return result;
}

namespace {

constexpr double kWrittenAcross = 1;  // cycles an element
constexpr double kTwoAdds = 2;        // vectors a cycle

/// Vectors that are loaded for each multiplication of vectors, of which as many are loaded in a cycle as multiplied.
/// One that lies across two lines of the cache, as most of a window do, takes twice as long.
double loads_of(const Contraction& contraction, const Tile& tile, const Machine& machine) {
    constexpr double kLine = 64;
    const auto rows = static_cast<double>(tile.rows), vectors = static_cast<double>(tile.vectors);
    if (!contraction.slide) return (rows + vectors) / (rows * vectors);
    const Slide& slide = *contraction.slide;
    const auto taps = static_cast<double>(slide.tap_count);
    const double shared = std::min(1.0, ((rows - 1) * static_cast<double>(slide.rows) + taps) / (rows * taps));
    const double whole = 1 + static_cast<double>(machine.vector_bytes) / kLine;
    return shared * whole * static_cast<double>(slide.lanes) + 1 / (rows * vectors);
}

}  // namespace

double cycles_of(const Contraction& contraction, const Machine& machine) {
    const Tile tile = tile_of(contraction, machine);
    const auto steps = static_cast<double>(contraction.steps), lanes = static_cast<double>(contraction.lanes);
    const std::int64_t step = contraction.group.empty() ? tile.width : tile.lanes();  // groups have whole tiles
    const auto computed = static_cast<double>(ceil_div(contraction.lanes, step) * step);
    const double slowed = contraction.slide ? std::max(1.0, loads_of(contraction, tile, machine)) : 1;
    const double sums = slowed * steps * computed / (kTwoAdds * static_cast<double>(tile.width) * lanes);
    return contraction.lane_is_innermost ? sums : sums + kWrittenAcross;
}

bool pays_along(const Contraction& contraction, const Machine& machine) {
    const auto steps = static_cast<double>(contraction.steps), width = static_cast<double>(machine.lanes(DType::f32));
    return cycles_of(contraction, machine) <= steps / (kTwoAdds * width) + kWrittenAcross;
}

Tile tile_of(const Contraction& contraction, const Machine& machine) {
    constexpr std::int64_t kMostRows = 14, kMostVectors = 4;
    constexpr double kRowsPerLoad = 4.5;  // are multiplied while a vector comes from the second cache
    constexpr double kLoad = 0.25;        // of a multiplication, where loads are more than every third instruction
    const auto width = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::min(contraction.lanes, machine.lanes(DType::f32)))));
    const std::int64_t most_vectors = contraction.rows <= 2 ? 2 * kMostVectors : kMostVectors;
    Tile best{.width = width};
    double least = 1e99;
    for (std::int64_t vectors = 1; vectors <= most_vectors; vectors++)
        for (std::int64_t rows = 1; rows <= kMostRows; rows++) {
            const bool keeps_image = contraction.slide && contraction.slide->tap_count > 1;  // as many vectors again
            if ((keeps_image ? 2 : 1) * rows * vectors > machine.accumulators || rows > contraction.rows ||
                vectors * width > contraction.lanes)
                continue;
            const auto r = static_cast<double>(rows), v = static_cast<double>(vectors);
            const auto padded = [](std::int64_t size, std::int64_t step) {
                return static_cast<double>(ceil_div(size, step) * step) / static_cast<double>(size);
            };
            const double loaded = loads_of(contraction, {rows, vectors, width}, machine);
            const double loads = contraction.slide ? std::max(1.0, loaded) : 1 + kLoad * std::max(0.0, loaded - 0.35);
            const double latency = std::max(1.0, 8 / (r * v));
            // A panel that is read again for the next rows, and too large for the first cache, comes from the second.
            const bool again = !contraction.slide && contraction.rows > rows &&
                               contraction.steps * vectors * width > machine.near_floats;
            const double streamed = again ? std::max(1.0, kRowsPerLoad / r) : 1;
            const double cost = padded(contraction.rows, rows) * padded(contraction.lanes, vectors * width) * loads *
                                    std::max(latency, streamed) -
                                1e-4 * r * v;
            if (cost < least) least = cost, best = {rows, vectors, width};
        }
    return best;
}

}  // namespace whittle::halide
