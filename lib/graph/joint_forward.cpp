#include "graph/joint_forward.h"

#include <map>

namespace whittle {

Graph forward_of(const Graph& joint, const JointShape& shape) {
    std::vector<bool> read(joint.nodes.size(), false);
    std::vector<NodeId> outputs = joint.outputs();
    outputs.resize(shape.outputs);
    for (const NodeId id : outputs) read[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = joint.nodes.size() - 1; i-- > 0;)
        if (read[i])
            for_each_input(joint.nodes[i], [&](NodeRef ref) { read[static_cast<std::size_t>(ref.id)] = true; });
    Graph forward = blank_graph(joint, joint.name);
    forward.attributes = joint.attributes;
    std::size_t inputs = joint.placeholders().size() - shape.tangents.size();
    std::map<NodeId, NodeRef> mapped;
    for (std::size_t i = 0; i + 1 < joint.nodes.size(); ++i) {
        const bool input = joint.nodes[i].kind == NodeKind::placeholder && inputs > 0;
        inputs -= input;
        if (!input && !read[i]) continue;
        const Node node = map_inputs(joint.nodes[i], [&](NodeRef ref) { return Arg(mapped.at(ref.id)); });
        mapped[static_cast<NodeId>(i)] = forward.add(node);
    }
    std::vector<NodeRef> results;
    for (const NodeId id : outputs) results.push_back(mapped.at(id));
    forward.output(results);
    return forward;
}

}  // namespace whittle
