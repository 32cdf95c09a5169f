// index.json of a folder that `trace` wrote: what was traced and where its parts are. Each struct says what its members
// are in the file (graph/fields.h); all paths are relative to the folder.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/guard.h"
#include "graph/field_forms.h"
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
    bool operator==(const IndexBreak&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("reason", &IndexBreak::reason, "");
        field.maybe("id", &IndexBreak::id, "Of the kind of break (explain break). Since 1.1.",
                    Matching{"^WB[0-9]{4}$"});
        field.maybe("op", &IndexBreak::op, "The op that capture stopped at, if one.");
        field("frame", &IndexBreak::frame, "");
        field("count", &IndexBreak::count, "How often.", Count{});
        field("stack", &IndexBreak::stack, "Of the user's program, innermost first.");
        field.maybe("brief", &IndexBreak::brief,
                    "The reason without the line of source that ends it, where one does. Since 1.6.");
        field.maybe("hint", &IndexBreak::hint,
                    "What to change there; empty where the user can change nothing. Since 1.7.");
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
        field("place", &IndexSymbol::place, "L['x'].size(0)");
        field("values", &IndexSymbol::values, "That it had, in order of first appearance.");
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
    bool operator==(const IndexGraph&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("name", &IndexGraph::name, "");
        field.maybe("file", &IndexGraph::file, "", InFolder{});
        field("frame", &IndexGraph::frame, "");
        field("ended_by", &IndexGraph::ended_by_break,
              "Why it was compiled here: the frame returned, or a break by its position in breaks.", EndedBy{});
        field("ops", &IndexGraph::ops, "Calls without getitems.", Count{});
        field("inputs", &IndexGraph::inputs, "", Count{});
        field("outputs", &IndexGraph::outputs, "", Count{});
        field.maybe("updates", &IndexGraph::updates,
                    "In order: an input or parameter that is written to, and the output that it takes: "
                    "\"L['x'] = %add\". Since 1.1.");
        field.maybe("guards", &IndexGraph::guards,
                    "Under which the graph may be used again, in the order of their checks. Since 1.1; texts until "
                    "1.3.");
        field.maybe("symbols", &IndexGraph::symbols,
                    "Sizes that vary from call to call; the graph is the one at their first values. Since 1.2.");
        field.maybe("input_sizes", &IndexGraph::input_sizes,
                    "Where sizes vary, one text per input: [s0, 3]. Since 1.2.");
        field.maybe("output_sizes", &IndexGraph::output_sizes, "One text per output. Since 1.2.");
        field.maybe("compile_seconds", &IndexGraph::compile_seconds, "Of all compilations. Since 1.1.", Count{});
        field.maybe("compilations", &IndexGraph::compilations,
                    "How often it was compiled, once for each set of sizes; 1 where that was not counted. Since 1.3.",
                    Count{});
        field.maybe("runs", &IndexGraph::runs, "How often the program ran it; 1 where that was not counted. Since 1.3.",
                    Count{});
        field.maybe("variant_of", &IndexGraph::variant_of,
                    "Name of the graph that it is, but for the difference. Since 1.3.");
        field.maybe("difference", &IndexGraph::difference,
                    "As a guard with what was found: aten.mul.Tensor other == 2, now 3. Since 1.3.");
        field.maybe("checked", &IndexGraph::checked,
                    "It was run on what was observed when it was captured. Since 1.4.");
        field.maybe("capture_fault", &IndexGraph::capture_fault,
                    "It computes something else than was observed: capture went wrong. Since 1.4.");
        field.maybe("compile_id", &IndexGraph::compile_id,
                    "Of a function that was compiled: which one, and which specialization of it: 0/1. Since 1.5.",
                    Matching{"^[0-9]+/[0-9]+$"});
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
        field("graph", &IndexRecord::graph, "Name of the graph; empty: a frame record.");
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
    std::int64_t count = 1;
    bool operator==(const IndexRecompile&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("frame", &IndexRecompile::frame, "");
        field("guard", &IndexRecompile::guard, "That failed, with what was found: L['n'] == 3, now 4");
        field.lately("condition", &IndexRecompile::condition, "Of the guard: L['n'] == 3. Since 1.6.");
        field.lately("found", &IndexRecompile::found, "Instead: 4. Since 1.6.");
        field.maybe("advice", &IndexRecompile::advice, "What would stop it.");
        field("count", &IndexRecompile::count, "", Count{});
        field("stack", &IndexRecompile::stack, "Where capture came to rely on it, innermost first.");
    }
};

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
        field("call", &IndexCall::call, "Of the frame, from 1.", Count{});
        field.maybe("specialization", &IndexCall::specialization,
                    "That fitted, from 0 in the order in which they were made; none: it ran eagerly, for the cache "
                    "limit was reached.",
                    Count{});
        field.maybe("compiled", &IndexCall::compiled, "It made the specialization.");
        field.maybe("guard", &IndexCall::guard, "That failed, of the newest specialization, where none fitted.");
        field.maybe("condition", &IndexCall::condition, "Of the guard: L['n'] == 3");
        field.maybe("found", &IndexCall::found, "Instead: 4");
        field.maybe("graphs", &IndexCall::graphs, "That it ran, by name.");
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
        field("stack", &IndexCaller::stack, "Innermost first.");
    }
};

