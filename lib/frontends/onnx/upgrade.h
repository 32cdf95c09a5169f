// Models of opsets before the first that the ops are defined for: most of their nodes mean the same there. Internal.
#pragma once

#include <cstdint>
#include <string>

#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

/// Turns the nodes of the graph, nested graphs included, from opset `from` of ai.onnx to `to`, a later one. Throws
/// Error naming the first node that has no such form, as one whose op changed its meaning in between.
void upgrade(onnx::GraphProto& graph, std::int64_t from, std::int64_t to, const std::string& file);

}  // namespace whittle::onnx_proto
