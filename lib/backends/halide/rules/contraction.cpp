#include "backends/halide/rules/contraction.h"

#include <algorithm>
#include <bit>

#include "backends/halide/rules/folds.h"

namespace whittle::halide {
namespace {

using expr::Expr;
using expr::Group;
using expr::Op;
using expr::Stage;

bool reads(const Expr& e, const std::string& variable) { return mentions(e, Op::variable, variable); }

/// Whether the variable is one of the load's indices, and in no other.
bool stands_alone(const Expr& load, const std::string& variable) {
    int alone = 0, inside = 0;
    for (const Expr& index : load->operands) {
        if (is_variable(index, variable))
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

}  // namespace

bool is_sum_of_products(const Stage& stage) {
    const auto found = factors(stage);
    return found && found->a;
}

std::optional<Contraction> contraction_of(const Group& group, const Stage& stage) {
    constexpr std::int64_t kFewestLanes = 4;
    constexpr std::int64_t kLongestBlock = 1024;  // steps of a sum in f32 where one in f64 is asked for
    constexpr std::int64_t kMostBlocks = 64;
    const auto found = factors(stage);
    if (!found) return {};
    Contraction result{.stage = stage.name, .left = {}, .right = {}, .lane = {}, .row = {}};
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
    const expr::LoopVar* innermost = nullptr;
    for (const expr::LoopVar& v : stage.vars)
        if (v.extent > 1) innermost = &v;
    const expr::LoopVar* lane = nullptr;
    for (const expr::LoopVar& v : stage.vars)
        for (const auto& [left, right] : {*found, Factors{found->b, found->a}}) {
            if (v.extent < kFewestLanes || !right || !stands_alone(right, v.name)) continue;
            if (left ? reads(left, v.name) : !is_variable(right->operands.back(), v.name)) continue;
            if (lane && &v != innermost && v.extent <= lane->extent) continue;
            lane = &v, result.left = left, result.right = right;
        }
    if (!lane) return {};
    result.lane = lane->name, result.lanes = lane->extent, result.lane_is_innermost = lane == innermost;
    for (const expr::LoopVar& v : stage.vars) {
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

bool pays_along(const Contraction& contraction, const Machine& machine) {
    constexpr double kWrittenAcross = 1;  // cycles an element
    constexpr double kTwoAdds = 2;        // vectors a cycle
    const Tile tile = tile_of(contraction, machine);
    const auto steps = static_cast<double>(contraction.steps), lanes = static_cast<double>(contraction.lanes);
    const double computed = static_cast<double>(ceil_div(contraction.lanes, tile.width) * tile.width);
    const double along = steps * computed / (kTwoAdds * static_cast<double>(tile.width) * lanes);
    const double across = steps / (kTwoAdds * static_cast<double>(machine.lanes(DType::f32))) + kWrittenAcross;
    return along <= across;
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
            if (rows * vectors > machine.accumulators || rows > contraction.rows || vectors * width > contraction.lanes)
                continue;
            const auto r = static_cast<double>(rows), v = static_cast<double>(vectors);
            const auto padded = [](std::int64_t size, std::int64_t step) {
                return static_cast<double>(ceil_div(size, step) * step) / static_cast<double>(size);
            };
            const double loads = std::max(0.0, (r + v) / (r * v) - 0.35), latency = std::max(1.0, 8 / (r * v));
            // A panel that is read again for the next rows, and too large for the first cache, comes from the second.
            const bool again = contraction.rows > rows && contraction.steps * vectors * width > machine.near_floats;
            const double streamed = again ? std::max(1.0, kRowsPerLoad / r) : 1;
            const double cost = padded(contraction.rows, rows) * padded(contraction.lanes, vectors * width) *
                                    (1 + kLoad * loads) * std::max(latency, streamed) -
                                1e-4 * r * v;
            if (cost < least) least = cost, best = {rows, vectors, width};
        }
    return best;
}

}  // namespace whittle::halide
