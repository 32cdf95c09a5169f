// A compiled function and its executions.
#pragma once

#include <whittle/api/compile.h>

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/compiled_gradient.h"
#include "api/one_at_a_time.h"
#include "api/pure.h"
#include "api/recompile_profile.h"
#include "api/repro.h"
#include "api/symbolic.h"
#include "api/tape.h"
#include "api/trace.h"
#include "capture/compile_id.h"
#include "capture/frame_cache.h"
#include "graph/backend.h"

namespace whittle::api {

/// A graph that a backend compiled, or that runs eagerly (`executable` is null).
struct CompiledGraph {
    OneAtATime mutex;  ///< executables run one call at a time
    std::unique_ptr<Executable> executable;
    bool stepped = false;                        ///< where it can be, as code that a debugger stops in
    std::shared_ptr<CompiledGradient> gradient;  ///< then the executable is of its forward graph
    Graph graph;                                 ///< as it was captured, parameters are inputs: what the reference runs
    Graph functional;                            ///< without writes
    std::vector<std::pair<std::size_t, std::size_t>> updates;  ///< input that takes the value of an output
    double seconds = 0;
    std::map<std::uint64_t, std::shared_ptr<const SymbolicGraph>> symbolic;  ///< by specialization
};

/// Where FunctionState::graphs has the form of a graph that is stepped through.
inline std::string stepped_key(const std::string& key) { return key + "\nstepped"; }

struct FunctionState {
    FunctionState(CompileOptions given, const void* address, const char* type);

    CompileOptions options;
    const void* address;
    std::string type;
    std::mutex mutex;
    capture::FrameCache cache;
    std::map<std::string, std::shared_ptr<CompiledGraph>> graphs;  ///< by Recorded::key
    /// By specialization and number of the graph in the frame, the latest first.
    std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::shared_ptr<const Tape>>> tapes;
    /// A graph whose sizes vary, with the keys of those that were compiled of it, the latest first: so many at most.
    struct Shape {
        static constexpr std::size_t kMostCompiled = 32;
        SymbolicGraph graph;
        std::list<std::string> keys = {};
    };
    std::list<Shape> shapes;             ///< each once
    std::map<std::uint64_t, Ways> ways;  ///< of the first call of a specialization, by its id
    /// The backend compiles one graph at a time, without `mutex`: that may take long, and it may ask about the
    /// function.
    std::mutex compiling;
    std::unique_ptr<Backend> backend;
    BackendOptions backend_options;
    std::string backend_name;
    std::vector<std::string> functions;  ///< only these are compiled; empty: all
    ReproOptions repro;
    std::filesystem::path frame_records;  ///< where events go when capture fails; empty: nowhere
    bool warned = false;
    std::set<std::pair<std::string, Addresses>> told_breaks;  ///< by reason and stack
    std::atomic<bool> skip = false;
    bool implicit = false;  ///< nobody asked for it to be compiled: a frame of a trace
    CompileStats counts;
    std::shared_ptr<RecompileProfile> profile;      ///< of who observes it, or null
    int running = 0;                                ///< calls that use the cache now
    std::shared_ptr<const KnownCalls> known_calls;  ///< with .pure; replaced as a whole
    bool relies_on_deterministic = false;           ///< its backend, or its own code, asked for that mode
    std::int64_t number = -1;                       ///< among the functions that were captured; -1: not yet
    bool reset_wanted = false;                      ///< while it runs

    /// Of a specialization, by its place in the cache; `mutex` is held.
    capture::CompileId id_of(std::size_t entry);
    /// As the user calls the function.
    const std::string& name();
    Backend& the_backend();
    /// Forgets what calls have taught it, now or when the last call that runs has returned.
    void reset();

  private:
    std::string name_;
};

/// The graph with its parameters as inputs, behind the others: what the program does to them between runs is seen. And
/// without its assertions: their conditions are outputs, which are asked in the program's order with what it prints.
Graph form_to_compile(const Graph& captured);

/// Runs it outside of any execution. Throws BackendError.
std::vector<whittle::Tensor> run_compiled(CompiledGraph& compiled, const std::vector<whittle::Tensor>& inputs);

class CompileReport;
/// Whether anybody wants to be told of a compilation that begins now.
bool has_compile_hooks();
/// Tells the program's hooks (hooks.h) of a graph that was compiled for this entry of the cache. `report`: what was
/// gathered on the way; null where nobody wanted it.
void call_compile_hooks(FunctionState& function, std::size_t entry, const Graph& captured,
                        const CompiledGraph& compiled, CompileReport* report);

/// One execution.
class Execution final : public FrameHost {
  public:
    Execution(FunctionState& function, Trace* trace, std::size_t entry);

