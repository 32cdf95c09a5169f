// A session records what one execution of a compiled function computes: it builds graph after graph, each until a value
// is demanded, has them compiled and run, and gives the program's tensors their values.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/impl.h"
#include "capture/output_graph.h"

namespace whittle::api {

/// Return addresses, innermost first.
using Addresses = std::vector<void*>;

/// A recorded graph on its way to the backend.
struct Recorded {
    capture::CapturedGraph captured;
    std::vector<Addresses> stacks = {};  ///< of the nodes of captured.graph, where known; symbolized when somebody asks
    Addresses ended_at = {};
    std::string key = {};  ///< equal for graphs that one executable serves
};

/// What a session asks of its frame.
class FrameHost {
  public:
    virtual ~FrameHost() = default;
    /// Runs the graph on `inputs` (one per placeholder); one value per output.
    /// What the graph writes to inputs and parameters is written to `inputs` and `recorded`'s attributes.
    virtual std::vector<whittle::Tensor> run(Recorded& recorded, const std::vector<whittle::Tensor>& inputs) = 0;
    /// A break, whether or not it ended a graph. Throws where breaks are errors.
    virtual void broke(const capture::GraphBreak& why, const Addresses& stack) = 0;
    /// A whole stack is wanted with each operation, not only the return address.
    virtual bool wants_stacks() const = 0;
    /// Every operation counts, whether or not its result is wanted: nobody asked for this frame to be compiled.
    virtual bool keeps_all() const { return false; }
    /// An argument's name became known: it was called `before`.
    virtual void argument_named(const std::string& before, const std::string& name) = 0;
};

class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(std::string frame, FrameHost& host);

    /// The session of the calling thread that records now, or null.
    static Session* current();
    /// Makes `session` (or null) current on this thread; returns the one before. Who made it owns it.
    static Session* exchange(Session* session);

    /// A tensor that the frame got from outside has a source: a parameter …
    void know(const Tensor& tensor, const capture::Source& source);
    /// … or is a module's parameter with this qualified name.
    void know_parameter(const Tensor& tensor, const std::string& qualified_name);

    /// Records a call whose NodeRefs are positions in `operands`. The results are pending tensors, or values where the
    /// operation could not be recorded.
    TensorList record(Node call, const std::vector<ImplPtr>& operands, void* pc);

    /// Records a call that writes into its first operand; `functional` computes what is written.
    void record_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc);

    /// Ends the graph and runs it: every pending tensor that the program still holds gets its value.
    void break_graph(capture::GraphBreak why, void* pc);
    /// The frame returned.
    void finish();
    /// An exception left the frame: what was recorded had happened, so it is run. Does not throw.
    void finish_by_exception() noexcept;
    /// Forgets what was recorded; pending tensors lose their values.
    void abandon();

    /// What the program's probes say: a parameter's name …
    void name_parameter(std::size_t position, const TensorImpl* tensor, const std::string& name);
    /// … and that of a variable that holds the tensor.
    void name_variable(const TensorImpl* tensor, const std::string& name);
    bool implicit() const { return host_.keeps_all(); }
    bool parameters_named = false;  ///< by the frame's own function; those that it calls have parameters of their own

    bool empty() const { return graph_.call_count() == 0; }
    std::int64_t graphs_run() const { return graphs_run_; }

  private:
    NodeRef node_of(const ImplPtr& operand);
    NodeRef input(const ImplPtr& operand);
    capture::Source source_of(const ImplPtr& operand);
    TensorList add(Node call, std::vector<ValueMeta> metas, const Addresses& stack);
    /// Which memory the results of a call show, and where in it.
    void locate(const Node& call, const Schema& schema, const std::vector<ImplPtr>& operands,
                const TensorList& results);
    std::shared_ptr<Memory> memory_of(const TensorImpl& impl);
    /// Memory of an input that another input shows, too: a graph does not know that they share it.
    void end_aliased_writes(const ImplPtr& operand);
    void flush(std::optional<capture::GraphBreak> why, Addresses stack);
    void reset();

    /// A pending tensor may be demanded by another thread.
    mutable std::recursive_mutex mutex_;
    std::string frame_;
    FrameHost& host_;
    capture::OutputGraph graph_;
    std::vector<std::weak_ptr<TensorImpl>> pending_;
    std::unordered_map<std::uint64_t, NodeRef> known_;  ///< inputs' and parameters' nodes, by key
    std::unordered_map<std::uint64_t, ImplPtr> input_impls_;
    std::map<std::string, ImplPtr> inputs_;                       ///< by the source's text
    std::map<std::string, Addresses> stacks_;                     ///< by node name
    std::unordered_map<std::uint64_t, capture::Source> sources_;  ///< of the frame's inputs, by key
    std::unordered_map<std::uint64_t, std::string> parameters_;
    std::map<const Storage*, std::shared_ptr<Memory>> input_memory_;
    std::map<const Storage*, std::uint64_t> written_;  ///< memory of inputs that was written, by which input's key
    std::unordered_map<std::uint64_t, std::string> variables_;  ///< names of values of this frame, by key
    std::map<std::string, std::string> node_names_;             ///< wanted names of nodes, by name
    std::vector<ImplPtr> kept_;                                 ///< keeps keys of sources alive
    std::int64_t graphs_run_ = 0, live_inputs_ = 0, global_inputs_ = 0, random_inputs_ = 0;
    std::unordered_map<std::uint64_t, bool> made_here_;  ///< values of earlier graphs; true: drawn at random
};

/// The operation runs outside of any graph: its own work must not be recorded.
class NotRecording {
  public:
    NotRecording();
    ~NotRecording();
    /// Whether one lives on this thread.
    static bool active();
    NotRecording(const NotRecording&) = delete;
    NotRecording& operator=(const NotRecording&) = delete;

  private:
    Session* before_;
};

/// Current as long as it lives.
class CurrentSession {
  public:
    explicit CurrentSession(Session* session) : before_(Session::exchange(session)) {}
    ~CurrentSession() { Session::exchange(before_); }
    CurrentSession(const CurrentSession&) = delete;
    CurrentSession& operator=(const CurrentSession&) = delete;

  private:
    Session* before_;
};

}  // namespace whittle::api
