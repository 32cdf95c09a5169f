// What ONNX's names stand for in one graph: frames of names, this graph's and on top of it those of graphs whose nodes
// join it, and the scope around it, from which values are captured. Internal.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontends/onnx/draft.h"
#include "frontends/onnx/session.h"
#include "ops/onnx/sequence.h"

namespace whittle::onnx_proto {

/// A constant with what the tensor holds.
NodeRef add_tensor(GraphDraft& draft, const std::string& name, const std::string& target, onnx::TensorProto& tensor,
                   ExternalFiles& external, const Location& where);

class Scope {
  public:
    struct Frame {
        std::unordered_map<std::string, OnnxValue> values = {};         ///< by ONNX name
        std::unordered_map<std::string, std::string> identifiers = {};  ///< node names to be, by ONNX name
        std::vector<std::string> call_names = {};   ///< of nodes with several results, by position; else empty
        std::unordered_set<std::string> read = {};  ///< ONNX names that something reads
        std::unordered_map<std::string, const onnx::TypeProto*> declared = {};
    };
    /// A frame is the top one as long as this lives.
    class Opened {
      public:
        Opened(Scope& scope, Frame frame) : scope_(scope) { scope.frames_.push_back(std::move(frame)); }
        /// The frame of a graph, its initializers read.
        Opened(Scope& scope, onnx::GraphProto& graph) : Opened(scope, Frame()) { scope.name(graph); }
        ~Opened() { scope_.frames_.pop_back(); }
        Opened(const Opened&) = delete;
        Opened& operator=(const Opened&) = delete;

      private:
        Scope& scope_;
    };

    /// `prefix` goes before the names of nodes in messages: the words that lead to a nested graph.
    Scope(Session& session, GraphDraft& draft, Scope* outer, std::string prefix)
        : session(session), draft(draft), prefix(std::move(prefix)), outer_(outer) {}

    Session& session;
    GraphDraft& draft;
    const std::string prefix;

    Frame& top() { return frames_.back(); }
    /// The value; what the scope around defines is captured.
    OnnxValue value(const std::string& name);
    /// Values of outputs of the graph at the top, in its order.
    std::vector<OnnxValue> outputs(const onnx::GraphProto& graph);

  private:
    void name(onnx::GraphProto& graph);
    void read_initializers(onnx::GraphProto& graph);

    Scope* outer_;
    std::vector<Frame> frames_;
};

}  // namespace whittle::onnx_proto
