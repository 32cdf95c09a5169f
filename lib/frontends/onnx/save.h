// Graph in the "onnx" dialect -> ONNX model file. Entry point: save_onnx().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// What the file calls the model's inputs and outputs, in order.
struct OnnxNames {
    std::vector<std::string> inputs, outputs;
};

/// Writes the graph as a model with the graph's opset imports: placeholders as typed inputs under their sources' names,
/// get_attr as initializers, calls as nodes, nested graphs as attributes with lifted values read from around them again
/// (see load.h). Loading it gives a graph with the same_structure. Atomic.
/// Throws Error naming the node for a call without an ONNX spelling, and for models beyond protobuf's 2 GiB.
OnnxNames save_onnx(const Graph& graph, const std::filesystem::path& path);

/// The same as the bytes of the file.
std::string to_onnx(const Graph& graph);

}  // namespace whittle
