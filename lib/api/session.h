// A session records what one execution of a compiled function computes: it has graph after graph built, each until a
// value is demanded, has them compiled and run, and gives the program's tensors their values. It joins what does the
// work: capture::Builder builds, TapeReader knows what earlier executions issued, FrameLog keeps what is told when
// capture fails.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/body.h"
#include "api/frame_host.h"
#include "api/frame_log.h"
#include "api/impl.h"
#include "api/print_queue.h"
#include "api/tape.h"
#include "api/uncompiled.h"
#include "capture/builder.h"

namespace whittle::api {

class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(std::string frame, FrameHost& host);

    /// The session of the calling thread that records now, or null.
    static Session* current();
    /// Makes `session` (or null) current on this thread; returns the one before. Who made it owns it.
    static Session* exchange(Session* session);

    /// What is known of the frame's tensors: those that it got from outside have a source, or a qualified name.
    capture::Naming& naming() { return builder_.naming(); }

    /// Records a call whose NodeRefs are positions in `operands`. The results are pending tensors, or values where the
    /// operation could not be recorded.
    TensorList record(Node call, const std::vector<ImplPtr>& operands, void* pc,
                      const capture::NestedGraphs& nested = {});
    /// Records a call that writes into its first operand; `functional` computes what is written.
    void record_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc);
    /// Whether a graph can tell what the write does to gradients: one with a gradient of memory that the graph made,
    /// one without of a tensor that has none. `with_gradient`: the result of the write requires one.
    bool records_write(const TensorImpl& written, bool with_gradient) const;
    /// Calls the body of a higher-order operation on tensors without values and returns what it issues. It is only
    /// tried: the session goes back to where it was. Throws NestedBreak where the body cannot be one graph, and what
    /// the body throws. `runs`: the graph will, so that no tensor may be kept but as a result.
    RecordedBody record_body(const std::string& name, const std::function<TensorList(const TensorList&)>& function,
                             const std::vector<ValueMeta>& arguments, bool runs = true);

    /// Ends the graph and runs it: every pending tensor that the program still holds gets its value. Nothing happens
    /// while nothing is recorded, unless `always`. Throws NestedBreak in a body that this thread records; one that
    /// another thread records is given up.
    void break_graph(capture::GraphBreak why, void* pc, bool always = false);
    /// A tensor with a value is looked at by the host: the graph ends where it is to write that value, or where the
    /// host may change what it is to read.
    void settle(const TensorImpl& tensor, const Demand& why);
    /// Prints once the values are there, see later.h. Breaks a body, which runs where nobody sees it.
    void print_later(const std::vector<std::string>& texts, const TensorList& tensors, void* pc);
    /// Throws CheckError unless the condition turns out to be true, and says what the other value was. The graph has
    /// it as an assertion, for who runs it elsewhere. Breaks a body.
    void check_later(const Tensor& condition, const Tensor& about, const PrintQueue::Check& check);
    /// A number of the program's, which may be a size, is in a range.
    void constrain(std::int64_t number, const capture::SizeRange& range, void* pc) {
        host_.constrained(number, range, pc);
    }
    bool waits_to_print() const { return !prints_.empty(); }
    /// .defer_output: what the program prints breaks no graph, but comes, in order, once its values are there.
    bool defers_output() const { return host_.defers_output() && !in_body(); }
    /// .capture_scalar_outputs: numbers that the program takes from tensors are symbols of the graph.
    bool captures_scalars() const { return host_.captures_scalars(); }
    /// .capture_dynamic_shapes: calls whose results' sizes are data stay in the graph.
    bool captures_dynamic_shapes() const { return host_.captures_dynamic_shapes() && !in_body(); }
    void defer(PrintQueue::Target target, const Tensor& tensor);
    /// False: nothing waits to be printed before it.
    bool defer(PrintQueue::Target target, std::string text);
    /// The frame returned.
    void finish();
    /// An exception left the frame: what was recorded had happened, so it is run. Does not throw. In a trace all of it
    /// is a graph, though nobody holds its results any more.
    void finish_by_exception(const Thrown& thrown = {}) noexcept;
    /// Forgets what was recorded; pending tensors lose their values.
    void abandon();
    /// Capture itself failed in this frame: it runs as if it were not compiled.
    bool gave_up() const { return gave_up_; }
    /// What the frame did, where the host wanted that kept.
    std::vector<FrameSegment> take_events() { return log_.take(); }

    // What the program's probes say.
    void name_parameter(std::size_t position, const TensorImpl* tensor, const std::string& name);
    void name_variable(const TensorImpl* tensor, const std::string& name);
    /// The program went on at a branch; not told where a value that it had just demanded decided.
    void went(const Way& way) { ways_.push_back(way); }

    std::int64_t graphs_run() const { return graphs_run_; }
    bool implicit() const { return host_.keeps_all() && !in_body(); }
    /// This thread records the body of a higher-order operation: the graph around it must not break.
    bool in_body() const;
    bool wants_stacks() const { return host_.wants_stacks(); }
    bool empty() const { return tapes_.tape() ? tapes_.at_begin() : builder_.graph().call_count() == 0; }
    /// Another tensor that the program holds shows memory of this one.
    bool shares_memory(const TensorImpl& tensor) const;

    const void* outside = nullptr;  ///< the return address of the frame: stacks end there
    bool parameters_named = false;  ///< by the frame's own function; those that it calls have parameters of their own

  private:
    friend class BodyScope;
    /// What is noted of a node, until the graph is finished.
    struct Note {
        Addresses stack = {};
        std::string name = {};  ///< of the variable that held it
    };

    TensorList issue(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc,
                     const capture::NestedGraphs& nested);
    TensorList build(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc,
                     const capture::NestedGraphs& nested);
    TensorList repeat(const TapeStep& step, const std::vector<ImplPtr>& operands, void* pc);
    TensorList random(const Node& call, const std::vector<ImplPtr>& operands, void* pc);
    TensorList data_sized(const Node& call, const std::vector<ImplPtr>& operands, void* pc);
    std::vector<ValueMeta> observed(const Node& call, const std::vector<ImplPtr>& operands) const;
    std::optional<TensorList> record_parts(const Node& call, const std::vector<ImplPtr>& operands, void* pc);
    /// Results as pending tensors; `operands`: of the call that views the first.
    TensorList pending(const std::vector<capture::Placed::Result>& results, const Node& call,
                       const std::vector<ImplPtr>& operands);
    ImplPtr pending(const ValueMeta& meta, NodeRef node);
    capture::Operand operand_of(const TensorImpl& impl) const;
    void prepare(const std::vector<ImplPtr>& operands);
    void track(TensorImpl& written);
    void keep_inputs(const std::vector<ImplPtr>& operands);
    bool keep_failed(const Node& call, const std::exception& error);
    void log_last_call(void* pc) const;
    void keep_printed(const TensorImpl& written);
    void note_segment(const std::vector<NodeRef>& live, const std::optional<capture::GraphBreak>& why);
    void roll_back(const OpenBody& to);
    void give_up_bodies();
    /// Throws NestedBreak where the body that this thread records was given up.
    void check_body() const;
    /// From the user's code on; empty where the host wants no stacks.
    Addresses stack_from(const void* pc) const;
    void begin();
    std::vector<ImplPtr> held() const;
    /// `all`: every value that was recorded is wanted, whether or not the program still holds it.
    void flush(std::optional<capture::GraphBreak> why, Addresses stack, bool all = false);
    std::shared_ptr<Tape> finish_graph(const std::vector<NodeRef>& live, std::optional<capture::GraphBreak> why,
                                       Addresses stack);
    /// What was recorded is computed now, and nothing is recorded any more.
    /// `call`: that capture failed on, of these operands; null: it failed on the graph.
    void give_up(const CaptureFailed& failed, const Node* call = nullptr, const std::vector<ImplPtr>& operands = {});
    /// The call in nodes of the graph, for a record of what failed.
    Node failed_call(const Node& call, const std::vector<ImplPtr>& operands);
    /// A graph that was finished, but cannot be brought to the backend.
    TensorList run_as_recorded(const Tape& tape, const std::vector<ImplPtr>& inputs);
    void tell(const CaptureFailed& failed);
    /// A pending tensor may be demanded by another thread.
    mutable std::recursive_mutex mutex_;
    std::string frame_;
    FrameHost& host_;
    capture::Builder builder_;
    std::vector<ImplPtr> inputs_;  ///< of the builder's, in its order
    TapeReader tapes_{builder_, inputs_};
    std::vector<std::weak_ptr<TensorImpl>> pending_;
    std::map<NodeId, Note> notes_;
    std::vector<OpenBody> bodies_;  ///< that are recorded, the innermost last
    FrameLog log_;
    Ways ways_;  ///< since the last graph
    PrintQueue prints_;
    std::int64_t graphs_run_ = 0;
    std::atomic<bool> gave_up_ = false;
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
