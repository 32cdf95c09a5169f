// The operands of a call as an ONNX file has them, and whether their types fit the op.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// The domain of a target as the opset imports name it: "" for ai.onnx.
std::string domain_in(const std::string& target);

/// The operands that the op has at the graph's opset, in its order: each element of a list, and none where one is
/// missing.
std::vector<Arg> operands_in_file(const Graph& graph, const Node& call);

/// Throws Error where operands of a call have different data types for which the ONNX op has one. Whittle's ops convert
/// them, but compilers refuse the file.
void check_operand_types(const Graph& graph, const Node& call);

}  // namespace whittle
