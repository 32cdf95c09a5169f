#include "trace/index.h"

#include "base/files.h"
#include "base/words.h"
#include "formats/shared_fields.h"
#include "graph/value_ref.h"
#include "trace/guard_json.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr FileFormat kIndexFormat{kTraceFormat.data(), 1, 8, "Whittle trace index, version 1",
                                  "The index.json of a folder that trace wrote. Files are relative to the folder."};

}  // namespace

template <>
struct Form<std::optional<std::size_t>, EndedBy> {
    static void write(JsonWriter& out, const std::optional<std::size_t>& position, EndedBy) {
        out.value(position ? "{\"break\": " + std::to_string(*position) + "}" : "\"return\"");
    }
    static std::optional<std::size_t> read(const JsonReader& reader, const Json& value, EndedBy) {
        if (value == "return") return std::nullopt;
        if (!value.is_object()) reader.in.fail(value, R"("return" or {"break": N})");
        return integer<std::size_t>(reader.in, reader.in.member(value, "break"));
    }
    static Json schema(SchemaMaker&, EndedBy) {
        const Json position = {{"type", "integer"}, {"minimum", 0}};
        return {{"anyOf",
                 {{{"const", "return"}},
                  {{"type", "object"},
                   {"required", Json::array({"break"})},
                   {"properties", {{"break", position}}},
                   {"additionalProperties", false}}}}};
    }
};

/// A tree, or the text of an older version.
template <>
struct Form<IndexGuard> {
    static void write(JsonWriter& out, const IndexGuard& guard, Plain) {
        guard.guard ? Form<capture::Guard>::write(out, *guard.guard, {}) : out.text(guard.told);
    }
    static IndexGuard read(const JsonReader& reader, const Json& value, Plain) {
        if (value.is_string()) return IndexGuard(reader.in.text(value));
        return Form<capture::Guard>::read(reader, value, {});
    }
    static Json schema(SchemaMaker& maker, Plain) {
        return {{"anyOf", {{{"type", "string"}}, Form<capture::Guard>::schema(maker, {})}}};
    }
};

namespace {

/// Indexes older than 1.6 have a recompile's guard as one text.
void cut_guard(IndexRecompile& recompile) {
    const std::size_t now = recompile.guard.rfind(", now ");
    recompile.condition = recompile.guard.substr(0, now);
    if (now != std::string::npos) recompile.found = recompile.guard.substr(now + 6);
}

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
    write_file(folder / "index.json", file_text(kIndexFormat, index));
}

TraceIndex load_index(const fs::path& folder) {
    const fs::path file = folder / "index.json";
    Document document(read_file(file), file.string());
    TraceIndex index;
    read_file_members(document, kIndexFormat, nullptr, index);
    for (std::size_t i = 0; i < index.graphs.size(); ++i)
        if (const auto& position = index.graphs[i].ended_by_break; position && *position >= index.breaks.size())
            document.fail(document.root()["graphs"][i]["ended_by"]["break"],
                          "a position in the list of " + std::to_string(index.breaks.size()) + " breaks");
    for (IndexRecompile& recompile : index.recompiles)
        if (recompile.condition.empty()) cut_guard(recompile);
    return index;
}

nlohmann::ordered_json index_schema() { return file_schema<TraceIndex>(kIndexFormat); }

}  // namespace whittle
