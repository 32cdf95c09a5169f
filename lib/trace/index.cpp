#include "trace/index.h"

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "graph/document.h"
#include "graph/json_text.h"
#include "graph/stack_json.h"
#include "graph/value_ref.h"
#include "trace/guard_json.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using Json = Document::Json;

std::string list_text(const std::vector<std::string>& texts) {
    std::string text = "[";
    for (const std::string& entry : texts) text += (text.size() > 1 ? ", " : "") + json_text(entry);
    return text + "]";
}

std::string graph_text(const IndexGraph& graph) {
    std::string text = "{\"name\": " + json_text(graph.name);
    if (!graph.file.empty()) text += ", \"file\": " + json_text(graph.file.generic_string());
    text += ", \"frame\": " + json_text(graph.frame) + ", \"ended_by\": ";
    text += graph.ended_by_break ? "{\"break\": " + std::to_string(*graph.ended_by_break) + "}" : "\"return\"";
    text += ", \"ops\": " + std::to_string(graph.ops) + ", \"inputs\": " + std::to_string(graph.inputs) +
            ", \"outputs\": " + std::to_string(graph.outputs);
    if (!graph.updates.empty()) text += ", \"updates\": " + list_text(graph.updates);
    if (!graph.guards.empty()) {
        std::string guards;
        for (const IndexGuard& entry : graph.guards)
            guards +=
                (guards.empty() ? "" : ", ") + (entry.guard ? guard_to_json(*entry.guard) : json_text(entry.told));
        text += ", \"guards\": [" + guards + "]";
    }
    if (!graph.symbols.empty()) {
        std::string symbols;
        for (const IndexSymbol& symbol : graph.symbols) {
            std::string values;
            for (const std::int64_t value : symbol.values)
                values += (values.empty() ? "" : ", ") + std::to_string(value);
            symbols += (symbols.empty() ? "" : ", ") + ("{\"name\": " + json_text(symbol.name)) +
                       ", \"place\": " + json_text(symbol.place) + ", \"values\": [" + values + "]}";
        }
        text += ", \"symbols\": [" + symbols + "], \"input_sizes\": " + list_text(graph.input_sizes) +
                ", \"output_sizes\": " + list_text(graph.output_sizes);
    }
    if (graph.compile_seconds != 0) text += ", \"compile_seconds\": " + json_number(graph.compile_seconds);
    if (graph.compilations != 1) text += ", \"compilations\": " + std::to_string(graph.compilations);
    if (graph.runs != 1) text += ", \"runs\": " + std::to_string(graph.runs);
    if (!graph.variant_of.empty())
        text += ", \"variant_of\": " + json_text(graph.variant_of) + ", \"difference\": " + json_text(graph.difference);
    if (graph.checked) text += ", \"checked\": true";
    if (!graph.capture_fault.empty()) text += ", \"capture_fault\": " + json_text(graph.capture_fault);
    return text + "}";
}

std::string break_text(const IndexBreak& entry) {
    std::string text = "{\"reason\": " + json_text(entry.reason);
    if (!entry.id.empty()) text += ", \"id\": " + json_text(entry.id);
    if (!entry.op.empty()) text += ", \"op\": " + json_text(entry.op);
    text += ", \"frame\": " + json_text(entry.frame) + ", \"count\": " + std::to_string(entry.count);
    return text + ", \"stack\": " + stack_to_json(entry.stack) + "}";
}

std::string record_text(const IndexRecord& record) {
    return "{\"name\": " + json_text(record.name) + ", \"file\": " + json_text(record.file.generic_string()) +
           ", \"graph\": " + json_text(record.graph) + "}";
}

std::string model_text(const IndexModel& model) {
    return "{\"name\": " + json_text(model.name) + ", \"file\": " + json_text(model.file.generic_string()) + "}";
}

std::string recompile_text(const IndexRecompile& entry) {
    std::string text = "{\"frame\": " + json_text(entry.frame) + ", \"guard\": " + json_text(entry.guard);
    if (!entry.advice.empty()) text += ", \"advice\": " + json_text(entry.advice);
    return text + ", \"count\": " + std::to_string(entry.count) + ", \"stack\": " + stack_to_json(entry.stack) + "}";
}

template <class Entry, class Text>
std::string block(const std::vector<Entry>& entries, Text&& text_of) {
    std::string text = "[";
    for (const Entry& entry : entries) text += (text.size() > 1 ? ",\n    " : "\n    ") + text_of(entry);
    return text + (entries.empty() ? "]" : "\n  ]");
}

/// Reads index.json; one function per kind of entry.
class IndexReader {
  public:
    explicit IndexReader(const Document& in) : in_(in) {}

