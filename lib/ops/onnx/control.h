// What the ONNX dialect's ops with nested graphs (If, Loop, Scan) tell whoever builds calls of them. The ops themselves
// are reached through the registry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Metas of a nested graph's own placeholders (before the captured ones), from the metas of the call's operands. The
/// nested graphs of a call are not needed yet. Throws Error for operands that do not fit and for an op without nested
/// graphs.
std::vector<ValueMeta> onnx_body_inputs(const Graph& graph, const Node& call);

/// The op runs one of its nested graphs.
bool onnx_branches(const std::string& target);

/// The attribute that holds the graph which an If whose condition is a constant always runs.
std::optional<std::string> onnx_chosen_branch(const Graph& graph, const Node& call);

}  // namespace whittle
