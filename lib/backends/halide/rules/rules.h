// The rules, a function each; contraction.h has the one for sums of products. A stage that is not what a rule is for is
// left as it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

/// Reductions along rows: sums, means, extrema, softmax, norms. Schedules every one of the group, and what is computed
/// with it. A row is folded in vectors, some of them at a time, and what their lanes hold is folded last. That is
/// another order than one after the other, so only folds that allow it are taken: sums, and extrema. A kernel in which
/// everything but its one output belongs to a row computes it there, row by row, in cache.
void schedule_rows(Draft& draft, const Machine& machine);

inline constexpr std::int64_t kMostTerms = 32;  ///< of a window

/// Folds over a few terms: depthwise convolutions, pooling. The terms are written out, so that an element is computed
/// in one go and not by one pass over the result per term; sums of more products have tiles in registers. What only the
/// window reads (a padded image) is computed for as much of it as one step of the outer loops needs. The stage is
/// scheduled where it is used; loops of the stages that use it are left to others.
bool schedule_window(Draft& draft, const std::string& stage, const Machine& machine);

/// What only `window` reads is computed in a loop of the stage `last`: in the one that `loop` names, given the number
/// of leading dimensions in which an element of the window reads at its own place; where it names none, it stays apart.
void compute_with_window(Draft& draft, const std::string& window, const std::string& last, const Machine& machine,
                         const std::vector<int>& needs, const std::function<std::string(std::size_t)>& loop);

/// Copies across: the result's innermost dimension is not the one along which what is read lies in memory. In square
/// blocks, every cache line that is touched is used whole, of what is read and of what is written.
bool schedule_transpose(Draft& draft, const std::string& stage, const Machine& machine);

/// Results of which every second, third or fourth column reads neighbours, as those of a transposed convolution do: the
/// number of columns after which it begins anew, by which the column's index is divided wherever it is; else 0.
std::int64_t period_of(const expr::Stage& stage);
/// Vectors of each of the period's columns, which Halide then interleaves: all that they read lies beside each other.
void interleave(Draft& draft, const expr::Stage& stage, std::int64_t period, std::int64_t width,
                const std::vector<int>& needs);

/// Padded images, a constant over which the image is written: a stage that is select(0 <= v - c && v - c < n && …,
/// image at max(min(v - c, n - 1), 0) …, fill) becomes the fill, and an update that copies the image, without the
/// clamps, which keep vectors from being loaded whole.
bool split_border(expr::Stage& stage);

}  // namespace whittle::halide
