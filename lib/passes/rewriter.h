// Rewriter: copies a graph node by node into a new one, with references mapped. What passes are written with.
#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "passes/origins.h"

namespace whittle {

class Rewriter {
  public:
    /// Starts an empty graph with the name, dialect, opsets, attributes, nested graphs and failure of `from`.
    explicit Rewriter(const Graph& from);

    /// The new graph's reference for an old node; copied or replaced before.
    NodeRef mapped(NodeRef old) const;
    bool has(NodeRef old) const;
    /// Nodes appended from now on stand for old node `id`, until another one is named here or copied.
    void work_on(NodeId id);
    /// Old node `id` is `value` from now on, which stands for it too.
    void replace(NodeId id, NodeRef value);
    /// Copies old node `id` with its references mapped; keeps its name unless it is taken.
    NodeRef copy(NodeId id);

    const Graph& from() const { return from_; }
    Graph& graph() { return to_; }
    const Graph& graph() const { return to_; }

    /// Moves placeholders and get_attr to the front (constants may have been added in between), drops attributes that
    /// no get_attr names, and returns the graph.
    Graph finish();
    /// Of the finished graph's nodes.
    const Origins& origins() const { return origins_; }

  private:
    void attribute();

    const Graph& from_;
    Graph to_;
    std::vector<NodeRef> map_;
    NodeId working_on_ = -1;
    Origins origins_;  ///< of the nodes that were appended before work_on() was called last
};

/// Says what the pass made of the graph, and gives that back.
Graph logged(std::string_view pass, const Graph& before, Graph after);

}  // namespace whittle
