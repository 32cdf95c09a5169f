// same_views(): a view that shows what a value before it shows is that value, as t(t(x)) is x.
#pragma once

#include <set>

#include "passes/origins.h"

namespace whittle {

/// Of a functional graph: whoever reads a view that has the elements of one of those that it is a view of (the same
/// memory, sizes and strides), reads that one; the view stays where it is among `kept`. Dead code is left to dce().
Graph same_views(const Graph& graph, const std::set<NodeId>& kept = {}, Origins* origins = nullptr);

}  // namespace whittle
