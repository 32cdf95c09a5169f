// What the ONNX standard allows, and says the result of: a find outside of it is none.
#pragma once

#include <string>

#include "graph/graph.h"

namespace whittle {

/// The first call of which the standard does not say what it gives: its op is deprecated at the graph's opset or does
/// not take its operands' types, or the text leaves open what such a call computes. "Celu on f64"; empty: it says all.
std::string outside_standard(const Graph& graph);

}  // namespace whittle
