// What the backends that call LibTorch have in common: what it does not run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/backend.h"
#include "graph/graph.h"
#include "graph/schema.h"

namespace whittle::aten {

/// Targets of calls, those of nested graphs included, that LibTorch has not and that decompose into nothing it has; and
/// of those that read or give an element type that it has not.
std::vector<std::string> not_in_libtorch(const Graph& graph);

/// It says what runs, and computes nothing: an op with nested graphs, as cond, and an assertion. The reference's
/// interpreter does it.
bool is_control(const Node& call, const Schema& schema);

}  // namespace whittle::aten