/// A model that was traced.
struct IndexModel {
    std::string name;
    std::filesystem::path file = {};
    bool operator==(const IndexModel&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("name", &IndexModel::name, "After its file or folder; no two are alike.");
        field("file", &IndexModel::file, "Relative to the trace's folder.");
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
    std::vector<IndexCall> call_log = {};
    std::vector<IndexCaller> callers = {};
    std::vector<TimeSpan> spans = {};
    std::vector<OpTime> op_times = {};
    std::vector<std::string> notes = {}, constraint_violations = {};
    std::map<std::string, std::string> environment = {};
    std::vector<IndexModel> models = {};
    std::vector<std::filesystem::path> files = {};
    bool operator==(const TraceIndex&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("model", &TraceIndex::model, "As the user named it; several with commas.");
        field("backend", &TraceIndex::backend, "It ran with.");
        field("frames", &TraceIndex::frames, "In order of first execution.");
        field("graphs", &TraceIndex::graphs, "");
        field("breaks", &TraceIndex::breaks, "Why capture stopped, where, and how often.");
        field("records", &TraceIndex::records, "");
        field.maybe("recompiles", &TraceIndex::recompiles,
                    "Graphs that were compiled again because a guard failed. Since 1.1.");
        field.maybe("calls", &TraceIndex::calls,
                    "Executions of frames that ran more than once, where they were counted. Since 1.3.", Count{});
        field.maybe("eager_calls", &TraceIndex::eager_calls,
                    "How many of them no specialization fitted when the cache limit was reached. Since 1.5.", Count{});
        field.maybe("call_log", &TraceIndex::call_log,
                    "The first calls of each compiled function, and those that no specialization fitted. Since 1.5.");
        field.maybe("callers", &TraceIndex::callers,
                    "Where functions were called from that were compiled or captured. Since 1.5.");
        field.maybe("spans", &TraceIndex::spans,
                    "What the program's compilations took, where times were asked for ($WHITTLE_TIMES). Since 1.5.");
        field.maybe("op_times", &TraceIndex::op_times,
                    "What its operations took, of a program of LibTorch; where times were asked for. Since 1.5.");
        field.maybe("notes", &TraceIndex::notes, "What capture could not see. Since 1.1.");
        field.maybe("constraint_violations", &TraceIndex::constraint_violations,
                    "Sizes that were marked dynamic and that the program fixes: by which operation, where. Since 1.5.");
        field.maybe("environment", &TraceIndex::environment, "");
        field.maybe("models", &TraceIndex::models, "What was traced. Since 1.4.");
        field.maybe("files", &TraceIndex::files, "What else in the folder belongs to the trace. Since 1.4.",
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
