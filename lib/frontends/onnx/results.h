// What becomes of a node whose arguments are bound: the metas of its results, inferred or as the file declares them,
// and the call or the constants that stand for them. Internal.
#pragma once

#include <vector>

#include "frontends/onnx/pending.h"
#include "frontends/onnx/scope.h"

namespace whittle::onnx_proto {

/// Refuses the node, or says how it can be had, because `value` is computed while the model runs. Where inputs of the
/// model decide it, the user can give it.
void want_constant(PendingNode& pending, NodeRef value, const Scope& scope);

/// The metas, from the op. Refuses the node where they cannot be had.
void infer_results(PendingNode& pending, Scope& scope);
/// Those that cannot be inferred, as the file declares them; of a node that is refused, a break.
void declare_results(PendingNode& pending, Scope& scope);
/// The results, where they depend on constants and static sizes alone; else empty.
std::vector<Tensor> folded_results(const PendingNode& pending, const GraphDraft& draft);

/// Constants in place of the call.
void add_constants(PendingNode& pending, const std::vector<Tensor>& values, Scope& scope);
/// The call. `values` are its results where they are constant all the same.
void add_call(PendingNode& pending, const std::vector<Tensor>& values, Scope& scope);

}  // namespace whittle::onnx_proto