    TraceIndex read() {
        const Json& root = in_.root();
        in_.only_members(root, {"format", "version", "model", "backend", "frames", "graphs", "breaks", "records",
                                "recompiles", "calls", "notes", "environment", "models", "files"});
        TraceIndex index;
        index.model = text(root, "model");
        index.backend = text(root, "backend");
        for (const Json& frame : in_.list(in_.member(root, "frames"))) index.frames.push_back(in_.text(frame));
        for (const Json& entry : in_.list(in_.member(root, "breaks"))) index.breaks.push_back(break_of(entry));
        for (const Json& entry : in_.list(in_.member(root, "graphs")))
            index.graphs.push_back(graph_of(entry, index.breaks.size()));
        for (const Json& entry : in_.list(in_.member(root, "records"))) index.records.push_back(record_of(entry));
        if (const Json* entries = in_.find(root, "recompiles"))
            for (const Json& entry : in_.list(*entries)) index.recompiles.push_back(recompile_of(entry));
        if (const Json* calls = in_.find(root, "calls")) {
            in_.object(*calls);
            for (const auto& [frame, number] : calls->items()) index.calls[frame] = in_.integer(number);
        }
        if (const Json* notes = in_.find(root, "notes"))
            for (const Json& note : in_.list(*notes)) index.notes.push_back(in_.text(note));
        if (const Json* environment = in_.find(root, "environment")) index.environment = in_.texts(*environment);
        if (const Json* models = in_.find(root, "models"))
            for (const Json& entry : in_.list(*models)) {
                in_.only_members(entry, {"name", "file"});
                index.models.push_back({text(entry, "name"), text(entry, "file")});
            }
        if (const Json* files = in_.find(root, "files"))
            for (const Json& entry : in_.list(*files)) index.files.push_back(file(entry));
        return index;
    }

  private:
    std::string text(const Json& object, std::string_view key) const { return in_.text(in_.member(object, key)); }

    std::int64_t count(const Json& object, std::string_view key) const {
        const Json& value = in_.member(object, key);
        const std::int64_t number = in_.integer(value);
        if (number < 0) in_.fail(value, "a count");
        return number;
    }

    fs::path file(const Json& value) const {
        const fs::path path = in_.text(value);
        const fs::path normal = path.lexically_normal();
        if (path.empty() || path.is_absolute() || normal.empty() || *normal.begin() == "..")
            in_.fail(value, "a relative path in the folder of the trace");
        return path;
    }

    IndexGraph graph_of(const Json& value, std::size_t breaks) const {
        in_.only_members(value, {"name", "file", "frame", "ended_by", "ops", "inputs", "outputs", "updates", "guards",
                                 "symbols", "input_sizes", "output_sizes", "compile_seconds", "compilations", "runs",
                                 "variant_of", "difference", "checked", "capture_fault"});
        IndexGraph graph;
        graph.name = text(value, "name");
        if (const Json* path = in_.find(value, "file")) graph.file = file(*path);
        graph.frame = text(value, "frame");
        const Json& end = in_.member(value, "ended_by");
        if (end.is_object()) {
            const Json& position = in_.member(end, "break");
            const std::int64_t number = in_.integer(position);
            if (number < 0 || static_cast<std::size_t>(number) >= breaks)
                in_.fail(position, "a position in the list of " + std::to_string(breaks) + " breaks");
            graph.ended_by_break = static_cast<std::size_t>(number);
        } else if (end != "return") {
            in_.fail(end, R"("return" or {"break": N})");
        }
        graph.ops = count(value, "ops");
        graph.inputs = count(value, "inputs");
        graph.outputs = count(value, "outputs");
        if (const Json* updates = in_.find(value, "updates"))
            for (const Json& update : in_.list(*updates)) graph.updates.push_back(in_.text(update));
        if (const Json* guards = in_.find(value, "guards"))
            for (const Json& guard : in_.list(*guards))
                graph.guards.push_back(guard.is_string() ? IndexGuard(in_.text(guard)) : read_guard(in_, guard));
        if (const Json* symbols = in_.find(value, "symbols")) {
            for (const Json& symbol : in_.list(*symbols)) {
                in_.only_members(symbol, {"name", "place", "values"});
                graph.symbols.push_back(
                    {text(symbol, "name"), text(symbol, "place"), in_.integers(in_.member(symbol, "values"))});
            }
            for (const Json& sizes : in_.list(in_.member(value, "input_sizes")))
                graph.input_sizes.push_back(in_.text(sizes));
            for (const Json& sizes : in_.list(in_.member(value, "output_sizes")))
                graph.output_sizes.push_back(in_.text(sizes));
        }
        if (const Json* seconds = in_.find(value, "compile_seconds")) graph.compile_seconds = in_.number(*seconds);
        if (in_.find(value, "compilations")) graph.compilations = count(value, "compilations");
        if (in_.find(value, "runs")) graph.runs = count(value, "runs");
        if (const Json* other = in_.find(value, "variant_of")) {
            graph.variant_of = in_.text(*other);
            graph.difference = text(value, "difference");
        }
        if (const Json* checked = in_.find(value, "checked")) graph.checked = in_.boolean(*checked);
        if (const Json* fault = in_.find(value, "capture_fault")) graph.capture_fault = in_.text(*fault);
        return graph;
    }

