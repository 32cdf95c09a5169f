// The nested graphs that calls name.
#pragma once

#include "graph/graph.h"

namespace whittle {

/// Gives `to` the nested graphs of `from` that the call names.
void copy_nested(const Node& call, const Graph& from, Graph& to);

}  // namespace whittle
