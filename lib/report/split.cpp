#include "report/split.h"

#include "graph/value_ref.h"

#include <algorithm>
#include <map>
#include <set>

namespace whittle::report {

namespace {

/// level[i] = the largest number of breaks on a path to node i: the piece it belongs to. Breaks count themselves.
std::vector<int> levels_of(const Graph& graph, const std::set<NodeId>& breaks) {
    std::vector<int> level(graph.nodes.size(), 0);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for_each_input(graph.nodes[i],
                       [&](NodeRef ref) { level[i] = std::max(level[i], level[static_cast<std::size_t>(ref.id)]); });
        if (breaks.contains(static_cast<NodeId>(i))) ++level[i];
    }
    return level;
}

/// Copies `members` (ascending node positions) into a graph of their own.
Graph extract(const Graph& graph, const std::vector<NodeId>& members, const std::vector<std::vector<NodeId>>& users,
              std::string name) {
    Graph piece;
    piece.name = std::move(name);
    piece.dialect = graph.dialect;
    piece.opset_imports = graph.opset_imports;
    piece.subgraphs = graph.subgraphs;
    const std::set<NodeId> inside(members.begin(), members.end());
    std::map<NodeId, NodeRef> moved;
    // Placeholders come first: whatever the members read from outside, constants excepted.
    for (const NodeId id : members)
        for_each_input(graph.node({id}), [&](NodeRef ref) {
            const Node& source = graph.node(ref);
            if (inside.contains(ref.id) || moved.contains(ref.id) || source.kind == NodeKind::get_attr) return;
            Node input{
                .kind = NodeKind::placeholder, .name = source.name, .target = source.name, .results = {source.meta()}};
            if (source.kind == NodeKind::placeholder) input.target = source.target;
            moved[ref.id] = piece.add(std::move(input));
        });
    std::vector<NodeRef> results;
    for (const NodeId id : members) {
        for_each_input(graph.node({id}), [&](NodeRef ref) {
            const Node& source = graph.node(ref);
            if (moved.contains(ref.id) || source.kind != NodeKind::get_attr) return;
            piece.attributes[source.target] = graph.attributes.at(source.target);
            moved[ref.id] = piece.add(source);
        });
        moved[id] = piece.add(map_inputs(graph.node({id}), [&](NodeRef ref) { return Arg(moved.at(ref.id)); }));
        // A call with several results is read through getitem: those are members too, or nobody needs it.
        const auto& readers = users[static_cast<std::size_t>(id)];
        if (graph.node({id}).results.size() == 1 &&
            std::any_of(readers.begin(), readers.end(), [&](NodeId user) { return !inside.contains(user); }))
            results.push_back(moved[id]);
    }
    piece.output(results);
    return piece;
}

}  // namespace

std::vector<Graph> split_at(const Graph& graph, std::span<const NodeId> breaks) {
    if (breaks.empty()) return graph.calls().empty() ? std::vector<Graph>{} : std::vector<Graph>{graph};
    const std::set<NodeId> stops(breaks.begin(), breaks.end());
    const std::vector<int> level = levels_of(graph, stops);
    std::map<int, std::vector<NodeId>> members;
    for (const NodeId id : graph.calls()) {
        // The getitems of a break are its results, not calls to compile.
        if (stops.contains(value_of(graph, {id}).node)) continue;
        members[level[static_cast<std::size_t>(id)]].push_back(id);
    }
    const auto readers = users(graph);
    std::vector<Graph> pieces;
    for (const auto& [number, calls] : members)
        pieces.push_back(extract(graph, calls, readers,
                                 graph.name + (members.size() > 1 ? '_' + std::to_string(pieces.size()) : "")));
    return pieces;
}

Graph call_alone(const Graph& graph, NodeId call) {
    const auto readers = users(graph);
    std::vector<NodeId> members = {call};
    for (const NodeId reader : readers[static_cast<std::size_t>(call)])
        if (is_getitem(graph.node({reader}))) members.push_back(reader);
    return extract(graph, members, readers, graph.name);
}

}  // namespace whittle::report