    IndexBreak break_of(const Json& value) const {
        in_.only_members(value, {"reason", "id", "op", "frame", "count", "stack"});
        IndexBreak entry;
        entry.reason = text(value, "reason");
        if (const Json* id = in_.find(value, "id")) entry.id = in_.text(*id);
        if (const Json* op = in_.find(value, "op")) entry.op = in_.text(*op);
        entry.frame = text(value, "frame");
        entry.count = count(value, "count");
        entry.stack = read_stack(in_, in_.member(value, "stack"));
        return entry;
    }

    IndexRecompile recompile_of(const Json& value) const {
        in_.only_members(value, {"frame", "guard", "advice", "count", "stack"});
        IndexRecompile entry{.frame = text(value, "frame"), .guard = text(value, "guard")};
        if (const Json* advice = in_.find(value, "advice")) entry.advice = in_.text(*advice);
        entry.count = count(value, "count");
        entry.stack = read_stack(in_, in_.member(value, "stack"));
        return entry;
    }

    IndexRecord record_of(const Json& value) const {
        in_.only_members(value, {"name", "file", "graph"});
        return {text(value, "name"), file(in_.member(value, "file")), text(value, "graph")};
    }

    const Document& in_;
};

}  // namespace

CheckCounts count_checks(const TraceIndex& index) {
    CheckCounts counts{.graphs = static_cast<std::int64_t>(index.graphs.size())};
    for (const IndexGraph& graph : index.graphs) {
        counts.checked += graph.checked;
        counts.faults += !graph.capture_fault.empty();
    }
    return counts;
}

std::string checks_text(const CheckCounts& counts) {
    std::string text = std::to_string(counts.checked) + " of " + plural(counts.graphs, "graph") + " checked";
    if (counts.faults) text += ", " + plural(counts.faults, "capture fault");
    return text;
}

IndexGraph index_graph(const Graph& graph, std::string frame) {
    IndexGraph entry{.name = graph.name, .frame = std::move(frame)};
    entry.ops = op_count(graph);
    entry.inputs = static_cast<std::int64_t>(graph.placeholders().size());
    entry.outputs = static_cast<std::int64_t>(graph.outputs().size());
    return entry;
}

void save_index(const fs::path& folder, const TraceIndex& index) {
    std::string text = "{\n  \"format\": " + json_text(std::string(kTraceFormat)) + ",\n  \"version\": \"" +
                       std::to_string(kIndexFormatMajor) + "." + std::to_string(kIndexFormatMinor) + "\"";
    const auto member = [&](const char* key, const std::string& value) {
        text += ",\n  \"" + std::string(key) + "\": " + value;
    };
    member("model", json_text(index.model));
    member("backend", json_text(index.backend));
    member("frames", block(index.frames, json_text));
    member("graphs", block(index.graphs, graph_text));
    member("breaks", block(index.breaks, break_text));
    member("records", block(index.records, record_text));
    if (!index.recompiles.empty()) member("recompiles", block(index.recompiles, recompile_text));
    if (!index.calls.empty()) {
        std::string calls;
        for (const auto& [frame, number] : index.calls)
            calls += (calls.empty() ? "" : ", ") + json_text(frame) + ": " + std::to_string(number);
        member("calls", "{" + calls + "}");
    }
    if (!index.notes.empty()) member("notes", block(index.notes, json_text));
    if (!index.environment.empty()) member("environment", json_object(index.environment));
    if (!index.models.empty()) member("models", block(index.models, model_text));
    if (!index.files.empty())
        member("files", block(index.files, [](const fs::path& file) { return json_text(file.generic_string()); }));
    write_file(folder / "index.json", text + "\n}\n");
}

TraceIndex load_index(const fs::path& folder) {
    const fs::path file = folder / "index.json";
    Document document(read_file(file), file.string());
    document.require_format(kTraceFormat, kIndexFormatMajor, kIndexFormatMinor);
    return IndexReader(document).read();
}

}  // namespace whittle
