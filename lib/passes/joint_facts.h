// What a partition needs to know of a joint graph's nodes: which of them depend on tangents, which the forward's
// outputs need, whose memory they show.
#pragma once

#include <set>
#include <vector>

#include "passes/joint.h"

namespace whittle {

/// Where it stands among its graph's nodes.
inline std::size_t node_index(NodeId id) { return static_cast<std::size_t>(id); }

struct JointFacts {
    /// `graph` is the joint graph, or what a pass made of it; both outlive the facts.
    JointFacts(const Graph& graph, const Joint& joint);

    /// Of nodes but for the output, which is the last.
    std::size_t count() const { return graph.nodes.size() - 1; }
    bool is_leaf(std::size_t i) const {
        return graph.nodes[i].kind == NodeKind::placeholder || graph.nodes[i].kind == NodeKind::get_attr;
    }
    bool is_view(std::size_t i) const { return node_index(memory[i]) != i; }
    /// It has memory of its own, and one value: it can be kept for backward.
    bool is_savable(std::size_t i) const { return !is_leaf(i) && !is_view(i) && graph.nodes[i].results.size() == 1; }
    std::int64_t bytes(std::size_t i) const;
    /// Of the memory of these nodes, each memory once, but for that of placeholders and attributes.
    std::int64_t bytes_of(const std::vector<bool>& nodes) const;

    const Graph& graph;
    std::vector<NodeId> primals, tangents;  ///< the placeholders
    std::vector<NodeId> outputs, gradients;
    std::vector<bool> backward;                 ///< of each node: it depends on a tangent
    std::vector<bool> forward;                  ///< … the outputs need it
    std::vector<NodeId> memory;                 ///< … the node whose memory it shows; itself when it has its own
    std::vector<std::vector<NodeId>> operands;  ///< … what it reads, each once
    /// Calls whose further results the outputs need: statistics that the program keeps, as batch norm's.
    std::set<NodeId> gives_statistics;
};

/// What a backward graph is given to compute its gradients, where it computes the nodes `again` itself: of each node,
/// whether it is read there. What is read and not `again` is saved.
std::vector<bool> read_by_backward(const JointFacts& facts, const std::vector<bool>& again);

}  // namespace whittle
