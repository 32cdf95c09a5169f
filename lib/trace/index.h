// index.json of a folder that `trace` wrote: what was traced and where its parts are. Each struct says what its members
// are in the file (formats/fields.h); all paths are relative to the folder.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/guard.h"
#include "formats/field_forms.h"
#include "graph/graph.h"
#include "trace/profile.h"

namespace whittle {

inline constexpr std::string_view kTraceFormat = "whittle.trace";

/// Why capture stopped at a place; `count` times.
struct IndexBreak {
    std::string reason;
    std::string id = {};
    std::string op = {};
    std::string frame = "main";
    std::vector<StackFrame> stack = {};
    std::int64_t count = 1;
    std::string brief = {};
    std::optional<std::string> hint = {};
    std::int64_t order = 0;
    bool operator==(const IndexBreak&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("reason", &IndexBreak::reason, "");
        field.maybe("id", &IndexBreak::id, "The id of the kind of break (explain break). Since 1.1.",
                    Matching{"^WB[0-9]{4}$"});
        field.maybe("op", &IndexBreak::op, "The op at which capture stopped, if any.");
        field("frame", &IndexBreak::frame, "");
        field("count", &IndexBreak::count, "The number of times.", Count{});
        field("stack", &IndexBreak::stack, "The user's stack, innermost frame first.");
        field.maybe("brief", &IndexBreak::brief, "The reason without the source line at its end. Since 1.6.");
        field.maybe("hint", &IndexBreak::hint,
                    "What to change there; empty if the user can change nothing. Since 1.7.");
        field.maybe("order", &IndexBreak::order,
                    "A number that is lower for breaks that the program reached earlier, if known. Since 1.8.",
                    Count{});
    }
};

/// A size that varied from call to call.
struct IndexSymbol {
    std::string name;  ///< "s0"
    std::string place = {};
    std::vector<std::int64_t> values = {};
    bool operator==(const IndexSymbol&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("name", &IndexSymbol::name, "");
        field("place", &IndexSymbol::place, "Where the size is read, as in: L['x'].size(0)");
        field("values", &IndexSymbol::values, "The values of the size, in order of first appearance.");
    }
};

/// A guard of a graph: a tree. Of an index older than 1.4 its text alone is known.
struct IndexGuard {
    std::optional<capture::Guard> guard = {};
    std::string told = {};  ///< without a tree

