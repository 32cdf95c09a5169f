// What rules ask of expressions.
#pragma once

#include <optional>
#include <string>

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

bool is_variable(const expr::Expr& e, const std::string& name);
/// Whether `e` loads the stage's element at the stage's own variables.
bool is_itself(const expr::Expr& e, const expr::Stage& stage);
bool mentions(const expr::Expr& root, expr::Op op, const std::string& name);
/// The expression with a value for a variable.
expr::Expr with(const expr::Expr& root, const std::string& variable, const expr::Expr& value);

/// A fold whose order is free: self + x, or select(is_nan(self) || x <= self, self, x) and its like with self <= x.
struct Fold {
    expr::Expr element;  ///< x
    bool sum = false;

    expr::Expr operator()(const expr::Expr& self, const expr::Expr& x, const expr::Stage& stage) const;
};
/// Of a stage with one update, in f32 or f64, which folds in place and under no condition; else nothing.
std::optional<Fold> fold_of(const expr::Stage& stage);

/// What partial sums start from, of a sum that starts from `start`: adding it changes nothing. That is -0, as -0 + 0 is
/// 0, but 0 where the sum starts from it, and so is never -0.
expr::Expr neutral_for(const expr::Expr& start);

/// The one stage that reads `name`, always at its own place; empty if there is none such, or `name` is an output.
std::string reader_in_place(const Draft& draft, const std::string& name);

}  // namespace whittle::halide
