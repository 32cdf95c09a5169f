// A session records what one execution of a compiled function computes: it builds graph after graph, each until a value
// is demanded, has them compiled and run, and gives the program's tensors their values.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/impl.h"
#include "capture/output_graph.h"
#include "trace/frame_record.h"

struct whittle_probe_file;

namespace whittle::api {

/// Return addresses, innermost first.
using Addresses = std::vector<void*>;

struct CompiledGraph;
struct Step;
struct Tape;

/// The way that the program went at a branch of its own, as a probe tells it.
struct Way {
    const whittle_probe_file* file = nullptr;
    unsigned site = 0;
    std::int64_t outcome = 0;
};
using Ways = std::vector<Way>;
/// One guard for each branch, in order of their first outcomes.
std::vector<capture::Guard> branch_guards(const Ways& ways);

/// A recorded graph on its way to the backend.
struct Recorded {
    capture::CapturedGraph captured;
    std::vector<Addresses> stacks = {};  ///< of the nodes of captured.graph, where known; symbolized when somebody asks
    Addresses ended_at = {};
    std::string key = {};  ///< equal for graphs that one executable serves
};

/// Where an exception came from, as far as that is known.
struct Thrown {
    std::string what = {};
    Addresses addresses = {};
    std::vector<StackFrame> stack = {};
};

/// Which argument "arg3" is; nothing for other names.
std::optional<std::size_t> numbered_argument(std::string_view name);

/// What a session asks of its frame.
class FrameHost {
  public:
    virtual ~FrameHost() = default;
    /// Runs the graph on `inputs` (one per placeholder) and `parameters` (one per get_attr); one value per output.
    /// What the graph writes to inputs and parameters is written to their memory. `compiled` is set unless it is known.
    virtual std::vector<whittle::Tensor> run(const Recorded& recorded, std::shared_ptr<CompiledGraph>& compiled,
                                             const std::vector<whittle::Tensor>& inputs,
                                             const std::vector<whittle::Tensor>& parameters) = 0;
    /// A break, whether or not it ended a graph. Throws where breaks are errors.
    virtual void broke(const capture::GraphBreak& why, const Addresses& stack) = 0;
    /// A whole stack is wanted with each operation, not only the return address.
    virtual bool wants_stacks() const = 0;
    /// Every operation counts, whether or not its result is wanted: nobody asked for this frame to be compiled.
    virtual bool keeps_all() const { return false; }
    /// What the frame does is to be kept as events, for when capture fails.
    virtual bool wants_events() const { return false; }
    /// An argument's name became known: it was called `before`.
    virtual void argument_named(const std::string& before, const std::string& name) = 0;
    /// What earlier executions recorded as their graph number `position`, the latest first.
    virtual std::vector<std::shared_ptr<const Tape>> tapes(std::int64_t position) const = 0;
    virtual void remember(std::int64_t position, std::shared_ptr<const Tape> tape) = 0;
    /// The ways that the frame went before its graph number `position` ended, since the one before.
    virtual void went(std::int64_t, Ways) {}
};

/// The body of a higher-order operation cannot be recorded. Not an std::exception: the body must not catch it.
struct NestedBreak {
    capture::GraphBreak why;
};
/// Nested graphs of a call, by the names that its arguments have for them.
using NestedGraphs = std::vector<std::pair<std::string, std::shared_ptr<const Graph>>>;
struct RecordedBody;  // api/body.h

class Session : public std::enable_shared_from_this<Session> {
  public:
    /// `nested`: records the body of a higher-order operation, and nothing of it runs.
    Session(std::string frame, FrameHost& host, bool nested = false);

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
    TensorList record(Node call, const std::vector<ImplPtr>& operands, void* pc, const NestedGraphs& nested = {});

    /// Records a call that writes into its first operand; `functional` computes what is written.
    void record_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc);

