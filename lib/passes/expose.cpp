#include "passes/expose.h"

#include <map>

#include "passes/rewriter.h"

namespace whittle {

ExposedGraph expose_all_values(const Graph& graph) {
    Rewriter rewriter(graph);
    std::map<ValueRef, NodeRef> items;  // old call and result -> the new getitem that reads it
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        if (node.kind == NodeKind::output) continue;
        const NodeRef ref = rewriter.copy(id);
        if (const auto read = item_read(node)) items.emplace(*read, ref);
    }
    ExposedGraph exposed;
    std::vector<NodeRef> outputs;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        if (is_getitem(node)) continue;
        const NodeRef call = rewriter.mapped({id});
        for (int i = 0; i < static_cast<int>(node.results.size()); ++i) {
            NodeRef value = call;
            if (const auto item = items.find({id, i}); item != items.end())
                value = item->second;
            else if (node.results.size() > 1) {
                Node item = getitem(call, i, node);
                item.name = node.name + "_" + std::to_string(i);
                value = rewriter.graph().add(std::move(item));
            }
            outputs.push_back(value);
            exposed.outputs.push_back({id, i});
        }
    }
    rewriter.graph().output(outputs);
    exposed.graph = rewriter.finish();
    return exposed;
}

}  // namespace whittle
