// What the ONNX standard says of an op at an opset: libonnx's own schemas. (Only its tables: its checker accepts
// external data anywhere and its shape inference can die of SIGFPE.) Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

/// The standard's words on one node.
struct Verdict {
    bool known_op = false;
    std::string misfit = {};  ///< what does not fit the op at this opset; empty when all does
    std::string hint = {};
};

/// Checks op, counts of inputs and outputs, and attributes' names and types. For ops of domains that libonnx does not
/// know, `known_op` is false and nothing else is said.
Verdict judge(const onnx::NodeProto& node, const std::string& domain, std::int64_t opset);

/// Why the operands' types do not fit the op: operands of one type variable must agree. Empty when they do. `inputs`
/// are the dtypes in the node's order, nothing for missing ones. The op is known.
std::string type_misfit(const onnx::NodeProto& node, const std::string& domain, std::int64_t opset,
                        const std::vector<std::optional<DType>>& inputs);

}  // namespace whittle::onnx_proto
