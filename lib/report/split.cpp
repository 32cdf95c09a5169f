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
    const auto readers = users(graph);
    std::vector<Graph> pieces;
    for (const auto& [number, calls] : members) {
        Subgraph made = piece(graph, calls);
        Graph& part = made.graph;
        std::vector<Arg> read;  // an assertion gives nothing on
        for (std::size_t i = 0; i < made.outputs.size(); ++i)
            if (!readers[static_cast<std::size_t>(made.outputs[i].node)].empty())
                read.push_back(part.nodes.back().args[i]);
        part.nodes.back().args = std::move(read);
        if (members.size() > 1) part.name += '_' + std::to_string(pieces.size());
        pieces.push_back(std::move(part));
    }
    return pieces;
}

}  // namespace whittle::report
