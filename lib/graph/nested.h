// The nested graphs that calls name.
#pragma once

#include "graph/graph.h"

namespace whittle {

/// The call names at least one.
bool has_nested_graph(const Node& call);

/// Gives `to` the nested graphs of `from` that the call names.
void copy_nested(const Node& call, const Graph& from, Graph& to);

}  // namespace whittle
