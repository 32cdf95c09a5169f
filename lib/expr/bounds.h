// What values an integer expression can take, given the extents of its loops: readers use it to print plain C++
// operators where nothing can wrap, to drop clamps that do nothing, and to know which index Halide can bound itself.
#pragma once

#include <map>
#include <span>

#include "expr/exprmap.h"
#include "expr/group.h"

namespace whittle::expr {

/// lo <= value <= hi; both fit the expression's type.
struct Interval {
    std::int64_t lo = 0, hi = 0;
    bool operator==(const Interval&) const = default;
    bool within(std::int64_t low, std::int64_t high) const { return low <= lo && hi <= high; }
};

/// The range of an integer type; {0, 1} for bool.
Interval range_of(DType dtype);

class Bounds {
  public:
    /// Every loop runs from 0 to its extent, which is positive (code in empty loops does not run).
    explicit Bounds(std::span<const LoopVar> loops);

    /// Of an integer or bool expression; the type's whole range when nothing better is known. Floats: nothing is known.
    Interval of(const Expr& e);
    /// Whether an add, sub, mul, div, abs or narrowing cast can leave the range of its type.
    bool may_wrap(const Expr& e);

  private:
    struct Result {
        Interval interval;
        bool wraps = false;
    };
    Result compute(const Expr& e);
    const Result& result(const Expr& e);

    std::map<std::string, Interval> loops_;
    ExprMap<Result> known_;
};

}  // namespace whittle::expr
