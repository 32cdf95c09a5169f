#include "trace/load.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.h"
#include "formats/json.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "graph/verify.h"
#include "ops/aten/hidden_writes.h"
#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "ops/core/known.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "passes/functionalize.h"
#include "passes/no_grad.h"

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
        throw Error("found " + print(stated) + " as " + (found > 1 ? "result " + std::to_string(i) : "the result") +
                    ", expected " + print(inferred) + ", as the operands imply");
    }
}

void check_call(const Graph& graph, const Node& call, Checks checks) {
    if (touches_misplaced(graph, call)) return;
    const Schema* schema = Registry::instance().find(call.target);
    if (!schema) return;
    if (!checks.results) return static_cast<void>(bind_arguments(*schema, call));
    try {
        check_results(call, *schema, infer(graph, call));
    } catch (const NeedsConstant&) {  // only a run can tell
    }
}

void add_graphs(const Arg& arg, std::set<std::string>& names) {
    if (const auto* graph = std::get_if<GraphRef>(&arg.value)) names.insert(graph->name);
    if (const ArgList* list = arg.list())
        for (const Arg& element : *list) add_graphs(element, names);
}

/// The nested graphs of opaque calls.
std::set<std::string> believed_graphs(const Graph& graph) {
    std::set<std::string> names;
    for (const Node& node : graph.nodes) {
        if (!is_op_call(node) || Registry::instance().find(node.target)) continue;
        for (const Arg& arg : node.args) add_graphs(arg, names);
        for (const auto& [key, arg] : node.kwargs) add_graphs(arg, names);
    }
    return names;
}

/// A graph in a file is a function of its inputs: what it writes of what it is given becomes further outputs.
Graph as_function(Graph graph, std::vector<std::string>* updates) {
    const bool hidden = std::ranges::any_of(graph.nodes, hides_writes);
    if (!hidden && !has_writes(graph)) return graph;
    Functionalized functional = functionalize(end_gradients(graph));
    if (!hidden && functional.updates.empty()) return graph;  // it writes into what it has computed
    if (updates)
        for (const MemoryUpdate& update : functional.updates)
            updates->push_back(functional.graph.find(update.input)->target);
    return with_gradients_told(std::move(functional.graph));
}

/// What the reference gives beyond the outputs that a record expects.
void expect_updates(LoadedRecord& loaded) {
    if (loaded.record.expected.empty() || loaded.record.expected.size() == loaded.graph.outputs().size()) return;
    seed_random_ops(0);
    std::vector<Tensor> values = evaluate(loaded.graph, loaded.record.inputs);
    std::move(values.begin() + static_cast<std::ptrdiff_t>(loaded.record.expected.size()), values.end(),
              std::back_inserter(loaded.record.expected));
}

}  // namespace

void check_calls(const Graph& graph, const std::filesystem::path& file, Checks checks) {
    Graph visible;
    try {
        visible = with_visible_writes(graph);
    } catch (Error& error) {
        error.locate({file.string(), error.where().position});
        throw;
    }
    for (const Node& node : visible.nodes) {
        if (!is_op_call(node)) continue;  // verify() knows all about getitem
        try {
            check_call(visible, node, checks);
        } catch (const Error& error) {
            std::string message = error.message();
            if (message.starts_with(node.target + ": ")) message.erase(0, node.target.size() + 2);  // the place has it
            throw Error({file.string(), place_of(visible, node)}, message, error.hint());
        }
    }
    const std::set<std::string> believed = believed_graphs(graph);
    for (const auto& [key, nested] : graph.subgraphs)
        if (!believed.contains(key)) check_calls(*nested, file, checks);
}

Graph checked_graph(Graph graph, const std::filesystem::path& file, Checks checks, std::vector<std::string>* updates) {
    if (graph.failure && graph.failure->backend == kInfersAnew) checks.results = false;
    check_calls(graph, file, checks);
    try {
        return as_function(std::move(graph), updates);
    } catch (Error& error) {
        error.locate({file.string(), error.where().position});
        throw;
    }
}

Graph load_checked_graph(const std::filesystem::path& file, Checks checks) {
    return checked_graph(load_graph(file), file, checks);
}

LoadedRecord load_checked_record(const std::filesystem::path& file, Checks checks) {
    LoadedRecord loaded = load_record(file);
    loaded.graph = checked_graph(std::move(loaded.graph), file, checks);
    expect_updates(loaded);
    return loaded;
}

}  // namespace whittle