    GraphRun run(const Recorded& recorded, std::shared_ptr<CompiledGraph>& compiled,
                 const std::vector<whittle::Tensor>& inputs, const std::vector<whittle::Tensor>& parameters) override;
    void broke(const capture::GraphBreak& why, const Addresses& stack) override;
    bool wants_stacks() const override { return trace_ || learns_sizes_; }
    bool keeps_all() const override { return function_.implicit; }
    void constrained(std::int64_t number, const capture::SizeRange& range, void* pc) override;
    void argument_named(const std::string& before, const std::string& name) override;
    bool wants_events() const override;
    bool defers_output() const override { return function_.options.defer_output; }
    bool captures_scalars() const override { return function_.options.capture_scalar_outputs; }
    bool captures_dynamic_shapes() const override { return function_.options.capture_dynamic_shapes; }
    bool verbose() const override { return function_.options.verbose; }
    void gave_up(const Thrown& why, const Addresses& user) override;
    /// Why capture itself failed; empty: it did not.
    const std::string& capture_failure() const { return capture_failure_; }
    const capture::CompileId& id() const { return id_; }
    /// With .pure: what the frame ran, where that was one graph that stands for it.
    std::optional<PureRun> pure_run() { return broke_ ? std::nullopt : std::move(pure_run_); }
    /// "toy_example [0/1]".
    std::string title() const { return function_.counts.name + " " + id_.text(); }
    /// Writes the frame's events where they are wanted. `error`: capture failed as a whole.
    void keep_events(std::vector<FrameSegment> events, const std::string& error);
    std::vector<std::shared_ptr<const Tape>> tapes(std::int64_t position) const override;
    void remember(std::int64_t position, std::shared_ptr<const Tape> tape) override;

    void went(std::int64_t position, Ways ways) override {
        if (position == 0) ways_ = std::move(ways);
    }

    /// Before the first graph ended.
    const Ways& ways() const { return ways_; }
    /// A graph that no call before had.
    bool compiled_another() const { return compiled_another_; }
    /// That ran so far, by identity.
    const capture::Graphs& graphs() const { return graphs_; }
    /// Their keys, where there is a trace.
    const std::vector<std::string>& keys() const { return keys_; }

  private:
    std::shared_ptr<CompiledGraph> slot(const Recorded& recorded);
    std::shared_ptr<CompiledGraph> find(const Recorded& recorded, const SymbolicGraph* symbolic);
    /// `known`: the same at other sizes, or null.
    void compile(CompiledGraph& compiled, const Recorded& recorded, const CompiledGraph* known,
                 const SymbolicGraph* symbolic);
    /// Without compiling, of what was compiled for other sizes. False, and nothing is made, where that is for them
    /// only.
    static bool compiled_as(const CompiledGraph& known, CompiledGraph& made, const Graph& forward);
    /// Forward and backward, or the graph as a whole.
    void compile_parts(CompiledGraph& made, const Graph& forward, const Graph& captured, CompileReport* report);
    /// Null: it is to run on the reference.
    std::unique_ptr<Executable> compile_part(const Graph& part, std::optional<CompileStage> stage,
                                             const Graph& captured);
    void compile_backward(CompiledGradient& gradient, const Graph& captured);
    void log_break(const capture::GraphBreak& why, const Addresses& stack) const;
    /// What the graph asks of sizes that may vary becomes guards. Null where none may.
    std::shared_ptr<const SymbolicGraph> learn_sizes(const Recorded& recorded, CompiledGraph& compiled);
    const void* identity(const CompiledGraph& compiled, const SymbolicGraph* symbolic, const std::string& key);
    /// Of sizes that were marked dynamic, and are not. Throws ConstraintError where a whole graph is wanted.
    void tell_fixed(const SymbolicGraph& symbolic, const Recorded& recorded);
    /// What was compiled of the same graph at other sizes, or null.
    std::shared_ptr<const CompiledGraph> at_other_sizes(const SymbolicGraph* symbolic);
    /// Forgets what was compiled for sizes that were not seen for long.
    void forget_old_sizes(FunctionState::Shape& shape, const std::string& key);
    std::vector<whittle::Tensor> execute(CompiledGraph& compiled, const Recorded& recorded,
                                         const std::vector<whittle::Tensor>& inputs);
    bool verifies() const { return function_.options.verify || function_.repro.on_wrong_results(); }
    void verify(const CompiledGraph& compiled, const std::vector<whittle::Tensor>& inputs,
                const std::vector<whittle::Tensor>& outputs);
    std::string failure_text(const BackendFailure& failure, const std::string& graph);

    FunctionState& function_;
    Trace* trace_;
    std::size_t entry_;
    capture::CompileId id_;
    std::string capture_failure_;
    std::optional<PureRun> pure_run_;
    bool broke_ = false;
    bool learns_sizes_ = false;  ///< some may vary, and this is the first call of the specialization
    std::optional<std::size_t> ended_by_;
    capture::Graphs graphs_;
    std::vector<std::string> keys_;
    Ways ways_;
    bool compiled_another_ = false;
};

/// The trace that executions on this thread are told to: explain()'s, else the environment's.
Trace* current_trace();
/// Replaces explain()'s on this thread; returns the one before.
Trace* exchange_trace(Trace* trace);

}  // namespace whittle::api
