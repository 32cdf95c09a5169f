#include "passes/joint_facts.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "graph/value_ref.h"
#include "passes/views.h"

namespace whittle {

JointFacts::JointFacts(const Graph& joint_graph, const Joint& joint) : graph(joint_graph) {
    const std::vector<NodeId> placeholders = graph.placeholders(), results = graph.outputs();
    const auto inputs = static_cast<std::ptrdiff_t>(joint.inputs), own = static_cast<std::ptrdiff_t>(joint.outputs);
    primals.assign(placeholders.begin(), placeholders.begin() + inputs);
    tangents.assign(placeholders.begin() + inputs, placeholders.end());
    outputs.assign(results.begin(), results.begin() + own);
    gradients.assign(results.begin() + own, results.end());

    backward.assign(graph.nodes.size(), false);
    for (const NodeId id : tangents) backward[node_index(id)] = true;
    for (std::size_t i = 0; i < count(); ++i) {
        const Node& node = graph.nodes[i];
        std::vector<NodeId>& read = operands.emplace_back();
        for_each_input(node, [&](NodeRef ref) {
            if (std::ranges::count(read, ref.id) == 0) read.push_back(ref.id);
        });
        for (const NodeId id : read) backward[i] = backward[i] || backward[node_index(id)];
        const std::optional<NodeRef> viewed = viewed_operand(graph, producer_of(graph, node));
        memory.push_back(viewed ? memory[node_index(viewed->id)] : static_cast<NodeId>(i));
    }
    forward.assign(graph.nodes.size(), false);
    for (const NodeId id : outputs) {
        WHITTLE_CHECK(!backward[node_index(id)], "output %" + graph.node({id}).name + " depends on a tangent");
        forward[node_index(id)] = true;
    }
    for (std::size_t i = count(); i-- > 0;)
        if (forward[i])
            for (const NodeId id : operands[i]) forward[node_index(id)] = true;
    for (std::size_t i = 0; i < count(); ++i)
        if (const std::optional<ValueRef> read = item_read(graph.nodes[i]); read && read->index > 0 && forward[i])
            gives_statistics.insert(read->node);
}

std::int64_t JointFacts::bytes(std::size_t i) const {
    const ValueMeta& meta = graph.nodes[i].meta();
    return meta.numel() * static_cast<std::int64_t>(size_of(meta.dtype));
}

std::int64_t JointFacts::bytes_of(const std::vector<bool>& nodes) const {
    std::set<NodeId> memories;
    for (std::size_t i = 0; i < count(); ++i)
        if (nodes[i] && !is_leaf(node_index(memory[i]))) memories.insert(memory[i]);
    std::int64_t sum = 0;
    for (const NodeId id : memories) sum += bytes(node_index(id));
    return sum;
}

std::vector<bool> read_by_backward(const JointFacts& facts, const std::vector<bool>& again) {
    std::vector<bool> read(facts.graph.nodes.size(), false);
    for (const NodeId id : facts.gradients) read[node_index(id)] = true;
    for (std::size_t i = facts.count(); i-- > 0;)
        if (read[i] && again[i])
            for (const NodeId id : facts.operands[i]) read[node_index(id)] = true;
    return read;
}

}  // namespace whittle
