// One ONNX graph -> one Graph, nested graphs by recursion. Internal; load.cpp is the only user.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontends/onnx/load.h"
#include "frontends/onnx/names.h"
#include "frontends/onnx/order.h"
#include "frontends/onnx/proto.h"
#include "ops/core/registry.h"
#include "ops/onnx/sequence.h"

namespace whittle::onnx_proto {

/// What the import of one model shares among its graphs.
struct Session {
    std::string file;
    const LoadOptions& options;
    ExternalFiles external;
    std::map<std::string, std::int64_t> opsets = {};  ///< "" is ai.onnx
    std::map<std::string, std::int64_t> dims = {};    ///< sizes of named dimensions, decided so far
    std::vector<Break> breaks = {};
    std::vector<std::string> unknown = {};
    std::map<std::string, std::size_t> folded = {};
    std::vector<std::string> assumed_dims = {};
    std::map<std::string, Tensor> constants = {};  ///< inputs that are constants, by name
    std::set<std::string> wanted = {};             ///< inputs whose value a node needs while it is read
    std::set<std::string> written_out = {};        ///< places of loops that are read one iteration after another
    bool opaque_calls = false;                     ///< there are some: LoadOptions::opaque
    bool body_needs_constant = false;              ///< a node of a nested graph does, for all its iterations
    FreeNames free_names = {};
    std::deque<onnx::GraphProto> bodies = {};  ///< graphs that are read several times, a copy for each
};

/// Constants up to this many elements are computed while loading.
inline constexpr std::int64_t kFoldedElements = 4096;

class GraphImporter {
  public:
    /// `proto` is sorted (sort_nodes) and is used up. `prefix` goes before the names of nodes in breaks.
    GraphImporter(Session& session, onnx::GraphProto& proto, GraphImporter* outer = nullptr, std::string prefix = {});

    /// Graph inputs that are not initializers.
    std::vector<const onnx::ValueInfoProto*> inputs() const;
    /// Imports everything; `metas` are those of inputs().
    void import(const std::vector<ValueMeta>& metas);

    /// Nodes of the outer graph that this one reads (constants excepted), in order of first use.
    std::vector<NodeRef> captured() const;
    /// Some result has unknown metas.
    bool unknown_results() const;
    /// Some result is no tensor.
    bool lists_results() const { return lists_results_; }
    /// Puts the nodes into their final order, drops unused constants, and gives the graph away. The last placeholders
    /// stand for the nodes `captured` of the outer graph, in this order.
    Graph finish(const std::string& name, const std::vector<NodeRef>& captured = {});

  private:
    class SequenceReader;

    /// Names of one ONNX graph: this one, or a branch whose nodes replace their If.
    struct Frame {
        std::unordered_map<std::string, OnnxValue> values = {};         ///< by ONNX name
        std::unordered_map<std::string, std::string> identifiers = {};  ///< node names to be, by ONNX name
        std::vector<std::string> call_names = {};   ///< of nodes with several results, by position; else empty
        std::unordered_set<std::string> read = {};  ///< ONNX names that something reads
        std::unordered_map<std::string, const onnx::TypeProto*> declared = {};
    };
    /// One node on its way in.
    struct Pending {
        onnx::NodeProto& proto;
        int position;
        Location where;
        std::string domain;
        std::int64_t opset;
        const RegisteredOp* op;  ///< nullptr when Whittle does not know it
        int outputs;             ///< up to the last that has a name
        Node call = {};
        std::string problem = {}, hint = {};  ///< why it cannot be described; empty when it can
        std::string opaque = {};              ///< what is unknown of an op that is kept; empty: it is none
        bool unknown_operand = false;         ///< metas of an operand are not known
        std::vector<std::optional<Tensor>> constants = {};  ///< results that are constants whatever the operands' data
    };

    /// The inputs of the model that decide the value; empty when one of them is large.
    std::vector<std::string> inputs_behind(NodeRef value) const;
    void want_constant(Pending& pending, NodeRef value);

    Pending start(onnx::NodeProto& node, int position);
    NodeRef append(Node node, bool unknown = false);
    NodeRef add_constant(const std::string& name, const std::string& target, Tensor value);
    /// Of strings: one without elements, whose metas are not known.
    NodeRef add_strings(const std::string& name, const std::string& target);
    /// The value; what an outer graph defines is captured.
    OnnxValue value(const std::string& name);
    NodeRef capture(GraphImporter& outer, NodeRef node);
    bool unknown(NodeRef ref) const { return unknown_[static_cast<std::size_t>(ref.id)]; }

    void open_frame(onnx::GraphProto& proto);
    void import_initializers(onnx::GraphProto& proto);
    void import_nodes(onnx::GraphProto& proto);
    void import_node(onnx::NodeProto& node, int position);
    void import_constant(Pending& pending);
    bool several_results(const onnx::NodeProto& node) const;

    void bind_inputs(Pending& pending);
    void bind_attributes(Pending& pending);
    std::optional<Arg> attribute_value(Pending& pending, onnx::AttributeProto& attribute);
    void import_nested(Pending& pending);
    void import_body(const Pending& pending, GraphImporter& body, const std::vector<ValueMeta>& metas);
    bool inline_branch(Pending& pending);
    /// Whether the node listed, picked or passed on values that it is not called with; else it becomes a call.
    bool resolve_sequences(Pending& pending);
    void name_resolved(const Pending& pending, int output, const OnnxValue& result, std::size_t nodes_before);
    void infer_results(Pending& pending);
    void state_results(Pending& pending);
    /// The results, where they depend on constants and static sizes alone.
    std::vector<Tensor> constant_results(const Pending& pending) const;
    void fold(Pending& pending, const std::vector<Tensor>& values);
    /// The value of a constant, or of a call that could have been one.
    const Tensor* known(NodeRef ref) const;
    void add_call(Pending& pending);
    const std::string& result_name(const Pending& pending, int output);
    /// Per node: all, but for parts_ that no result needs.
    std::vector<bool> wanted_nodes() const;

    Session& session_;
    onnx::GraphProto& proto_;
    GraphImporter* outer_;
    std::string prefix_;
    Graph graph_;
    NameScope names_;
    std::vector<Frame> frames_;
    std::vector<bool> unknown_;           // per node: its metas are not known
    std::set<NodeId> strings_;            // inputs and constants that are no numbers
    std::map<NodeId, Tensor> unfolded_;   // what calls compute that are kept though they are constant
    std::set<NodeId> parts_;              // calls that make elements of sequences; what nobody reads is dropped
    std::map<NodeId, NodeRef> captured_;  // node here by node of the outer graph, constants included
    std::vector<NodeRef> results_;
    bool lists_results_ = false;
};

/// Sizes of a value as the file declares them; dynamic dimensions take their decided sizes. Nothing when the rank is
/// not declared, or when a dimension is undecided and `fallback` is not given.
std::optional<Sizes> declared_sizes(const onnx::TypeProto& type, const std::map<std::string, std::int64_t>& dims,
                                    std::optional<std::int64_t> fallback);

/// The domain as the opset imports name it: "" for ai.onnx.
std::string domain_of(const std::string& domain);

}  // namespace whittle::onnx_proto
