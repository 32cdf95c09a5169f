// Gradients of calls that run nested graphs: another such call, of nested graphs that compute gradients.
#pragma once

#include "ops/core/gradients.h"

namespace whittle {

/// Whether differentiate_nested() has a gradient of the op.
bool has_nested_gradient(std::string_view target);

/// cond: a cond of the same condition on operands and gradients of results, whose branches are the joint graphs of its
/// branches without their outputs. map: a map over slices of operands and gradients; what every slice reads gets the
/// sum. `call` is one in the builder's graph. Throws Error naming the nested graph where that cannot be differentiated.
void differentiate_nested(GraphBuilder& builder, const Node& call, Gradients& gradients);

}  // namespace whittle
