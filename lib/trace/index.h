// index.json of a folder that `trace` wrote: what was traced and where its parts are. Schema: share/schema.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/guard.h"
#include "graph/graph.h"

namespace whittle {

inline constexpr int kIndexFormatMajor = 1, kIndexFormatMinor = 4;
inline constexpr std::string_view kTraceFormat = "whittle.trace";

/// Why capture stopped at a place; `count` times.
struct IndexBreak {
    std::string reason;
    std::string id = {};  ///< of the kind of break: "WB0001", see capture/graph_break.h
    std::string op = {};  ///< the op that capture stopped at, if one
    std::string frame = "main";
    std::vector<StackFrame> stack = {};  ///< of the user, innermost first
    std::int64_t count = 1;
    bool operator==(const IndexBreak&) const = default;
};

/// A size that varied from call to call.
struct IndexSymbol {
    std::string name;                       ///< "s0"
    std::string place = {};                 ///< "L['x'].size(0)"
    std::vector<std::int64_t> values = {};  ///< that it had, in order of first appearance
    bool operator==(const IndexSymbol&) const = default;
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

struct IndexGraph {
    std::string name;
    std::filesystem::path file = {};  ///< relative to the folder; empty when the graph was not written
    std::string frame = "main";
    /// What ended it: "return" of its frame, or the position in TraceIndex::breaks.
    std::optional<std::size_t> ended_by_break = {};
    std::int64_t ops = 0, inputs = 0, outputs = 0;
    std::vector<std::string> updates = {};  ///< in order: an input and the output that it takes, "L['x'] = %add"
    std::vector<IndexGuard> guards = {};    ///< under which it may be used again, in the order of their checks
    std::vector<IndexSymbol> symbols = {};  ///< where sizes vary; the graph is the one at their first values
    std::vector<std::string> input_sizes = {}, output_sizes = {};  ///< then: "[s0, 3]", in order
    double compile_seconds = 0;                                    ///< of all compilations
    std::int64_t compilations = 1;   ///< more where sizes vary: each set of sizes has a kernel of its own
    std::int64_t runs = 1;           ///< how often the program ran it; 1 where nobody counted
    std::string variant_of = {};     ///< name of the graph that it is, but for …
    std::string difference = {};     ///< … this: "aten.mul.Tensor other == 2, now 3"
    bool checked = false;            ///< it was run on what was observed when it was captured …
    std::string capture_fault = {};  ///< … and computes something else: capture went wrong, the graph is of no use
    bool operator==(const IndexGraph&) const = default;
};

struct IndexRecord {
    std::string name;
    std::filesystem::path file = {};  ///< relative to the folder
    std::string graph = {};           ///< name in TraceIndex::graphs; empty: a frame record (frame_record.h)
    bool operator==(const IndexRecord&) const = default;
};

/// A graph that had to be compiled again because a guard failed.
struct IndexRecompile {
    std::string frame;
    std::string guard;                   ///< the guard that failed, with what was found: "L['n'] == 3, now 4"
    std::vector<StackFrame> stack = {};  ///< where capture came to rely on it
    std::string advice = {};             ///< what would stop it
    std::int64_t count = 1;
    bool operator==(const IndexRecompile&) const = default;
};

/// A model that was traced.
struct IndexModel {
    std::string name;                 ///< after its file or folder; no two of a trace are alike
    std::filesystem::path file = {};  ///< relative to the trace's folder
    bool operator==(const IndexModel&) const = default;
};

struct TraceIndex {
    std::string model = {};                ///< as the user named it; several with commas
    std::string backend = "eager";         ///< it ran with
    std::vector<std::string> frames = {};  ///< in order of first execution
    std::vector<IndexGraph> graphs = {};
    std::vector<IndexBreak> breaks = {};
    std::vector<IndexRecord> records = {};
    std::vector<IndexRecompile> recompiles = {};
    std::map<std::string, std::int64_t> calls = {};  ///< of frames that ran more than once, where somebody counted
    std::vector<std::string> notes = {};             ///< what capture could not see, for the reader of the report
    std::map<std::string, std::string> environment = {};
    std::vector<IndexModel> models = {};            ///< unknown of traces of older versions
    std::vector<std::filesystem::path> files = {};  ///< relative to the folder: what else belongs to the trace
    bool operator==(const TraceIndex&) const = default;
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

}  // namespace whittle
