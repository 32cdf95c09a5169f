#include "ops/core/draws.h"

#include <algorithm>

#include "ops/core/registry.h"

namespace whittle {

bool draws_random_numbers(const Graph& graph) {
    const auto draws = [](const Node& node) {
        const RegisteredOp* op = node.kind == NodeKind::call ? Registry::instance().op(node.target) : nullptr;
        return op && op->def->random;
    };
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), draws) ||
           std::any_of(graph.subgraphs.begin(), graph.subgraphs.end(),
                       [](const auto& entry) { return draws_random_numbers(*entry.second); });
}

}  // namespace whittle