    IndexGuard(capture::Guard tree) : guard(std::move(tree)) {}
    explicit IndexGuard(std::string text) : told(std::move(text)) {}
    std::string text() const { return guard ? guard->text() : told; }
    bool operator==(const IndexGuard&) const = default;
};

/// "return", or {"break": N}.
struct EndedBy {};

struct IndexGraph {
    std::string name;
    std::filesystem::path file = {};  ///< empty when the graph was not written
    std::string frame = "main";
    std::optional<std::size_t> ended_by_break = {};
    std::int64_t ops = 0, inputs = 0, outputs = 0;
    std::vector<std::string> updates = {};
    std::vector<IndexGuard> guards = {};
    std::vector<IndexSymbol> symbols = {};
    std::vector<std::string> input_sizes = {}, output_sizes = {};
    double compile_seconds = 0;
    std::int64_t compilations = 1, runs = 1;
    std::string variant_of = {}, difference = {};
    bool checked = false;
    std::string capture_fault = {};
    std::string compile_id = {};
    std::int64_t order = 0;
    bool operator==(const IndexGraph&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("name", &IndexGraph::name, "");
        field.maybe("file", &IndexGraph::file, "", InFolder{});
        field("frame", &IndexGraph::frame, "");
        field("ended_by", &IndexGraph::ended_by_break,
              "Why the graph ended: the frame returned, or a break, given by its index in breaks.", EndedBy{});
        field("ops", &IndexGraph::ops, "The number of calls, getitems excluded.", Count{});
        field("inputs", &IndexGraph::inputs, "", Count{});
        field("outputs", &IndexGraph::outputs, "", Count{});
        field.maybe("updates", &IndexGraph::updates,
                    "Inputs and parameters that are written to, in order, each with the output that is written to it: "
                    "\"L['x'] = %add\". Since 1.1.");
        field.maybe("guards", &IndexGraph::guards,
                    "The guards under which the graph can be reused, in the order in which they are checked. Since "
                    "1.1; strings until 1.3.");
        field.maybe("symbols", &IndexGraph::symbols,
                    "Sizes that vary between calls; the graph has their first values. Since 1.2.");
        field.maybe("input_sizes", &IndexGraph::input_sizes,
                    "If sizes vary: the sizes of each input, as in [s0, 3]. Since 1.2.");
        field.maybe("output_sizes", &IndexGraph::output_sizes, "If sizes vary: the sizes of each output. Since 1.2.");
        field.maybe("compile_seconds", &IndexGraph::compile_seconds, "The time of all compilations. Since 1.1.",
                    Count{});
        field.maybe("compilations", &IndexGraph::compilations,
                    "How often the graph was compiled, once per set of sizes; 1 if not counted. Since 1.3.", Count{});
        field.maybe("runs", &IndexGraph::runs, "How often the program ran the graph; 1 if not counted. Since 1.3.",
                    Count{});
        field.maybe("variant_of", &IndexGraph::variant_of,
                    "The name of a graph that is equal except for the difference. Since 1.3.");
        field.maybe("difference", &IndexGraph::difference,
                    "The difference, as a guard and the value found: aten.mul.Tensor other == 2, now 3. Since 1.3.");
        field.maybe("checked", &IndexGraph::checked,
                    "Whether the graph was run on the values observed during capture. Since 1.4.");
        field.maybe("capture_fault", &IndexGraph::capture_fault,
                    "How the graph's results differ from the observed results: capture went wrong. Since 1.4.");
        field.maybe(
            "compile_id", &IndexGraph::compile_id,
            "For a compiled function: the number of the function and the number of the specialization, 0/1. Since 1.5.",
            Matching{"^[0-9]+/[0-9]+$"});
        field.maybe("order", &IndexGraph::order,
                    "A number that is lower for graphs that the program reached earlier, if known. The number is not "
                    "lower than the order of the breaks before the graph. Since 1.8.",
                    Count{});
    }
};

struct IndexRecord {
    std::string name;
    std::filesystem::path file = {};
    std::string graph = {};
    bool operator==(const IndexRecord&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("name", &IndexRecord::name, "");
        field("file", &IndexRecord::file, "", InFolder{});
        field("graph", &IndexRecord::graph, "The name of the graph; empty for a frame record.");
    }
};

/// A guard that failed: its parts, and both as one text.
struct IndexFailure {
    std::string guard = {}, condition = {}, found = {};

