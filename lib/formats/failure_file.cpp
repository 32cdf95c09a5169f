#include "formats/failure_file.h"

#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "formats/json.h"
#include "formats/sidecar.h"

namespace whittle {

std::filesystem::path failure_path(const std::filesystem::path& model) { return model.string() + ".failure.json"; }

namespace {

namespace fs = std::filesystem;

/// Where a failure waits for its model.
std::vector<fs::path> waiting(const fs::path& model) {
    const std::string prefix = model.filename().string() + ".failure.";
    std::vector<fs::path> files;
    std::error_code ignored;
    const fs::path folder = model.has_parent_path() ? model.parent_path() : ".";
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(prefix) && name.size() == prefix.size() + 37 && name.ends_with(".json"))  // 32 digits
            files.push_back(entry.path());
    }
    return files;
}

fs::path waiting_for(const fs::path& model, std::string_view contents) {
    return model.string() + ".failure." + content_hash(contents) + ".json";
}

}  // namespace

void save_failing_model(const Graph& graph, const fs::path& model, std::string_view contents) {
    WHITTLE_CHECK(graph.failure.has_value(), "no failure to save");
    Graph interface;  // the failure's inputs mean nothing without the placeholders they belong to
    interface.name = graph.name;
    interface.failure = graph.failure;
    for (NodeId id : graph.placeholders()) interface.add(graph.node({id}));
    interface.output({});
    save_graph(interface, waiting_for(model, contents));
    write_file(model, contents);
    save_graph(interface, failure_path(model));
    for (const fs::path& file : waiting(model)) {
        std::error_code ignored;
        if (const fs::path tensors = sidecar_named_in(file); !tensors.empty()) fs::remove(tensors, ignored);
        fs::remove(file, ignored);
    }
}

std::optional<Failure> load_failure(const Graph& graph, const std::filesystem::path& model) {
    fs::path file = failure_path(model);
    if (!waiting(model).empty())  // its writer was killed
        if (const fs::path own = waiting_for(model, read_file(model)); fs::exists(own)) file = own;
    if (!fs::exists(file)) return std::nullopt;
    const Graph interface = load_graph(file);
    if (!interface.failure)
        throw Error({file.string(), "/failure"}, "found no member 'failure', expected the description of a failure");
    const std::vector<NodeId> placeholders = graph.placeholders();
    const std::vector<Tensor>& inputs = interface.failure->inputs;
    bool fits = inputs.size() == placeholders.size();
    for (std::size_t i = 0; fits && i < inputs.size(); i++) {
        const ValueMeta& meta = graph.node({placeholders[i]}).meta();
        fits = meta.dtype == inputs[i].dtype() && meta.sizes == inputs[i].sizes();
    }
    if (!fits)
        throw Error({file.string(), "/failure/inputs"},
                    "found inputs that do not match the model, expected one value of the same type for each input of " +
                        model.string(),
                    "remove the file if the model was replaced");
    return interface.failure;
}

}  // namespace whittle