    /// Ends the graph and runs it: every pending tensor that the program still holds gets its value.
    /// Nothing happens while nothing is recorded, unless `always`. Throws NestedBreak in a nested session.
    void break_graph(capture::GraphBreak why, void* pc, bool always = false);
    /// A tensor with a value is looked at by the host: the graph ends where it is to write that value, or where the
    /// host may change what it is to read.
    void settle(const TensorImpl& tensor, const Demand& why);
    /// Of a nested session: the one that the operation is recorded by.
    void set_around(Session* around) {
        around_ = around;
        outside = around ? around->outside : nullptr;
    }
    /// The frame returned.
    void finish();
    /// An exception left the frame: what was recorded had happened, so it is run. Does not throw. In a trace all of it
    /// is a graph, though nobody holds its results any more.
    void finish_by_exception(const Thrown& thrown = {}) noexcept;
    /// Forgets what was recorded; pending tensors lose their values.
    void abandon();

    /// What the frame did, where the host wanted that kept.
    std::vector<FrameSegment> take_events();

    /// What the program's probes say: a parameter's name …
    void name_parameter(std::size_t position, const TensorImpl* tensor, const std::string& name);
    /// … and that of a variable that holds the tensor.
    void name_variable(const TensorImpl* tensor, const std::string& name);
    /// The program went on at a branch; not told where a value that it had just demanded decided.
    void went(const Way& way) { ways_.push_back(way); }
    std::int64_t graphs_run() const { return graphs_run_; }
    bool implicit() const { return host_.keeps_all(); }
    bool nested() const { return outside_ != nullptr; }
    bool wants_stacks() const { return host_.wants_stacks(); }

    // Of a nested session: tensors without values that its function is called with, and what it recorded.
    TensorList body_arguments(const std::vector<ValueMeta>& metas);
    RecordedBody body(const TensorList& arguments, const TensorList& results);

    const void* outside = nullptr;  ///< the return address of the frame: stacks end there
    bool parameters_named = false;  ///< by the frame's own function; those that it calls have parameters of their own

    bool empty() const { return tape_ ? cursor_ == 0 : graph_.call_count() == 0; }

  private:
    struct Counters {
        std::int64_t live = 0, global = 0, random = 0;
    };
    NodeRef node_of(const ImplPtr& operand);
    NodeRef input(const ImplPtr& operand);
    /// The placeholder of a tensor from around the body of a higher-order operation.
    NodeRef lift(const ImplPtr& operand);
    [[noreturn]] void refuse(capture::BreakKind kind, const std::string& reason) const;
    /// The qualified name of a parameter; empty: none.
    const std::string& parameter_name(const TensorImpl& operand) const;
    /// One that no other input has; counts those that have no name.
    capture::Source source_of(const TensorImpl& operand, Counters& counters) const;
    TensorList add(Node call, const std::vector<ValueMeta>& metas, const Addresses& stack);
    /// What was recorded last.
    void log_last_call(void* pc) const;
    TensorList record_new(Node call, const std::vector<ImplPtr>& operands, void* pc);
    /// The operation that is tried took inputs and cannot be recorded: they are given back, and the graph goes on as if
    /// nobody had tried. Kept where events are: they say what failed, and on what.
    void give_back(const capture::OutputGraph::Checkpoint& before, const Counters& counters);
    class Speculation;
    /// From the user's code on; empty where the host wants no stacks.
    Addresses stack_from(const void* pc) const;
    TensorList random(const Node& call, const std::vector<ImplPtr>& operands, void* pc);
    /// A call that is made of others, some of which draw: these are recorded in its place. Nothing: it draws nothing.
    std::optional<TensorList> record_parts(const Node& call, const std::vector<ImplPtr>& operands, void* pc);
    ImplPtr pending(const ValueMeta& meta, NodeRef node);
    /// Which memory the results of a call show, and where in it. Says it in `step`, too.
    void locate(const Node& call, const Schema& schema, const std::vector<ImplPtr>& operands, const TensorList& results,
                Step& step);
    void show(TensorImpl& result, TensorImpl& operand, std::int64_t offset);
    std::shared_ptr<Memory> memory_of(TensorImpl& impl);
    /// Memory of an input that another input shows, too: a graph does not know that they share it.
    void end_aliased_writes(const ImplPtr& operand);
    void note_write(const ImplPtr& self, const std::string& target, void* pc);
    Step step_of(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands,
                 NodeId nodes) const;
    /// `all`: every value that was recorded is wanted, whether or not the program still holds it.
    void flush(std::optional<capture::GraphBreak> why, Addresses stack, bool all = false);
    /// The graph ends here: cleaned up, with what is needed to run it and to know it again; null: nothing to run.
    std::shared_ptr<Tape> finish_graph(const std::vector<NodeRef>& live, std::optional<capture::GraphBreak> why,
                                       Addresses stack);
    std::vector<whittle::Tensor> values_of(const std::vector<NodeId>& inputs) const;
    void reset();

