// What the standard says of the ops of a model: for who is told that a value is wrong.
#pragma once

#include <string>

#include "graph/graph.h"

namespace whittle {

/// "Definition: [Softmax-11](https://…).\n": each op of ai.onnx in the version that the model means, in order, but
/// for those that only change a shape. Nothing where there are none, or too many for somebody to read.
std::string definitions_text(const Graph& graph);

/// " at opset 11", where one of these ops is a newer one in the newest opset. Else nothing.
std::string opset_words(const Graph& graph);

}  // namespace whittle