    IndexFailure() = default;
    IndexFailure(const capture::GuardFailure& failure)
        : guard(failure.text()), condition(failure.condition), found(failure.found) {}
    bool operator==(const IndexFailure&) const = default;
};

/// A graph that had to be compiled again because a guard failed.
struct IndexRecompile : IndexFailure {
    std::string frame = {};
    std::vector<StackFrame> stack = {};
    std::string advice = {};
    std::int64_t count = 1, shared = 0;
    bool operator==(const IndexRecompile&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("frame", &IndexRecompile::frame, "");
        field("guard", &IndexRecompile::guard, "The guard that failed, with the value found: L['n'] == 3, now 4");
        field.lately("condition", &IndexRecompile::condition, "The guard's condition: L['n'] == 3. Since 1.6.");
        field.lately("found", &IndexRecompile::found, "The value that the call had, such as 4. Since 1.6.");
        field.maybe("advice", &IndexRecompile::advice, "Advice on how to avoid the recompilation.");
        field("count", &IndexRecompile::count, "The number of recompiles before which the guard failed.", Count{});
        field.maybe("shared", &IndexRecompile::shared,
                    "The number of these recompiles that are also counted for another failed guard. Since 1.8.",
                    Count{});
        field("stack", &IndexRecompile::stack,
              "The user's stack where capture relied on the guarded value, innermost frame first.");
    }
};

/// How many there were: each once, however many guards failed before it.
template <class Recompiles>
std::int64_t recompile_count(const Recompiles& recompiles) {
    std::int64_t count = 0;
    for (const IndexRecompile& entry : recompiles) count += entry.count - entry.shared;
    return count;
}

/// One call of a compiled function: which of its specializations fitted.
struct IndexCall : IndexFailure {
    std::string frame = {};
    std::int64_t call = 0;
    std::optional<std::int64_t> specialization = {};
    bool compiled = false;
    std::vector<std::string> graphs = {};
    bool operator==(const IndexCall&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("frame", &IndexCall::frame, "");
        field("call", &IndexCall::call, "The number of the frame's call, from 1.", Count{});
        field.maybe("specialization", &IndexCall::specialization,
                    "The specialization that the call used, numbered from 0 in order of creation; absent if the call "
                    "ran eagerly because the cache limit was reached.",
                    Count{});
        field.maybe("compiled", &IndexCall::compiled, "Whether the call created the specialization.");
        field.maybe("guard", &IndexCall::guard,
                    "The guard of the newest specialization that failed, if no specialization fits.");
        field.maybe("condition", &IndexCall::condition, "The guard's condition: L['n'] == 3");
        field.maybe("found", &IndexCall::found, "The value that the call had, such as 4.");
        field.maybe("graphs", &IndexCall::graphs, "The names of the graphs that the call ran.");
    }
};

/// A place that compiled functions were called from.
struct IndexCaller {
    std::string frame;
    std::vector<StackFrame> stack = {};
    std::int64_t calls = 0;
    bool operator==(const IndexCaller&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("frame", &IndexCaller::frame, "The function that was called.");
        field("calls", &IndexCaller::calls, "", Count{});
        field("stack", &IndexCaller::stack, "The user's stack, innermost frame first.");
    }
};

/// Why torch.compile stopped a graph in the user's code, as PyTorch says it.
struct TorchBreak {
    static constexpr const char* kName = "torch_break";
    std::string reason = {}, hint = {}, file = {};
    std::int64_t line = 0;
    bool operator==(const TorchBreak&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("reason", &TorchBreak::reason, "");
        field.maybe("hint", &TorchBreak::hint, "");
        field("file", &TorchBreak::file, "");
        field("line", &TorchBreak::line, "", Count{});
    }
};

/// A function, or a part of one, that the program had torch.compile compile.
struct TorchCompilation {
    static constexpr const char* kName = "torch_compilation";
    std::string id = {};  ///< "0/1": the function's number and that of its compilation
    std::string function = {}, file = {};
    std::int64_t line = 0, ops = 0, guards = 0;
    double seconds = 0;
    std::string error = {};
    std::vector<TorchBreak> breaks = {};
    std::vector<std::string> failed_guards = {};
    bool operator==(const TorchCompilation&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("id", &TorchCompilation::id, "The numbers of the function and of its compilation: 0/1");
        field("function", &TorchCompilation::function, "");
        field("file", &TorchCompilation::file, "");
        field("line", &TorchCompilation::line, "", Count{});
        field("ops", &TorchCompilation::ops, "The number of operations in the graph.", Count{});
        field("guards", &TorchCompilation::guards, "The number of guards.", Count{});
        field("seconds", &TorchCompilation::seconds, "");
        field.maybe("error", &TorchCompilation::error, "Why the graph was not compiled.");
        field.maybe("breaks", &TorchCompilation::breaks, "Why and where the graph ends before the function does.");
        field.maybe("failed_guards", &TorchCompilation::failed_guards,
                    "For a recompilation: the guards that failed, each with the id of the earlier compilation.");
    }
};

/// A model that was traced.
struct IndexModel {
    std::string name;
    std::filesystem::path file = {};
    bool operator==(const IndexModel&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("name", &IndexModel::name, "A unique name, made from the name of the file or folder.");
        field("file", &IndexModel::file, "The file, relative to the trace's folder.");
    }
};

struct TraceIndex {
    static constexpr bool kLines = true;
    std::string model = {};
    std::string backend = "eager";
    std::vector<std::string> frames = {};
    std::vector<IndexGraph> graphs = {};
    std::vector<IndexBreak> breaks = {};
    std::vector<IndexRecord> records = {};
    std::vector<IndexRecompile> recompiles = {};
    std::map<std::string, std::int64_t> calls = {}, eager_calls = {};
    std::vector<std::string> guessed_calls = {};
    std::vector<IndexCall> call_log = {};
    std::vector<IndexCaller> callers = {};
    std::vector<TimeSpan> spans = {};
    std::vector<OpTime> op_times = {};
    std::vector<std::string> notes = {}, constraint_violations = {};
    std::vector<TorchCompilation> torch_compilations = {};
    std::map<std::string, std::string> environment = {};
    std::vector<IndexModel> models = {};
    std::vector<std::filesystem::path> files = {};
    bool operator==(const TraceIndex&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("model", &TraceIndex::model,
              "The model as the user named it, or the script, module or code that an interpreter ran; several are "
              "separated by commas.");
        field("backend", &TraceIndex::backend, "The backend that the program ran with.");
        field("frames", &TraceIndex::frames, "The frames in the order of their first execution.");
        field("graphs", &TraceIndex::graphs, "");
        field("breaks", &TraceIndex::breaks, "Graph breaks: why, where and how often capture stopped.");
        field("records", &TraceIndex::records, "");
        field.maybe("recompiles", &TraceIndex::recompiles,
                    "Graphs that were compiled again because a guard failed. Since 1.1.");
        field.maybe("calls", &TraceIndex::calls,
                    "The number of executions per frame that ran more than once, if counted. Since 1.3.", Count{});
        field.maybe("eager_calls", &TraceIndex::eager_calls,
                    "For each frame: the number of executions that fitted no specialization after the cache limit was "
                    "reached. Since 1.5.",
                    Count{});
        field.maybe("guessed_calls", &TraceIndex::guessed_calls,
                    "The frames whose number of executions is a guess, because capture cannot see where one execution "
                    "ends and the next execution begins. Since 1.8.");
        field.maybe("call_log", &TraceIndex::call_log,
                    "The first calls of each compiled function, and the calls that fit no specialization. Since 1.5.");
        field.maybe("callers", &TraceIndex::callers,
                    "The places from which compiled or captured functions were called. Since 1.5.");
        field.maybe("spans", &TraceIndex::spans,
                    "The times of the program's compilations, if measured ($WHITTLE_TIMES). Since 1.5.");
        field.maybe("op_times", &TraceIndex::op_times,
                    "The times of the operations of a LibTorch program, if measured. Since 1.5.");
        field.maybe("notes", &TraceIndex::notes, "Notes about what capture could not observe. Since 1.1.");
        field.maybe("constraint_violations", &TraceIndex::constraint_violations,
                    "Sizes that were marked dynamic but that the program fixes, with the operation and its location. "
                    "Since 1.5.");
        field.maybe("torch_compilations", &TraceIndex::torch_compilations,
                    "What torch.compile compiled in the program, as PyTorch logged it (TORCH_TRACE). Since 1.8.");
        field.maybe("environment", &TraceIndex::environment, "");
        field.maybe("models", &TraceIndex::models, "The models that were traced. Since 1.4.");
        field.maybe("files", &TraceIndex::files, "Other files in the folder that belong to the trace. Since 1.4.",
                    InFolder{});
    }
};

struct CheckCounts {
    std::int64_t graphs = 0, checked = 0, faults = 0;
};
CheckCounts count_checks(const TraceIndex& index);
/// "2 of 3 graphs checked, 1 capture fault".
std::string checks_text(const CheckCounts& counts);

/// The entry of a graph whose counts are those of `graph`: ops are its calls without getitems.
IndexGraph index_graph(const Graph& graph, std::string frame);

/// Writes folder/index.json, atomically.
void save_index(const std::filesystem::path& folder, const TraceIndex& index);

/// Throws Error with file and JSON pointer; paths that lead out of the folder are refused.
TraceIndex load_index(const std::filesystem::path& folder);

/// The JSON Schema of index.json.
nlohmann::ordered_json index_schema();

}  // namespace whittle