    /// Keeps what was issued since the last segment, and what capture makes of it.
    void note_segment(const std::vector<NodeRef>& live, const std::optional<capture::GraphBreak>& why);
    /// What was issued and came to no graph.
    void note_rest();
    void note_failure(const Node& call, const std::exception& error);
    void note_outputs(const std::vector<whittle::Tensor>& outputs);

    // While the frame issues what a tape holds, nothing is built: `graph_` and `steps_` are empty.
    /// The step of the tape, or of another one that began alike, that is this call; takes its new inputs. Null: none.
    const Step* match(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands);
    bool fits(const Step& step, const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands);
    bool take_input(const ImplPtr& operand, NodeId node);
    bool next_is(const std::string& target) const;
    void advance();
    TensorList results_of(const Step& step, const std::vector<ImplPtr>& operands);
    /// Whether what was issued is all of the tape, or of another one that began alike, with these values left.
    bool match_end(const std::vector<NodeRef>& live);
    bool began_alike(const Tape& other) const;
    /// Builds what was matched: from here on the frame does something new.
    void leave_tape();

    /// A pending tensor may be demanded by another thread.
    mutable std::recursive_mutex mutex_;
    std::string frame_;
    FrameHost& host_;
    capture::OutputGraph graph_;
    std::vector<Step> steps_;  ///< what graph_ was made of
    std::vector<std::shared_ptr<const Tape>> tapes_;
    std::shared_ptr<const Tape> tape_;
    std::size_t cursor_ = 0;  ///< in its steps
    NodeId taken_ = 0;        ///< so many of its nodes have been issued
    std::vector<std::weak_ptr<TensorImpl>> pending_;
    std::unordered_map<std::uint64_t, NodeRef> known_;            ///< inputs' and parameters' nodes, by key
    std::unordered_map<NodeId, ImplPtr> input_impls_;             ///< theirs, by node
    std::unordered_set<capture::Source> taken_sources_;           ///< of the inputs
    std::map<std::string, Addresses> stacks_;                     ///< by node name
    std::unordered_map<std::uint64_t, capture::Source> sources_;  ///< of the frame's inputs, by key
    std::unordered_map<std::uint64_t, std::string> parameters_;
    std::map<const Storage*, std::shared_ptr<Memory>> input_memory_;
    std::map<const Storage*, std::uint64_t> written_;  ///< memory of inputs that was written, by which input's key
    std::unordered_map<std::uint64_t, std::string> variables_;  ///< names of values of this frame, by key
    std::map<NodeId, std::string> node_names_;                  ///< wanted names of nodes
    std::shared_ptr<Memory> outside_;                           ///< of a nested session: all memory that is not its own
    Session* around_ = nullptr;
    std::vector<ImplPtr> lifted_;
    std::vector<ImplPtr> kept_;  ///< keeps keys of sources alive
    std::int64_t graphs_run_ = 0;
    Counters counters_;
    Ways ways_;  ///< since the last graph
    std::vector<FrameSegment> events_;
    std::vector<FailedCall> failed_;                                   ///< since the last segment
    std::optional<std::pair<std::string, std::string>> last_failure_;  ///< an op that threw, and what
    bool keeps_events_, noted_ = false;
    std::size_t event_bytes_ = 0;
    std::unordered_map<std::uint64_t, bool> made_here_;  ///< values of earlier graphs; true: drawn at random
};

/// One past the last element that sizes and strides reach from the first; nothing where a stride is negative.
std::optional<std::int64_t> reach(const ValueMeta& meta);

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
