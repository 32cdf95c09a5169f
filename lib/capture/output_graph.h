// OutputGraph: the graph that capture is building, with where its inputs came from and what it relies on. Capture
// speculates: it takes a checkpoint, records what may turn out not to be recordable (an operation, the body of a
// higher-order one), and rolls back when it is not. It knows nothing of how operations are noticed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/graph_break.h"
#include "capture/guard.h"
#include "capture/naming.h"
#include "capture/source.h"
#include "graph/graph.h"

namespace whittle::capture {

/// After the graph has run, this result of it is written into the tensor at `source`, in the order of the list.
struct InputUpdate {
    Source source;
    std::size_t output = 0;  ///< position among the graph's outputs
};

/// Values of one run of a graph.
struct RecordedRun {
    std::vector<Tensor> inputs = {};   ///< one per placeholder
    std::vector<Tensor> outputs = {};  ///< one per output
};

/// A local variable of the frame that had this number when a call of the graph got the number.
struct NamedNumber {
    std::string call = {};
    HostValue number = {};
    std::string variable = {};
};

/// A finished graph: what a backend gets, and what is needed to call it and to use it again.
struct CapturedGraph {
    Graph graph = {};                         ///< verifies at Stage::captured
    std::vector<Source> sources = {};         ///< one per placeholder
    std::vector<Guard> guards = {};           ///< in the order in which capture came to rely on them
    std::vector<InputUpdate> updates = {};    ///< in program order
    std::optional<GraphBreak> ended_by = {};  ///< nothing: the frame returned
    std::vector<Tensor> inputs = {};          ///< values, where they were snapshotted: one per placeholder
    std::vector<Tensor> outputs = {};         ///< values that the program computed: one per output
    std::string unrecorded = {};              ///< why values are missing though they were asked for
    double compile_seconds = 0;               ///< of the backend, if one compiled it
    std::int64_t runs = 1;                    ///< how often the program ran it
    std::vector<RecordedRun> more_runs = {};  ///< after the first, of the same parameters; not all of them
    /// It is that graph of the frame, but for numbers or metadata: `difference` says which, as a guard that fails.
    std::optional<std::size_t> variant_of = {};
    std::string difference = {};
    std::int64_t order = 0;    ///< of its first operation, among those of breaks (GraphBreak::order); 0: not known
    std::int64_t number = -1;  ///< in its capture, which knows equal graphs apart; -1: nobody numbered it
    /// Of a backward pass: the graphs whose calls' gradients it computes, by number, where it begins first; -1: a call
    /// that is in no graph.
    std::vector<std::int64_t> differentiates = {};
    /// Those of them with their values that are no graphs of the frame's: equal ones of earlier executions are.
    std::vector<CapturedGraph> forward = {};
    /// Of a backward pass: why what it computes need not be the gradients of what it differentiates, as those of a part
    /// of a pass are not. Empty: it is.
    std::string partial = {};
    std::set<std::string> library_calls = {};  ///< by name: made by a library's own code, not by the user's
    /// By name: what writes through views added, whose numbers follow from those of the views.
    std::set<std::string> added_calls = {};
    std::vector<NamedNumber> named_numbers = {};
    /// The calls, by name, of whose gradients it computes a part, and another graph or a break the rest.
    std::set<std::string> partial_calls = {};
};

/// Tells the graph without writes (passes/functionalize.h): what these leave in inputs and parameters are outputs
/// behind the others, and updates, but for those that `keeps` refuses. Throws FunctionalizeError; the graph stays as it
/// was then.
void functionalize(CapturedGraph& captured, const std::function<bool(const Source&)>& keeps = {});

/// A guard of a captured graph that failed, so that the graph had to be captured again.
struct Recompile {
    GuardFailure guard = {};
    std::vector<StackFrame> stack = {};  ///< where capture came to rely on it
    std::string advice = {};             ///< what would stop it
    std::int64_t count = 0;              ///< how often
    std::int64_t shared = 0;             ///< of these, where another guard failed, too, whose count has them
};

/// A function under capture: one execution of it, or all of them.
struct CapturedFrame {
    std::string name = {};      ///< unique in the capture: "toy_example", "toy_example_1"
    std::string function = {};  ///< as the program has it
    std::string file = {};      ///< where it is defined, when known
    int line = 0;
    std::vector<CapturedGraph> graphs = {};  ///< without those that have neither calls nor outputs
    std::vector<GraphBreak> breaks = {};     ///< in program order; more than graphs when breaks follow one another
    std::int64_t calls = 1;                  ///< executions
    bool calls_guessed = false;              ///< nothing proves where one of them ends and the next one begins
    std::vector<Recompile> recompiles = {};
};

class OutputGraph {
  public:
    explicit OutputGraph(std::string name) : graph_{.name = std::move(name)} {}

    /// The placeholder of an input: one per source, and one per tensor where its key is known, so that a tensor that
    /// is passed twice is one input. Adds a guard for every new source: what the tensor is, or whose it is, too.
    NodeRef input(const Source& source, const ValueMeta& meta, TensorKey key = 0, std::vector<StackFrame> stack = {});
    /// The get_attr of a parameter or constant by its qualified name; tied weights (one key) are one node under the
    /// first name.
    NodeRef parameter(const std::string& qualified_name, const Tensor& value, TensorKey key = 0);
    /// The call, and its results: the call itself, or one getitem each when it has several. `effect`: it writes to an
    /// operand, or stays for another reason, whether or not its results are wanted.
    std::vector<NodeRef> call(Node call, bool effect = false);

    /// A nested graph for calls to come, under this name or name_1, name_2 …
    GraphRef nest(const std::string& name, std::shared_ptr<const Graph> graph);

    /// Guards that say the same are kept once.
    void guard(Guard guard);

    /// How far the graph is: it grows at its end only.
    struct Checkpoint {
        std::size_t nodes = 0, guards = 0, effects = 0, subgraphs = 0;
        bool operator==(const Checkpoint&) const = default;
    };
    Checkpoint checkpoint() const;
    /// As it was then: what was added since is gone, with what the graph relied on for it.
    void roll_back(const Checkpoint& to);

    /// The source of a placeholder; nullptr for other nodes.
    const Source* source_of(NodeRef node) const;
    /// A node's name as the program calls its value; made unique.
    void rename(NodeRef node, const std::string& name);
    const Graph& graph() const { return graph_; }
    const std::vector<Guard>& guards() const { return guards_; }
    std::int64_t call_count() const;

    /// The graph with these results; a call that writes to a tensor is in it as it was recorded (passes/functionalize.h
    /// tells what that does to inputs). Dead calls, getitems and get_attrs go, and so do placeholders that nothing
    /// reads, with their guards kept: what was relied on stays relied on. Nothing is left when there are neither calls
    /// nor outputs.
    std::optional<CapturedGraph> finish(std::span<const NodeRef> results,
                                        std::optional<GraphBreak> ended_by = {}) const;

  private:
    Graph graph_;
    std::vector<Guard> guards_;
    std::unordered_set<std::size_t> guard_hashes_;
    std::unordered_map<Source, NodeRef> by_source_;
    std::unordered_map<TensorKey, NodeRef> by_key_;
    std::unordered_map<NodeId, Source> sources_;
    std::vector<NodeRef> effects_;
    std::vector<std::string> nested_;  ///< names of subgraphs, in order
};

}  // namespace whittle::capture
