// Which results of calls show memory of an operand.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "ops/core/builder.h"
#include "tensor/tensor.h"

namespace whittle {

/// The operand whose memory the results of the call show; nothing for a call that makes memory of its own. Schemas say
/// which results are views; some (reshape, contiguous, to) copy when the strides or dtype ask for it: those are tried
/// on an operand of the recorded strides.
std::optional<NodeRef> viewed_operand(const Graph& graph, const Node& call);

/// `base` with the elements that a view shows replaced by `value`, which has the view's dtype and sizes. `shown` is
/// what the view makes of the row-major numbering of the base's elements: i64 0 … numel-1 in the base's sizes; its
/// geometry decides how the write is told: as a permutation, a slice, or element by element. Throws Error when an
/// element is shown twice, as in expanded tensors: ATen refuses to write to those.
V write_through(GraphBuilder& builder, const V& base, const Tensor& shown, const V& value);

}  // namespace whittle
