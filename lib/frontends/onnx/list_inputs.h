// Inputs of a model that are sequences or optionals. Graphs have tensors only: the elements of a sequence x are inputs
// x.0, x.1 … Internal.
#pragma once

#include <string>

#include "frontends/onnx/load.h"
#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

/// Replaces inputs that are sequences by inputs that are their elements, as many as `options` say, and optionals by
/// what they hold. Throws Error naming an input of which they say nothing.
void list_inputs(onnx::GraphProto& graph, const LoadOptions& options, const std::string& file);

}  // namespace whittle::onnx_proto
