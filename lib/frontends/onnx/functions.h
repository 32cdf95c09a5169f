// Model-local functions: a model's own ops, given as nodes. Internal.
#pragma once

#include <string>

#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

/// Puts the nodes of each function where it is called, in nested graphs and functions, too, and takes the functions and
/// their domains out of the model. A node of a function is named after its call: "CALL/NODE". Throws Error naming
/// function and node for a function that calls itself, a call with more operands or results than it has, and one of
/// whose ops the function's opset means something else than the model's.
void inline_functions(onnx::ModelProto& model, const std::string& file);

}  // namespace whittle::onnx_proto
