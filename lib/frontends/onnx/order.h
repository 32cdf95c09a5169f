// The nodes of ONNX graphs in an order in which every value is produced before it is read, and what nested graphs read
// from around them. Internal.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

/// "node 'conv1' (Conv)", or the position and first output of a nameless one.
std::string place_of(const onnx::NodeProto& node, int position);

/// Names that a graph reads and does not define, in order of first appearance, each once; nested graphs included.
class FreeNames {
  public:
    const std::vector<std::string>& of(const onnx::GraphProto& graph);
    /// Names a node reads: inputs, then what its nested graphs read from around them.
    std::vector<std::string> read_by(const onnx::NodeProto& node);

  private:
    std::map<const onnx::GraphProto*, std::vector<std::string>> known_;
};

/// Sorts the nodes of the graph and of its nested graphs, stably, and checks names on the way. Throws Error naming the
/// place for a value that is defined twice, one that is read but defined nowhere, and for a cycle. `file` is for
/// messages.
void sort_nodes(onnx::GraphProto& graph, const std::string& file);

}  // namespace whittle::onnx_proto
