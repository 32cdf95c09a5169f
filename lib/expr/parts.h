// What changes of groups ask of their stages and expressions.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "expr/group.h"

namespace whittle::expr {

/// Every node of the stage's expressions: values, conditions and places.
void visit(const Stage& stage, const std::function<void(const Expr&)>& f);
/// Inputs and other stages that the stage loads.
std::set<std::string> loaded_by(const Stage& stage);
/// Names of the outputs, and of the stages and inputs that they need.
std::set<std::string> needed(const Group& group);

/// Variables replaced by expressions.
Expr substituted(const Expr& root, const std::map<std::string, Expr>& values);

/// A name that nothing in the group has.
std::string fresh_name(const Group& group, const std::string& wanted);

}  // namespace whittle::expr
