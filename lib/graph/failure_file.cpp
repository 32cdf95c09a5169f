#include "graph/failure_file.h"

#include "base/error.h"
#include "graph/json.h"

namespace whittle {

std::filesystem::path failure_path(const std::filesystem::path& model) { return model.string() + ".failure.json"; }

void save_failure(const Graph& graph, const std::filesystem::path& model) {
    WHITTLE_CHECK(graph.failure.has_value(), "no failure to save");
    Graph interface;  // the failure's inputs mean nothing without the placeholders they belong to
    interface.name = graph.name;
    interface.failure = graph.failure;
    for (NodeId id : graph.placeholders()) interface.add(graph.nodes[static_cast<std::size_t>(id)]);
    interface.output({});
    save_graph(interface, failure_path(model));
}

std::optional<Failure> load_failure(const Graph& graph, const std::filesystem::path& model) {
    const std::filesystem::path file = failure_path(model);
    if (!std::filesystem::exists(file)) return std::nullopt;
    const Graph interface = load_graph(file);
    if (!interface.failure) throw Error({file.string(), "/failure"}, "found no failure, expected one");
    const std::vector<NodeId> placeholders = graph.placeholders();
    const std::vector<Tensor>& inputs = interface.failure->inputs;
    bool fits = inputs.size() == placeholders.size();
    for (std::size_t i = 0; fits && i < inputs.size(); i++) {
        const ValueMeta& meta = graph.nodes[static_cast<std::size_t>(placeholders[i])].meta();
        fits = meta.dtype == inputs[i].dtype() && meta.sizes == inputs[i].sizes();
    }
    if (!fits)
        throw Error({file.string(), "/failure/inputs"},
                    "found inputs that do not fit the model, expected one per input of " + model.string(),
                    "remove the file if the model was replaced");
    return interface.failure;
}

}  // namespace whittle
