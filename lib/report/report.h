// explain(): what was captured, where capture or the backend stops, and why. The report is a value; show.h shows
// it. The parts and their order are those of TorchDynamo's explain: counts, break reasons, graphs, ops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/graph_break.h"
#include "graph/backend.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "trace/index.h"

namespace whittle::report {

/// One captured frame.
struct Frame {
    std::string name = "main";
    std::string file = {};  ///< where it was captured from, for places without a user stack
    Graph graph = {};
    std::vector<Break> breaks = {};         ///< where the frontend could not go on
    std::vector<std::string> unknown = {};  ///< calls whose metas are not known: breaks, and what depends on them
    bool captured = false;  ///< while a program ran: an op that we do not know is one that the program admitted
    /// What the backend has said already that it cannot compile; else it is asked.
    std::optional<std::vector<std::string>> unsupported = {};
};

using capture::BreakKind;

/// A stack frame as reports print it: with what is unknown, too.
struct ShownFrame : StackFrame {
    static constexpr const char* kName = "frame";
    static void fields(auto& field) {
        field("file", &ShownFrame::file, "");
        field("line", &ShownFrame::line, "", Count{});
        field("column", &ShownFrame::column, "", Count{});
        field("function", &ShownFrame::function, "");
        field("text", &ShownFrame::text, "The source line.");
    }
};
inline std::vector<ShownFrame> shown_stack(const std::vector<StackFrame>& stack) {
    std::vector<ShownFrame> frames;
    for (const StackFrame& frame : stack) frames.push_back({frame});
    return frames;
}

/// A recompile as reports print it.
struct ShownRecompile : IndexRecompile {
    std::optional<ShownFrame> source() const {
        return stack.empty() ? std::nullopt : std::optional(ShownFrame{stack.front()});
    }
    static void fields(auto& field) {
        field("frame", &ShownRecompile::frame, "");
        field("guard", &ShownRecompile::guard, "");
        field("condition", &ShownRecompile::condition, "The guard's condition: L['n'] == 3");
        field("found", &ShownRecompile::found, "The value that the call had, such as 4.");
        field("count", &ShownRecompile::count, "The number of recompiles before which the guard failed.", Count{});
        field("shared", &ShownRecompile::shared,
              "The number of these recompiles that are also counted for another failed guard.", Count{});
        field("source", &ShownRecompile::source, "Where capture relied on the guarded value.", OrNull{});
        field("advice", &ShownRecompile::advice, "");
    }
};

struct BreakPlace {
    std::string node = {};                    ///< "%nms"
    std::vector<StackFrame> user_stack = {};  ///< innermost first; of a model file: one entry, the file and the node
    std::int64_t count = 1;
    std::string frame = {};                ///< of a captured program …
    std::vector<std::size_t> breaks = {};  ///< … with the positions in its index
};

/// One reason with all its places.
struct BreakReason {
    static constexpr const char* kName = "reason";
    BreakKind kind = BreakKind::frontend;
    std::string op = {};
    std::string reason = {};
    std::vector<BreakPlace> places = {};  ///< in order of the graph, at least one
    std::int64_t count = 0;               ///< of all places
    std::string brief = {};               ///< the reason without the line that the first place shows, if it has that
    std::optional<std::string> recorded_hint = {};  ///< by capture, which knew more of the place

    const capture::BreakInfo& info() const { return capture::info(kind); }
    /// "" where the user can change nothing.
    std::string hint() const { return recorded_hint ? *recorded_hint : capture::hint(kind, places.front().user_stack); }
    /// The names of those that are nodes of a graph.
    std::vector<std::string> nodes() const;

    static void fields(auto& field) {
        field(
            "id", [](const BreakReason& reason) { return reason.info().id; }, "The id of this kind of break.");
        field(
            "title", [](const BreakReason& reason) { return reason.info().title; }, "");
        field("hint", &BreakReason::hint, "");
        field("op", &BreakReason::op, "");
        field("reason", &BreakReason::reason, "");
        field("count", &BreakReason::count, "How often the break happened.", Count{});
        field(
            "user_stack", [](const BreakReason& reason) { return shown_stack(reason.places.front().user_stack); },
            "The stack of the first place, innermost frame first.");
        field("nodes", &BreakReason::nodes, "");
    }
};

struct NamedMeta {
    static constexpr const char* kName = "value";
    std::string name = {};
    ValueMeta meta;
    std::string sizes = {};

