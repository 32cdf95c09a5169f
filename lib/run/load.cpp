#include "run/load.h"

#include "base/error.h"
#include "graph/json.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "graph/verify.h"
#include "ops/core/known.h"
#include "ops/core/registry.h"
#include "passes/functionalize.h"

namespace whittle {

namespace {

bool has_list_result(const Schema& schema) {
    for (const Return& result : schema.returns)
        if (result.list) return true;
    return false;
}

void check_results(const Node& call, const Schema& schema, const std::vector<ValueMeta>& expected) {
    const std::size_t found = call.results.size();
    // Trailing results that nobody asked for may be left out, as ONNX does with optional outputs.
    if (found > expected.size() || found == 0 || (has_list_result(schema) && found != expected.size()))
        throw Error("found " + std::to_string(found) + " results, expected " + std::to_string(expected.size()));
    for (std::size_t i = 0; i < found; ++i) {
        const ValueMeta &stated = call.results[i], &inferred = expected[i];
        if (stated.dtype == inferred.dtype && stated.sizes == inferred.sizes) continue;
        throw Error("found a result of " + print(stated) + (found > 1 ? " (number " + std::to_string(i) + ")" : "") +
                    ", expected " + print(inferred) + " as its operands give");
    }
}

void check_call(const Graph& graph, const Node& call, UnknownOps unknown) {
    const Registry& registry = Registry::instance();
    if (const Schema* schema = registry.find(call.target)) {
        try {
            return check_results(call, *schema, infer(graph, call));
        } catch (const NeedsConstant&) {  // only a run can tell
            return;
        }
    }
    if (unknown == UnknownOps::keep) return;
    registry.require(call.target);  // throws, with close spellings
}

/// A graph in a file is a function of its inputs.
void check_writes(const Graph& graph, const std::filesystem::path& file) {
    if (!has_writes(graph)) return;
    const std::vector<MemoryUpdate> updates = functionalize(graph).updates;
    if (!updates.empty())
        throw Error({file.string(), {}},
                    "found a write into %" + updates.front().input +
                        ", which the graph is given, expected writes into values that it has computed",
                    "clone it first; trace writes graphs that only compute");
}

}  // namespace

void check_calls(const Graph& graph, const std::filesystem::path& file, UnknownOps unknown) {
    for (const Node& node : graph.nodes) {
        if (!is_op_call(node)) continue;  // verify() knows all about getitem
        try {
            check_call(graph, node, unknown);
        } catch (const Error& error) {
            std::string message = error.message();
            if (message.starts_with(node.target + ": ")) message.erase(0, node.target.size() + 2);  // the place has it
            throw Error({file.string(), place_of(graph, node)}, message, error.hint());
        }
    }
    for (const auto& [key, nested] : graph.subgraphs) check_calls(*nested, file, unknown);
    check_writes(graph, file);
}

Graph load_checked_graph(const std::filesystem::path& file, UnknownOps unknown) {
    Graph graph = load_graph(file);
    check_calls(graph, file, unknown);
    return graph;
}

LoadedRecord load_checked_record(const std::filesystem::path& file, UnknownOps unknown) {
    LoadedRecord loaded = load_record(file);
    check_calls(loaded.graph, file, unknown);
    return loaded;
}

}  // namespace whittle
