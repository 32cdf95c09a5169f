// What is done to a model before its nodes are read: opsets before the first that the ops are defined for, model-local
// functions, and inputs that are no tensors. Internal.
#pragma once

#include <cstdint>
#include <string>

#include "frontends/onnx/load.h"
#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

/// Turns the nodes of the graph, nested graphs included, from opset `from` of ai.onnx to `to`, a later one. Throws
/// Error naming the first node that has no such form, as one whose op changed its meaning in between.
void upgrade(onnx::GraphProto& graph, std::int64_t from, std::int64_t to, const std::string& file);

/// Puts the nodes of each function where it is called, in nested graphs and functions, too, and takes the functions and
/// their domains out of the model. A node of a function is named after its call: "CALL/NODE". Throws Error naming
/// function and node for a function that calls itself, a call with more operands or results than it has, and one of
/// whose ops the function's opset means something else than the model's.
void inline_functions(onnx::ModelProto& model, const std::string& file);

/// Replaces inputs that are sequences by inputs that are their elements, as many as `options` say, and optionals by
/// what they hold. Throws Error naming an input of which they say nothing.
void list_inputs(onnx::GraphProto& graph, const LoadOptions& options, const std::string& file);

}  // namespace whittle::onnx_proto
