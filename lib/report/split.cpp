#include "report/split.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/value_ref.h"
#include "passes/subgraph.h"

namespace whittle::report {

std::vector<Graph> split_at(const Graph& graph, std::span<const NodeId> breaks) {
    if (breaks.empty()) return graph.calls().empty() ? std::vector<Graph>{} : std::vector<Graph>{graph};
    const std::set<NodeId> stops(breaks.begin(), breaks.end());
    // The largest number of breaks on a path to a node is the piece it belongs to. Breaks count themselves.
    std::vector<int> level(graph.nodes.size(), 0);
    std::map<int, std::vector<NodeId>> members;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.node({id});
        int& own = level[static_cast<std::size_t>(id)];
        for_each_input(node, [&](NodeRef ref) { own = std::max(own, level[static_cast<std::size_t>(ref.id)]); });
        if (stops.contains(id))
            ++own;
        else if (is_op_call(node))
            members[own].push_back(id);
    }
    std::vector<Graph> pieces;
    for (const auto& [number, calls] : members) {
        Graph part = piece(graph, calls).graph;
        if (members.size() > 1) part.name += '_' + std::to_string(pieces.size());
        pieces.push_back(std::move(part));
    }
    return pieces;
}

}  // namespace whittle::report
