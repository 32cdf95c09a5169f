// One graph while it is read: the nodes that it has so far, what is known of them beyond their metas, and the order
// that they are given away in. It knows nothing of ONNX's names (scope.h). Internal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/names.h"
#include "graph/graph.h"

namespace whittle::onnx_proto {

/// What is known of a node beyond its metas.
struct NodeFacts {
    /// Dropped when no result needs it: a call that makes an element of a sequence; an input whose value is known.
    bool part = false;
    std::optional<Tensor> value = {};  ///< what a call computes that is kept though it is constant
};

class GraphDraft {
  public:
    explicit GraphDraft(std::map<std::string, std::int64_t> opsets, GraphDraft* outer = nullptr);

    const Graph& graph() const { return graph_; }
    const Node& node(NodeRef ref) const { return graph_.node(ref); }
    bool is_nested() const { return outer_ != nullptr; }
    NameScope& names() { return names_; }
    NodeFacts& facts(NodeRef ref) { return facts_.at(static_cast<std::size_t>(ref.id)); }
    const NodeFacts& facts(NodeRef ref) const { return facts_.at(static_cast<std::size_t>(ref.id)); }
    /// The type of a result is not known, or none that Whittle computes with.
    bool unknown(NodeRef ref) const;
    /// The value of a constant, or of a call that could have been one; else null.
    const Tensor* known(NodeRef ref) const;
    /// The model's inputs that decide the value; empty when one of them has more than `most_elements`.
    std::vector<std::string> inputs_behind(NodeRef value, std::int64_t most_elements) const;
    /// Names of the calls that compute the value from inputs and constants.
    std::vector<std::string> calls_behind(NodeRef value) const;

    NodeRef append(Node node, NodeFacts facts = {});
    /// Another constant that already has the qualified name `target` keeps it; the new one then gets a suffix.
    NodeRef add_constant(const std::string& name, const std::string& target, Tensor value);
    /// A constant of this meta, which may be an opaque one: `value` is its bytes then.
    NodeRef add_typed(const std::string& name, const std::string& target, ValueMeta meta, Tensor value);
    /// What stands here for a node of the outer graph: a constant of our own that shares its data, else a placeholder.
    NodeRef capture(NodeRef outer_node);
    void add_subgraph(const std::string& name, Graph graph);
    void add_outputs(const std::vector<NodeRef>& nodes);
    /// Renames a call or constant; `name` is taken already.
    void rename(NodeRef ref, const std::string& name);

    /// Nodes of the outer graph that this one reads (constants excepted), in order of first use.
    std::vector<NodeRef> captured() const;
    bool unknown_outputs() const;

    struct Finished {
        Graph graph;
        std::vector<std::string> unknown;  ///< names of calls whose metas are not known
        std::vector<std::string> dropped;  ///< names of calls that are parts which no result needs
    };
    /// Puts the nodes into their final order, drops unused constants, and gives the graph away. The last placeholders
    /// stand for the nodes `captured` of the outer graph, in this order.
    Finished finish(const std::string& name, const std::vector<NodeRef>& captured);

  private:
    /// The value and all that it is computed from.
    std::vector<NodeRef> behind(NodeRef value) const;
    /// Per node: all, but for parts that no result needs.
    std::vector<bool> wanted() const;
    std::vector<NodeId> final_order(const std::vector<NodeRef>& captured);

    GraphDraft* outer_;
    Graph graph_;
    NameScope names_;
    std::vector<NodeFacts> facts_;        // per node
    std::map<NodeId, NodeRef> captured_;  // node here by node of the outer graph, constants included
    std::vector<NodeRef> outputs_;
};

}  // namespace whittle::onnx_proto