    static void fields(auto& field) {
        field("name", &NamedMeta::name, "");
        field(
            "dtype", [](const NamedMeta& value) { return value.meta.dtype; }, "");
        field(
            "sizes", [](const NamedMeta& value) { return value.meta.sizes; }, "", Count{});
        field.maybe("symbolic_sizes", &NamedMeta::sizes, "The sizes, where they vary: [s0, 3]");
    }
};

/// One graph that would be compiled: a frame, or what is left of it between two breaks; with what the index of a
/// captured program knows of the frame's graph.
struct GraphSummary : IndexGraph {
    std::int64_t nested_graphs = 0, nested_ops = 0;
    std::vector<NamedMeta> input_values = {}, output_values = {};
    std::int64_t parameters = 0;
    std::int64_t parameter_elements = 0;  ///< numbers in them
    std::int64_t parameter_bytes = 0;
    std::int64_t calls = 1;
    bool calls_guessed = false;
    std::string generalized_by = {};

    std::vector<std::string> guard_texts() const;

    static void fields(auto& field) {
        field("name", &GraphSummary::name, "");
        field("frame", &GraphSummary::frame, "");
        field("ops", &GraphSummary::ops, "The number of calls, getitems excluded.", Count{});
        field("inputs", &GraphSummary::input_values, "");
        field("outputs", &GraphSummary::output_values, "");
        field("parameters", &GraphSummary::parameters, "The number of parameter tensors.", Count{});
        field("parameter_bytes", &GraphSummary::parameter_bytes, "", Count{});
        field("updates", &GraphSummary::updates, "The writes of the graph to its inputs: \"L['x'] = %add\".");
        field("guards", &GraphSummary::guard_texts, "The guards, in the order in which they are checked.");
        field("compile_seconds", &GraphSummary::compile_seconds,
              "The time of compilation, if a backend compiled the graph.");
        field.maybe("compilations", &GraphSummary::compilations,
                    "How often the graph was compiled: once for each set of sizes. 1 if not counted.", Count{});
        field.maybe("runs", &GraphSummary::runs, "How often the graph ran; 1 if not counted.", Count{});
        field.maybe("calls", &GraphSummary::calls, "The number of calls of the graph's frame.", Count{});
        field.maybe("calls_guessed", &GraphSummary::calls_guessed,
                    "Whether the number of calls is a guess, because capture cannot see where one call ends and the "
                    "next call begins.");
        field.maybe("variant_of", &GraphSummary::variant_of,
                    "The name of a graph that is equal except for the difference.");
        field.maybe("difference", &GraphSummary::difference, "");
        field.maybe("checked", &GraphSummary::checked,
                    "Whether the graph was run on the values observed during capture.");
        field.maybe("capture_fault", &GraphSummary::capture_fault,
                    "How the graph's results differ from the results that the program computed.");
        field.maybe("symbols", &GraphSummary::symbols, "");
        field.maybe("compile_id", &GraphSummary::compile_id,
                    "The function's number and its specialization's number, such as 0/1.");
        field.maybe("generalized_by", &GraphSummary::generalized_by,
                    "The name of a later graph of the same code with varying sizes, which also serves the calls of "
                    "this graph.");
        field.maybe("nested_graphs", &GraphSummary::nested_graphs,
                    "Graphs nested in higher-order ops and control flow.", Count{});
        field.maybe(
            "nested_ops",
            [](const GraphSummary& graph) {
                return graph.nested_graphs ? std::optional(graph.nested_ops) : std::nullopt;
            },
            "", Count{});
    }
};

struct OpUse {
    std::string op = {};
    std::int64_t count = 0;
    std::vector<std::string> results = {};
    bool known = false;
    bool supported = true;

