// The ops of a graph by name.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Targets of the nodes for which chosen(graph, node), those of nested graphs included, each once, in order of
/// appearance.
template <class Chosen>
void add_targets(const Graph& graph, const Chosen& chosen, std::vector<std::string>& targets) {
    for (const Node& node : graph.nodes)
        if (chosen(graph, node) && std::ranges::find(targets, node.target) == targets.end())
            targets.push_back(node.target);
    for (const auto& [name, nested] : graph.subgraphs) add_targets(*nested, chosen, targets);
}
template <class Chosen>
std::vector<std::string> targets_of(const Graph& graph, const Chosen& chosen) {
    std::vector<std::string> targets;
    add_targets(graph, chosen, targets);
    return targets;
}

}  // namespace whittle
