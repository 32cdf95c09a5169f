// GroupBuilder: how an op's `lower` describes itself. Operands arrive as indexable values; pointwise, broadcast, view
// and slice ops return a new indexable value and so fuse by substitution; what must exist in memory asks for a stage.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "expr/group.h"

namespace whittle::expr {

using Index = std::vector<Expr>;

/// A tensor as a function from index expressions (one i32 per dimension, outermost first, in bounds) to an element.
/// Evaluations are memoized by index, so that using a value twice shares one expression.
class Value {
  public:
    Value() = default;
    Value(DType dtype, Sizes sizes, std::function<Expr(const Index&)> element);

    DType dtype() const { return state_->dtype; }
    const Sizes& sizes() const { return state_->sizes; }
    std::int64_t rank() const { return static_cast<std::int64_t>(state_->sizes.size()); }
    Expr operator()(const Index& index) const;
    /// Set when the value is exactly an input or a stage: loading it costs nothing to repeat.
    const std::string& stored_as() const { return state_->stored_as; }
    explicit operator bool() const { return state_ != nullptr; }

  private:
    friend class GroupBuilder;
    struct State {
        DType dtype;
        Sizes sizes;
        std::function<Expr(const Index&)> element;
        std::string stored_as;
        std::vector<std::pair<Index, Expr>> memo;
        std::string origin;  ///< the line of the node that it is a result of, where that is known
    };
    std::shared_ptr<State> state_;
};

class GroupBuilder {
  public:
    explicit GroupBuilder(std::string name = "group");

    Value input(const std::string& name, DType dtype, Sizes sizes, Strides strides);
    /// Of an input: it is the same in every run.
    void set_constant(const Value& input);
    /// Names the node being lowered: stages made from now on carry its printed line and derive their names from `hint`.
    void set_origin(std::string hint, std::string line);
    /// The value is a result of that node: a stage that stores it for another one carries this one's line.
    void set_result(const Value& value);

    /// Stores `value` as a stage and returns the stored value; itself when it is stored already.
    Value materialize(const Value& value, const std::string& hint = {});
    /// stage[i] = init(i); then for r over `domain` (last fastest): stage[i] = update(i, r, stage[i]).
    Value reduce(DType dtype, Sizes sizes, const Sizes& domain, const std::function<Expr(const Index&)>& init,
                 const std::function<Expr(const Index&, const Index&, Expr)>& update, const std::string& hint = {});
    /// A stage with hand-made updates (scans, scatters). `updates(i, self)`: i are the stage's variables; self(index)
    /// loads the stage itself.
    Value stage(
        DType dtype, Sizes sizes, const std::function<Expr(const Index&)>& init,
        const std::function<std::vector<Update>(const Index&, const std::function<Expr(const Index&)>& self)>& updates,
        const std::string& hint = {});
    /// A fresh loop variable for an update's domain.
    LoopVar domain_variable(std::int64_t extent);

    std::size_t stage_count() const { return group_.stages.size(); }
    /// Updates of all stages so far: reductions, scans and scatters.
    std::size_t update_count() const;
    /// Makes the value a group output (materialized as needed; an input or an already listed output is copied to a
    /// stage of its own). Returns the output's stage name.
    std::string output(const Value& value, const std::string& hint = {});
    /// Drops stages and inputs no output needs, verifies, and returns the group. The builder is spent.
    Group finish();

  private:
    std::string unique(const std::string& hint);
    Value stored(const std::string& name, DType dtype, Sizes sizes);

    Group group_;
    std::set<std::string> names_;  ///< of inputs and stages, those under construction included
    std::string hint_ = "t", line_;
    int next_variable_ = 0;
};

}  // namespace whittle::expr
