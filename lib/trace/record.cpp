#include "trace/record.h"

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "graph/accuracy_json.h"
#include "graph/document.h"
#include "graph/json.h"
#include "graph/json_text.h"
#include "graph/sidecar.h"
#include "graph/tensor_json.h"
#include "graph/text.h"
#include "trace/names.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using Json = Document::Json;

constexpr std::string_view kFormat = "whittle.record";

std::string tensor_list(const std::vector<Tensor>& tensors, TensorWriter& writer) {
    std::string text = "[";
    for (const Tensor& tensor : tensors) text += (text.size() > 1 ? ",\n    " : "\n    ") + writer.json(tensor);
    return text + (tensors.empty() ? "]" : "\n  ]");
}

/// The lists of tensors as text, and the file around them.
struct RecordText {
    const Record& record;
    const fs::path& graph;
    TensorWriter tensors{true};
    const std::string inputs = tensor_list(record.inputs, tensors), expected = tensor_list(record.expected, tensors);

    std::string text(const std::string& sidecar) const {
        std::string text = "{\n  \"format\": " + json_text(std::string(kFormat)) + ",\n  \"version\": \"" +
                           std::to_string(kRecordFormatMajor) + "." + std::to_string(kRecordFormatMinor) + "\"";
        const auto member = [&](const char* key, const std::string& value) {
            text += ",\n  \"" + std::string(key) + "\": " + value;
        };
        if (!tensors.sidecar().empty()) member("tensors", json_text(sidecar));
        member("name", json_text(record.name));
        member("frame", json_text(record.frame));
        member("backend", json_text(record.backend));
        if (!record.backend_options.empty()) member("backend_options", json_object(record.backend_options));
        member("graph", "{\"file\": " + json_text("../graphs/" + graph.filename().string()) + ", \"hash\": \"" +
                            content_hash(read_file(graph)) + "\"}");
        member("inputs", inputs);
        member("expected", expected);
        member("expected_from", json_text(record.expected_from));
        if (const std::string accuracy = accuracy_json(record.accuracy); !accuracy.empty())
            member("accuracy", accuracy);
        if (!record.capture_fault.empty()) member("capture_fault", json_text(record.capture_fault));
        if (!record.environment.empty()) member("environment", json_object(record.environment));
        return text + "\n}\n";
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

std::vector<Tensor> read_tensors(const Document& in, TensorReader& tensors, const Json& list, std::size_t count,
                                 const char* what) {
    if (in.list(list).size() != count)
        in.fail(list, std::to_string(count) + " tensors: one per " + what + " of the graph");
    std::vector<Tensor> result;
    for (const Json& value : list) result.push_back(tensors.read(value));
    return result;
}

/// Expected outputs may differ from what the graph says, and replay then says how; inputs that do not fit cannot run.
void check_inputs(const Document& in, const Json& list, const Record& record, const Graph& graph) {
    const std::vector<NodeId> placeholders = graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
        const Node& node = graph.node({placeholders[i]});
        const Tensor& input = record.inputs[i];
        if (input.dtype() != node.meta().dtype || input.sizes() != node.meta().sizes)
            in.fail_found(list[i], print(ValueMeta::of(input)), print(node.meta()) + " of %" + node.name);
    }
}

}  // namespace

fs::path save_captured_graph(const fs::path& folder, const Graph& graph) {
    for (int i = 0;; ++i) {
        const std::string name = file_name(graph.name) + (i ? '_' + std::to_string(i) : "") + ".json";
        const fs::path path = folder / "graphs" / name;
        if (is_saved(graph, path)) return path;
        if (fs::exists(path)) continue;
        save_graph(graph, path);
        return path;
    }
}

fs::path save_record(const fs::path& folder, const Graph& graph, const Record& record) {
    WHITTLE_CHECK(record.inputs.size() == graph.placeholders().size(), "a record needs one input per placeholder");
    WHITTLE_CHECK(record.expected.size() == graph.outputs().size(), "a record needs one tensor per output");
    const fs::path graph_path = save_captured_graph(folder, graph);
    const fs::path path = folder / "records" / (file_name(record.name.empty() ? graph.name : record.name) + ".json");
    const RecordText text{record, graph_path};
    save_with_tensors(path, text.tensors.sidecar(), [&](const std::string& sidecar) { return text.text(sidecar); });
    return path;
}

LoadedRecord load_record(const fs::path& file) {
    Document in(read_file(file), file.string());
    in.require_format(kFormat, kRecordFormatMajor, kRecordFormatMinor);
    const Json& root = in.root();
    in.only_members(root, {"format", "version", "tensors", "name", "frame", "backend", "backend_options", "graph",
                           "inputs", "expected", "expected_from", "accuracy", "capture_fault", "environment"});
    LoadedRecord loaded;
    loaded.file = file;
    Record& record = loaded.record;
    record.name = in.text(in.member(root, "name"));
    record.frame = in.text(in.member(root, "frame"));
    record.backend = in.text(in.member(root, "backend"));
    if (const Json* options = in.find(root, "backend_options")) record.backend_options = in.texts(*options);
    record.expected_from = in.text(in.member(root, "expected_from"));
    const Json& graph = in.member(root, "graph");
    in.only_members(graph, {"file", "hash"});
    const fs::path graph_path = graph_file(in, in.member(graph, "file"));
    const Json& recorded = in.member(graph, "hash");
    if (const std::string hash = content_hash(read_file(graph_path)); in.text(recorded) != hash)
        in.fail_found(recorded, "a graph with the hash " + hash, in.text(recorded),
                      graph_path.string() + " was changed after it was recorded");
    loaded.graph = load_graph(graph_path);
    TensorReader tensors(in);
    const Json& inputs = in.member(root, "inputs");
    record.inputs = read_tensors(in, tensors, inputs, loaded.graph.placeholders().size(), "placeholder");
    check_inputs(in, inputs, record, loaded.graph);
    record.expected = read_tensors(in, tensors, in.member(root, "expected"), loaded.graph.outputs().size(), "output");
    if (const Json* accuracy = in.find(root, "accuracy")) record.accuracy = read_accuracy(in, *accuracy);
    if (const Json* fault = in.find(root, "capture_fault")) record.capture_fault = in.text(*fault);
    if (const Json* environment = in.find(root, "environment")) record.environment = in.texts(*environment);
    return loaded;
}

bool is_record(const fs::path& file) { return format_of_json(file) == kFormat; }

}  // namespace whittle
