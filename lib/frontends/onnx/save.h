// Graph in the "onnx" dialect -> ONNX model file. Entry point: save_onnx().
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "frontends/onnx/weights.h"
#include "graph/value_ref.h"

namespace whittle {

/// What the file calls the model's inputs and outputs, in order, and the values of the graph that nodes make.
struct OnnxNames {
    std::vector<std::string> inputs, outputs;
    std::map<std::string, ValueRef> values = {};
};

/// Writes the graph as a model with the graph's opset imports: placeholders as typed inputs under their sources' names,
/// get_attr as initializers, calls as nodes, nested graphs as attributes with lifted values read from around them again
/// (see load.h). Loading it gives a graph with the same_structure. Atomic.
/// Large weights are external data of `weights`; without it they are inside, unless they are more than protobuf takes:
/// then they are files of their own beside the model. Throws Error naming the node for a call without an ONNX spelling.
OnnxNames save_onnx(const Graph& graph, const std::filesystem::path& path, SharedWeights* weights = nullptr);

/// `shared` where the weights of the graph are to lie beside its model, or else null, which is for save_onnx().
SharedWeights* weights_beside(const Graph& graph, ExternalData wanted, SharedWeights& shared);

/// What save_onnx() writes, as the bytes of a file with all weights inside. Throws Error beyond protobuf's 2 GiB.
std::string to_onnx(const Graph& graph);

/// Weights of so many bytes all together stay inside a model: half of what protobuf takes leaves room for all the rest.
inline constexpr std::size_t kMostInside = std::size_t(1) << 30;

/// The bytes of a file in `folder`, where large weights are written first if all together are more than `most_inside`.
std::string to_onnx_in(const std::filesystem::path& folder, const Graph& graph, std::size_t most_inside = kMostInside);

/// The model as a text that onnx.parser reads, but for large parameters, of which only the type is told. Throws Error
/// as save_onnx().
std::string onnx_text(const Graph& graph);

}  // namespace whittle