    static void fields(auto& field) {
        field("op", &OpUse::op, "");
        field("count", &OpUse::count, "", Count{});
        field("results", &OpUse::results, "Distinct dtypes and sizes of the first result, most frequent first.");
        field("known", &OpUse::known, "Whether the op is registered.");
        field("supported", &OpUse::supported, "Whether the backend supports the op; true if no backend was asked.");
    }
};

struct Report {
    std::string model = {};
    std::string backend = {};
    std::vector<GraphSummary> graphs = {};  ///< without empty ones
    std::int64_t graph_break_count = 0;
    /// That the program met, else in the order of the graphs; with its place alone.
    std::optional<BreakReason> first_break = {};
    std::int64_t op_count = 0;
    std::vector<BreakReason> break_reasons = {};
    std::vector<OpUse> ops = {};
    std::vector<std::string> unsupported = {};
    bool backend_tells = true;                    ///< the backend can say what it does not support
    std::size_t failing = 0;                      ///< graphs that it was tried on and fails on
    std::string verdict = {};                     ///< of the others that it was tried on, in lines
    std::vector<ShownRecompile> recompiles = {};  ///< of a captured program, most frequent first
    std::vector<std::string> notes = {};          ///< those of the index, and what violates constraints
    std::vector<std::string> constraint_violations = {};
    std::map<std::string, std::int64_t> calls = {}, eager_calls = {};  ///< of a captured program, as in its index …
    std::vector<std::string> guessed_calls = {};
    std::vector<IndexCall> call_log = {};
    std::vector<IndexCaller> callers = {};
    std::vector<TorchCompilation> torch_compilations = {};
    CheckCounts checks = {};  ///< of a captured program
    /// Of each frame the calls that are breaks, ascending: unknown ops, data-dependent control flow, what the frontend
    /// and the backend named.
    std::vector<std::vector<NodeId>> break_nodes = {};

    /// Without those that a later one generalizes.
    std::size_t graph_count() const {
        return static_cast<std::size_t>(std::ranges::count(graphs, "", &GraphSummary::generalized_by));
    }

    static void fields(auto& field) {
        field("model", &Report::model, "");
        field("backend", &Report::backend, "The backend whose op support is reported, or an empty string.");
        field("graph_count", &Report::graph_count,
              "The number of graphs, without the graphs that a later graph generalizes.");
        field("graph_break_count", &Report::graph_break_count,
              "The number of times that a graph breaks, not the number of distinct reasons.", Count{});
        field("op_count", &Report::op_count,
              "The number of calls, including calls at breaks and in nested graphs, but without getitems.", Count{});
        field("break_reasons", &Report::break_reasons, "The reasons of graph breaks, most frequent first.");
        field("graphs", &Report::graphs, "");
        field("ops", &Report::ops, "The ops, the most frequent first.");
        field("unsupported", &Report::unsupported, "Ops that the backend does not support, in order of appearance.");
        field("recompiles", &Report::recompiles, "The recompiles of a captured program, most frequent first.");
        field("notes", &Report::notes, "What capture could not record.");
        field.maybe("calls", &Report::calls, "Calls of functions that ran more than once, if counted.", Count{});
        field.maybe("eager_calls", &Report::eager_calls, "Calls that ran eagerly because no specialization fitted.",
                    Count{});
        field.maybe("guessed_calls", &Report::guessed_calls, "Functions whose number of calls is a guess.");
        field.maybe("call_log", &Report::call_log, "The specialization that each call of a compiled function used.");
        field.maybe("callers", &Report::callers, "Where compiled functions were called from.");
        field.maybe("torch_compilations", &Report::torch_compilations,
                    "What torch.compile compiled in the program, as PyTorch logged it.");
    }
};

/// `backend` may be null: then only what every backend stops at is a break. `captured` is the index of the folder that
/// the frames come from, one frame per graph, or null: its breaks, guards, recompiles and notes are told too.
Report explain(const std::string& model, const std::vector<Frame>& frames, const Backend* backend,
               const TraceIndex* captured = nullptr);

/// Whether the index says that the frame's graph was captured while a program ran: such graphs have guards.
bool was_captured(const Frame& frame, const TraceIndex& index);

/// Of `graph`, which is the frame's or, unless `whole`, a part of it. `captured` may be null.
GraphSummary summarize(const Graph& graph, const Frame& frame, const TraceIndex* captured, bool whole = true);

}  // namespace whittle::report
