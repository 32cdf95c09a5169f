// A group on its way to its schedule. Rules look at the shape of its expressions only: none knows an op's name.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "expr/group.h"

namespace whittle::halide {

/// What rules ask of the processor.
struct Machine {
    std::int64_t lanes(DType dtype) const { return vector_bytes / static_cast<std::int64_t>(size_of(dtype)); }

    std::int64_t vector_bytes = 32;
    std::int64_t accumulators = 12;   ///< vectors that a register tile may keep, beside those that it loads
    std::int64_t near_floats = 8192;  ///< that the first cache has room for, and the second
    std::int64_t far_floats = std::int64_t{1} << 18;
    /// Multiply-adds, or what costs as much, below which the plain loops are as quick as what a rule makes …
    std::int64_t least_work = std::int64_t{1} << 15;
    std::int64_t shortest_row = 64;
    /// … and starting threads costs more than they give.
    std::int64_t least_parallel = std::int64_t{1} << 20;
};

/// That a parallel loop should have.
constexpr std::int64_t kTasks = 8;

class Draft {
  public:
    explicit Draft(expr::Group& group) : group_(group) {}

    expr::Group& group() { return group_; }
    const expr::Group& group() const { return group_; }
    bool is_output(const std::string& stage) const;

    /// Adds a directive that needs those in `requires_` (positions); returns its position.
    int add(expr::Directive directive, std::vector<int> requires_ = {});
    /// The stage's loops are scheduled: no other rule looks at it.
    void finish(const std::string& stage) { finished_.insert(stage); }
    bool is_finished(const std::string& stage) const { return finished_.contains(stage); }
    /// Threads share the rows of the stage's images, the dimension before the last: stages around it do the same.
    void share_rows(const std::string& stage) { by_rows_.insert(stage); }
    bool shares_rows(const std::string& stage) const { return by_rows_.contains(stage); }

    expr::Stage& stage(const std::string& name) { return group_.stages[position(name)]; }
    /// Puts a stage before or behind another one.
    void insert_before(const std::string& place, expr::Stage stage);
    void insert_behind(const std::string& place, expr::Stage stage);

    /// Runs the stage's loop, of `count` steps, in parallel: whole, or, where they are many, in pieces, as each task
    /// costs a call. What the loop inside of it is called.
    std::string parallel(const std::string& stage, const std::string& loop, std::int64_t count,
                         const std::vector<int>& requires_);

    const expr::Schedule& schedule() const { return schedule_; }
    expr::Schedule take() { return std::move(schedule_); }

  private:
    std::size_t position(const std::string& stage) const;

    expr::Group& group_;
    expr::Schedule schedule_;
    std::set<std::string> finished_, by_rows_;
};

/// Fewer rows of an image are not for threads to share.
inline constexpr std::int64_t kRowsToShare = 8;

/// What Kind::vector_math is about.
inline constexpr expr::Op kVectorFunctions[] = {expr::Op::exp, expr::Op::tanh, expr::Op::erf};
/// Whether the expression has such functions, in f32.
bool has_vector_functions(const expr::Expr& root);

/// How often the innermost body of the loops runs.
std::int64_t points(const std::vector<expr::LoopVar>& loops);

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace whittle::halide
