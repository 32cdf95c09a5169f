// Which results of calls show memory of an operand.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace whittle {

/// The operand whose memory the results of the call show; nothing for a call that makes memory of its own. Schemas say
/// which results are views; some (reshape, contiguous, to) copy when the strides or dtype ask for it: those are tried
/// on an operand of the recorded strides.
std::optional<NodeRef> viewed_operand(const Graph& graph, const Node& call);

}  // namespace whittle
