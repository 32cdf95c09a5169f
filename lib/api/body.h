// The functions of higher-order operations as nested graphs. Whether one can be recorded is found out by trying: what
// it issues goes to the session's own graph, is copied into a graph of its own, and the session goes back to where it
// was, whatever came of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "api/tape.h"

namespace whittle::api {

class Session;

/// The body cannot be one graph. Not an std::exception: the body must not catch it.
struct NestedBreak {
    capture::GraphBreak why;
};

/// What a function recorded, and the tensors from around it that it reads.
struct RecordedBody {
    Graph graph = {};                     ///< all nodes, without an output
    std::vector<NodeRef> arguments = {};  ///< its placeholders of what the function is called with
    std::vector<NodeRef> results = {};
    std::vector<ImplPtr> captured = {};  ///< read from around it …
    std::vector<NodeRef> lifted = {};    ///< … and their placeholders
};

/// A body that is being recorded, and where the session was before.
struct OpenBody {
    std::thread::id thread = {};
    capture::Builder::Checkpoint before;
    TapeReader::Position tapes;
    std::size_t pending = 0, steps = 0;
    std::unordered_map<NodeId, ImplPtr> read = {};  ///< values of the graph around it, by node
    bool given_up = false;                          ///< another thread demanded a value: the session went back then
};

/// As long as it lives, the session records a body.
class BodyScope {
  public:
    explicit BodyScope(Session& session);
    ~BodyScope();
    BodyScope(const BodyScope&) = delete;
    BodyScope& operator=(const BodyScope&) = delete;

    /// Tensors without values, for the function to be called with.
    TensorList arguments(const std::vector<ValueMeta>& metas);
    RecordedBody recorded(const std::string& name, const TensorList& arguments, const TensorList& results, bool runs);

  private:
    /// Throws NestedBreak for a tensor of the body that somebody has besides its function, which has come back: the
    /// program may read it later, when the body is gone.
    void refuse_what_leaves(const OpenBody& body, const TensorList& arguments, const TensorList& results) const;
    /// What the body computes of values alone, of neither arguments nor what is pending, by node. Empty where it
    /// writes.
    std::unordered_map<NodeId, ImplPtr> computed(const OpenBody& body) const;
    /// To tensors of the body that somebody keeps: a table that a module makes at its first use has to have one.
    void give_values() const;

    Session& session_;
};

/// The bodies of one operation as graphs of the same placeholders: the arguments, then what any of them captures.
struct Bodies {
    std::vector<ImplPtr> captured = {};
    std::vector<std::shared_ptr<const Graph>> graphs = {};
};
Bodies finish_bodies(const std::vector<RecordedBody>& bodies, const std::string& argument);

}  // namespace whittle::api
