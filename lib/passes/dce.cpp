#include "passes/dce.h"

#include "graph/graph.h"
#include "ops/core/assertions.h"
#include "passes/functionalize.h"
#include "passes/rewriter.h"

namespace whittle {

std::vector<bool> live_nodes(const Graph& graph) {
    std::vector<bool> live(graph.nodes.size(), false);
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const Node& node = graph.nodes[i];
        const bool effect = writes(node) || asserts(node);
        if (node.kind == NodeKind::output || node.kind == NodeKind::placeholder || effect) live[i] = true;
        if (live[i]) for_each_input(node, [&](NodeRef ref) { live[static_cast<std::size_t>(ref.id)] = true; });
    }
    return live;
}

Graph dce(const Graph& graph, Origins* origins) {
    const std::vector<bool> live = live_nodes(graph);
    Rewriter rewriter(graph);
    for (std::size_t i = 0; i < live.size(); ++i)
        if (live[i]) rewriter.copy(static_cast<NodeId>(i));
    Graph result = rewriter.finish();
    if (origins) *origins = rewriter.origins();
    result.subgraphs.clear();
    for (const Node& node : result.nodes) copy_nested(node, graph, result);
    return logged("dce", graph, std::move(result));
}

}  // namespace whittle
