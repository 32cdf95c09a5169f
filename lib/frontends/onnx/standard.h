// What the ONNX standard says of an op at an opset: libonnx's own schemas, and ours of what came later. (Only its
// tables: its checker accepts external data anywhere and its shape inference can die of SIGFPE.) Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/proto.h"
#include "graph/schema.h"

namespace whittle::onnx_proto {

/// The domain as the opset imports name it: "" for ai.onnx.
std::string domain_of(const std::string& domain);

/// The op as graphs name it: "onnx.Conv", "com.microsoft.Gelu".
std::string target_of(const onnx::NodeProto& node);

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
std::string type_misfit(const std::string& op_type, const std::string& domain, std::int64_t opset,
                        const std::vector<std::optional<DType>>& inputs);

/// Whether the op has the attribute at this opset.
bool has_attribute(const std::string& op_type, const std::string& domain, std::int64_t opset, const std::string& name);

/// Whether the op is the same one at both opsets; unknown ones are.
bool same_meaning(const std::string& op_type, const std::string& domain, std::int64_t opset, std::int64_t other);

/// Our schema of an op covers all its opsets: every operand that one of them has, in one order. Which of our parameters
/// are the operands at this opset, in its order: found by the standard's name of the operand, or NAME_value where
/// another opset has an attribute NAME. Empty where operands are simply our first parameters, and where the names are
/// not ours.
std::vector<std::size_t> operand_order(const Schema& schema, const std::string& op_type, const std::string& domain,
                                       std::int64_t opset);

}  // namespace whittle::onnx_proto
