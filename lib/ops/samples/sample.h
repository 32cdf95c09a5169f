// A sample: one call of an op, of which tests and random models (lib/fuzz) are made.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/core/registry.h"

namespace whittle {

/// One call to try: `args` and `kwargs` refer to `tensors` by position, as NodeRef{position}.
struct Sample {
    std::string label;  ///< "broadcast", "0-d", "nan": unique with the dtype within the op
    std::vector<Tensor> tensors;
    ArgList args = {};
    std::vector<std::pair<std::string, Arg>> kwargs = {};
    std::vector<std::size_t> constants = {};  ///< positions of tensors that are constants of the graph, not inputs
    std::map<std::string, std::int64_t> opset_imports = {};  ///< for ONNX ops
    std::map<std::string, std::shared_ptr<const Graph>> subgraphs = {};

    /// The tensors that are placeholders of graph_of(op, *this), in order.
    std::vector<Tensor> inputs() const;
};
using Samples = std::vector<Sample>;

/// A graph with one node per tensor of the sample (a get_attr for its constants, else a placeholder), the call,
/// getitems for several results, and the output.
Graph graph_of(const RegisteredOp& op, const Sample& sample);

}  // namespace whittle
