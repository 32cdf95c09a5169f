#include "trace/record.h"

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "formats/json.h"
#include "formats/shared_fields.h"
#include "formats/tensor_json.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "trace/names.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr FileFormat kRecordFormat{
    "whittle.record",
    1,
    2,
    "Whittle record, version 1",
    "A captured frame with its inputs and expected outputs. Data only, never code. Every "
    "tensor carries its content hash (XXH3-128 of dtype, sizes and element bytes).",
    true};

struct GraphFile {
    std::string file = {}, hash = {};

    static void fields(auto& field) {
        field("file", &GraphFile::file, "The file, relative to the record's folder.");
        field("hash", &GraphFile::hash, "The XXH3-128 of the graph file's bytes.", Matching{"^[0-9a-f]{32}$"});
    }
};

struct RecordFile : Record {
    [[maybe_unused]] static constexpr bool kLines = true;
    GraphFile graph = {};

    static void fields(auto& field) {
        field("name", &RecordFile::name, "");
        field("frame", &RecordFile::frame, "");
        field("backend", &RecordFile::backend, "The backend with which the record was made; the default of replay.");
        field.maybe("backend_options", &RecordFile::backend_options,
                    "The options of that backend; the default of replay. Since 1.1.");
        field("graph", &RecordFile::graph, "");
        field("inputs", &RecordFile::inputs, "The inputs, one per placeholder.");
        field("expected", &RecordFile::expected,
              "The expected values, one per output; none if the graph calls ops that the reference lacks.");
        field("expected_from", &RecordFile::expected_from,
              "The source of the expected values: a backend, or the file that holds them; empty without values.");
        field.maybe("accuracy", &RecordFile::accuracy, "How results are compared, if not in the default way.");
        field.maybe("capture_fault", &RecordFile::capture_fault,
                    "How the graph's results differ from the observed results: capture went wrong, and the record is "
                    "unusable. Since 1.2.");
        field.maybe("environment", &RecordFile::environment, "");
    }
};

/// "../graphs/NAME.json": a file of the same trace folder, wherever the folder is.
fs::path graph_file(const Document& in, const Json& value) {
    const fs::path path = in.text(value);
    const fs::path normal = path.lexically_normal();
    auto step = normal.begin();
    if (step != normal.end() && *step == "..") ++step;
    const bool inside = !path.empty() && !path.is_absolute() && step != normal.end() && *step != "..";
    if (!inside) in.fail(value, "a relative path in the folder of the trace");
    return fs::path(in.file()).parent_path() / normal;
}

void check_count(const Document& in, const Json& list, std::size_t count, const char* what) {
    if (list.size() != count) in.fail(list, std::to_string(count) + " tensors: one per " + what + " of the graph");
}

/// Expected outputs may differ from what the graph says, and replay then says how; inputs that do not fit cannot run.
void check_inputs(const Document& in, const Json& list, const Record& record, const Graph& graph) {
    const std::vector<NodeId> placeholders = graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
        const Node& node = graph.node({placeholders[i]});
        const Tensor& input = record.inputs[i];
        const bool bytes = is_opaque(node.meta());
        const bool fits = bytes ? input.dtype() == DType::u8 && input.rank() == 1
                                : input.dtype() == node.meta().dtype && input.sizes() == node.meta().sizes;
        if (!fits)
            in.fail_found(list[i], print(ValueMeta::of(input)),
                          (bytes ? "bytes (u8) of the " : "") + print(node.meta()) + " of %" + node.name);
    }
}

}  // namespace

fs::path save_captured_graph(const fs::path& folder, const Graph& graph) {
    for (int i = 0;; ++i) {
        const std::string name = file_name(graph.name) + (i ? '_' + std::to_string(i) : "") + ".json";
        const fs::path path = folder / "graphs" / name;
        if (is_saved(graph, path)) return path;
        if (fs::exists(path)) continue;
        save_graph_sharing(graph, path);
        return path;
    }
}

fs::path save_record(const fs::path& folder, const Graph& graph, const Record& record) {
    WHITTLE_CHECK(record.inputs.size() == graph.placeholders().size(), "a record needs one input per placeholder");
    WHITTLE_CHECK(record.expected.empty() || record.expected.size() == graph.outputs().size(),
                  "a record needs one tensor per output, or none");
    const fs::path graph_path = save_captured_graph(folder, graph);
    const fs::path path = folder / "records" / (file_name(record.name.empty() ? graph.name : record.name) + ".json");
    RecordFile file{record};
    file.graph = {"../graphs/" + graph_path.filename().string(), content_hash(read_file(graph_path))};
    save_members(path, kRecordFormat, file, TensorWriter(true));
    return path;
}

LoadedRecord load_record(const fs::path& path) {
    Document in(read_file(path), path.string());
    TensorReader tensors(in);
    RecordFile file;
    read_file_members(in, kRecordFormat, &tensors, file);
    const Json &root = in.root(), &graph = root["graph"];
    const fs::path graph_path = graph_file(in, graph["file"]);
    if (const std::string hash = content_hash(read_file(graph_path)); file.graph.hash != hash)
        in.fail_found(graph["hash"], "a graph with the hash " + hash, file.graph.hash,
                      graph_path.string() + " was changed after it was recorded");
    LoadedRecord loaded{.record = std::move(file), .graph = load_graph(graph_path), .file = path};
    check_count(in, root["inputs"], loaded.graph.placeholders().size(), "placeholder");
    check_inputs(in, root["inputs"], loaded.record, loaded.graph);
    if (!loaded.record.expected.empty()) check_count(in, root["expected"], loaded.graph.outputs().size(), "output");
    return loaded;
}

nlohmann::ordered_json record_schema() {
    Json schema = file_schema<RecordFile>(kRecordFormat);
    schema["$defs"]["tensor"]["required"].push_back("hash");
    return schema;
}

bool is_record(const fs::path& file) { return format_of_json(file) == kRecordFormat.name; }

}  // namespace whittle
