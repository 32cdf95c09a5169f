// Sums of products: matrix products, batched or not, and convolutions, in groups or not.
//
// Vectors run along the dimension that only one factor has and where it lies alone at an index (`lane`: the columns of
// a matrix product, a convolution's output channels); a register tile keeps a few rows of some vectors while the sum
// runs. The factor with the lanes is packed so that the vectors of the sum's steps follow each other in memory.
// The rule: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34 (2008), 3, with
// the panel of the one factor in cache and the tile in registers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

/// Of a sum over windows of an image that lies along the lanes, and in rows across them: the window moves with the
/// lanes, so that one factor alone has them, but never alone at an index.
struct Slide {
    std::string taps = {};  ///< the domain's loop that moves across the image's rows, written out; empty: none
    std::int64_t tap_count = 1;
    std::int64_t rows = 1, lanes = 1;  ///< of the image, from one of the result to the next
};

/// stage[p] = start(p); then for a domain r: stage[p] += left(p, r) * right(p, r). Elements are f32, or f64 of factors
/// that are f32: a sum that is long. Such a one is summed in f32 in blocks, whose sums are added up.
struct Contraction {
    std::string stage;
    expr::Stage sums;                     ///< the stage as it is summed, maybe with a dimension more (`group`)
    expr::Expr left, right;               ///< `right` has the lanes; no left: a sum over columns
    std::string lane;                     ///< a variable of the stage that only `right` reads, alone at an index
    std::string row;                      ///< the tile's other dimension: only `left` reads it; empty: none
    std::vector<std::string> outer = {};  ///< the other dimensions that only `left` reads, outermost first
    bool lane_is_innermost = false;       ///< else the result is written across: a convolution
    std::int64_t blocks = 1;              ///< of the domain's first loop, summed apart
    bool wide = false;                    ///< f64
    std::int64_t lanes = 0, rows = 1, steps = 1, products = 0;
    /// The stage's variable of the lanes is group * lanes + lane, of so many groups: a dimension of the sums, which
    /// both factors have. Empty: there are no groups.
    std::string group = {};
    std::int64_t groups = 1;
    std::optional<Slide> slide = {};  ///< `right` is the image; `row`: of it
};

/// Whether each step of the stage adds the product of two loads of f32 to its element. Only such a sum may be
/// contracted: under LLVM's flags for fast arithmetic a constant 0 in a term would be seen to give 0, whatever it is
/// multiplied by, and to be nothing that is added.
bool is_sum_of_products(const expr::Stage& stage);

/// Nothing where the stage is no such sum, or has no dimension for the lanes.
std::optional<Contraction> contraction_of(const expr::Group& group, const expr::Stage& stage);

/// One whose result is written across its lanes, although it has a dimension for lanes that lies along it; only of a
/// factor that lies along the lanes, and so costs little to pack.
std::optional<Contraction> contraction_across(const expr::Group& group, const expr::Stage& stage);

/// Of a stage in which one factor has a dimension only as the quotient by a constant, as a convolution in groups reads
/// the channels of its image: the quotient is a dimension of its own, in which each group is a contraction of its own
/// lanes. Only where the result is written across its lanes.
std::optional<Contraction> grouped_contraction_of(const expr::Group& group, const expr::Stage& stage);

/// A sum over windows: vectors along the result's columns. For windows of many terms; `taps` is the domain's last loop.
std::optional<Contraction> sliding_contraction_of(const expr::Group& group, const expr::Stage& stage);

/// The sizes of a register tile: `rows` times `vectors` vectors of `width` elements.
struct Tile {
    std::int64_t rows = 1, vectors = 1, width = 1;
    std::int64_t lanes() const { return vectors * width; }
};
/// The tile that wastes least: padded rows and lanes, loads per product, too few sums to hide an addition's latency.
Tile tile_of(const Contraction& contraction, const Machine& machine);

/// Cycles that an element of the result takes, about: to sum it, and to write it across the lanes if they are not what
/// lies beside each other in the result.
double cycles_of(const Contraction& contraction, const Machine& machine);

/// Of a sum whose lanes are what lies beside each other in the result: whether these vectors, which may be narrow or
/// overlap, take no longer than whole ones whose sums have to be written across their lanes.
bool pays_along(const Contraction& contraction, const Machine& machine);

/// Schedules the stage if it is a contraction that is worth it; else leaves all as it is.
bool schedule_contraction(Draft& draft, const std::string& stage, const Machine& machine);
bool schedule_sliding(Draft& draft, const std::string& stage, const Machine& machine);

/// The stages and loops of a contraction of the draft's: register tiles, and what is packed for them.
void schedule_tiles(Draft& draft, const Contraction& contraction, const Machine& machine);

}  // namespace whittle::halide
