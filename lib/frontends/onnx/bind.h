// What a node says: its op, its operands and its attributes, as the call that it becomes. Nested graphs are the
// importer's. Internal.
#pragma once

#include "frontends/onnx/pending.h"
#include "frontends/onnx/scope.h"

namespace whittle::onnx_proto {

/// The node, of which nothing is bound yet. Throws Error for one that no graph can hold.
PendingNode start(onnx::NodeProto& node, int position, const Scope& scope);
/// Refuses what does not fit the standard and ops that Whittle does not know, unless they are kept as opaque calls.
void check_op(PendingNode& pending, const LoadOptions& options);
/// The standard's only node without inputs that is a value.
bool is_constant(const PendingNode& pending);
/// It becomes what an initializer becomes.
void bind_constant(PendingNode& pending, Scope& scope);
void bind_inputs(PendingNode& pending, Scope& scope);
/// All but nested graphs.
void bind_attributes(PendingNode& pending, Scope& scope);

/// The identifier of an output that has a name.
const std::string& result_name(const PendingNode& pending, int output, Scope& scope);
/// The identifier of the call.
const std::string& call_name(const PendingNode& pending, Scope& scope);

}  // namespace whittle::onnx_proto
