// call_boxed(): one call through LibTorch's dispatcher, whatever the op: its schema says what each argument becomes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace whittle::aten {

/// The schema that LibTorch has for a target ("aten.add.Tensor", "aten.relu.default", or "mylib.scale" of a
/// TORCH_LIBRARY), or for its earlier_target() where it has no other, in ATen's notation without the namespace; nothing
/// when it has no such op.
std::optional<std::string> schema_of(std::string_view target);

/// The tensor that an operand stands for.
using Operands = std::function<Tensor(NodeRef)>;

/// The call's results, lists flattened; a result that LibTorch leaves undefined is nothing. Views of operands share
/// their memory, and an op that writes to an operand writes to it. Positional arguments are in the order of LibTorch's
/// schema, the rest goes by name; a number where a tensor is expected is a wrapped number. Gradients are not recorded.
/// Throws Error for an op that LibTorch has not, for arguments that do not fit its schema, for writes to memory that
/// must not be written, and with LibTorch's own words where it refuses the call.
std::vector<std::optional<Tensor>> call_boxed(const Node& call, const Operands& operands);

/// What the call's results are, by the op's own kernel for tensors that have no elements (LibTorch's Meta); nothing
/// where that refuses, or there is none. Throws Error as call_boxed() for arguments that do not fit.
std::optional<std::vector<ValueMeta>> infer_boxed(const Node& call, const std::function<ValueMeta(NodeRef)>& operands);

/// What LibTorch's autograd knows of a call.
struct BoxedGradients {
    std::vector<bool> differentiable;    ///< of each result: whether it has a gradient to give
    std::map<NodeId, Tensor> gradients;  ///< of each operand that gets one
};

/// Of sum(result * tangent) over the differentiable results, where `tangents` has one for each result of the call, by
/// the operands that are `wanted`. Throws Error as call_boxed(), for an op that LibTorch has by an earlier name only,
/// and where LibTorch refuses the backward call.
BoxedGradients differentiate_boxed(const Node& call, const Operands& operands, const std::vector<Tensor>& tangents,
                                   const std::set<NodeId>& wanted);

}  // namespace whittle::aten
