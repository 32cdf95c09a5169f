// What the nearest graph that a compiler gets right says, in words.
#pragma once

#include <string>

#include "graph/graph.h"
#include "graph/near.h"

namespace whittle {

/// "The result is right without `dilations`."; "This would be right without `dilations`.". `graph` is the
/// failing one, under the names that a report has.
std::string near_text(const Graph& graph, const NearCase& near);

/// "Sub(x, ReduceMean(…))": a call for a title; `swapped`: with its operands in the other order.
std::string call_in_title(const Graph& graph, const Node& call, bool swapped = false);

}  // namespace whittle
