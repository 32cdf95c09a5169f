#include "passes/expose.h"

#include <map>

#include "passes/rewriter.h"

namespace whittle {

ExposedGraph expose_all_values(const Graph& graph) {
    Rewriter rewriter(graph);
    std::map<SubgraphValue, NodeRef> items;  // old call and result -> the new getitem that reads it
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        if (node.kind == NodeKind::output) continue;
        const NodeRef ref = rewriter.copy(id);
        if (node.kind == NodeKind::call && node.target == kGetItem)
            items.emplace(SubgraphValue{node.args.at(0).node()->id,
                                        static_cast<int>(std::get<std::int64_t>(node.args.at(1).value))},
                          ref);
    }
    ExposedGraph exposed;
    std::vector<NodeRef> outputs;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        if (node.target == kGetItem) continue;
        const NodeRef call = rewriter.mapped({id});
        for (int i = 0; i < static_cast<int>(node.results.size()); ++i) {
            NodeRef value = call;
            if (const auto item = items.find({id, i}); item != items.end())
                value = item->second;
            else if (node.results.size() > 1)
                value = rewriter.graph().add({.name = node.name + "_" + std::to_string(i),
                                              .target = std::string(kGetItem),
                                              .args = {call, i},
                                              .results = {node.results[static_cast<std::size_t>(i)]},
                                              .stack = node.stack,
                                              .module_path = node.module_path});
            outputs.push_back(value);
            exposed.outputs.push_back({id, i});
        }
    }
    rewriter.graph().output(outputs);
    exposed.graph = rewriter.finish();
    return exposed;
}

}  // namespace whittle
