// One ONNX graph -> one Graph, nested graphs by recursion: node after node is bound (bind.h) and becomes a call,
// constants (results.h), what it lists or picks (import_sequence.cpp), or the nodes of a graph of its own
// (import_nested.cpp). Internal; load.cpp is the only user.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontends/onnx/draft.h"
#include "frontends/onnx/pending.h"
#include "frontends/onnx/scope.h"
#include "frontends/onnx/session.h"

namespace whittle::onnx_proto {

class GraphImporter {
  public:
    /// `proto` is sorted (sort_nodes) and is used up. `prefix` goes before the names of nodes in breaks.
    GraphImporter(Session& session, onnx::GraphProto& proto, GraphImporter* outer = nullptr, std::string prefix = {});

    /// Graph inputs that are not initializers.
    std::vector<const onnx::ValueInfoProto*> inputs() const;
    /// Imports everything; `metas` are those of inputs().
    void import(const std::vector<ValueMeta>& metas);
    const GraphDraft& draft() const { return draft_; }
    /// Some result is no tensor.
    bool lists_results() const { return lists_results_; }
    /// Gives the graph away (GraphDraft::finish).
    Graph finish(const std::string& name, const std::vector<NodeRef>& captured = {});

  private:
    class SequenceReader;

    NodeRef import_input(const onnx::ValueInfoProto& input, const ValueMeta& meta);
    void import_node(onnx::NodeProto& node, int position);
    void take_known_inputs(PendingNode& pending);
    /// The results of a graph whose nodes join this one.
    std::vector<OnnxValue> join_graph(onnx::GraphProto& proto, const std::vector<OnnxValue>& inputs);

    /// The node's graphs become those of the call.
    void import_nested(PendingNode& pending);
    std::vector<ValueMeta> body_inputs(PendingNode& pending, std::size_t count) const;
    std::unique_ptr<GraphImporter> import_body(PendingNode& pending, onnx::AttributeProto& attribute);
    void add_bodies(PendingNode& pending, const std::vector<onnx::AttributeProto*>& attributes,
                    const std::vector<std::unique_ptr<GraphImporter>>& bodies);
    /// Whether a constant decides which graph of the node runs: its nodes joined.
    bool join_branch(PendingNode& pending);

    /// Whether the node listed, picked or passed on values that it is not called with; else it becomes a call.
    bool resolve_sequences(PendingNode& pending);
    void name_resolved(const PendingNode& pending, int output, const OnnxValue& result, std::size_t nodes_before);

    Session& session_;
    onnx::GraphProto& proto_;
    GraphDraft draft_;
    Scope scope_;
    std::map<std::string, NodeRef> known_inputs_;  ///< constants in place of inputs, by name
    bool lists_results_ = false;
};

}  // namespace whittle::onnx_proto
