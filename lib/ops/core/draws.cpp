#include "ops/core/draws.h"

#include <algorithm>

#include "base/error.h"
#include "ops/core/registry.h"

namespace whittle {

/// A composite without a kernel is its parts; one that cannot be taken apart draws nothing: it is refused.
bool draws_random_numbers(const Graph& graph, const Node& node) {
    const RegisteredOp* op = node.kind == NodeKind::call ? Registry::instance().op(node.target) : nullptr;
    if (!op || op->def->random || op->def->eval || !op->def->decompose) return op && op->def->random;
    try {
        return draws_random_numbers(expand(graph, node).graph);
    } catch (const Error&) {
        return false;
    }
}

bool draws_random_numbers(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [&](const Node& node) { return draws_random_numbers(graph, node); }) ||
           std::ranges::any_of(graph.subgraphs, [](const auto& entry) { return draws_random_numbers(*entry.second); });
}

}  // namespace whittle
