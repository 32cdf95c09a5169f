#include "passes/cse.h"

#include <unordered_map>

#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/draws.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

/// A call's results are a function of its operands and arguments alone.
bool is_function(const Node& node) {
    if (node.kind == NodeKind::get_attr) return true;
    if (node.kind != NodeKind::call) return false;
    if (is_getitem(node)) return true;
    const RegisteredOp* op = Registry::instance().op(node.target);
    if (!op || op->def->random) return false;
    for (const Param& param : op->schema.params)
        if (param.mutates || param.type == ParamType::graph) return false;
    return true;
}

/// Equal for nodes that compute the same, in the new graph's names.
std::string key_of(Node node, const Graph& graph) {
    node.name.clear();
    node.module_path.clear();
    return print(graph, node);
}

}  // namespace

Graph cse(const Graph& graph, const CseOptions& options, Origins* origins) {
    Rewriter rewriter(graph);
    std::unordered_map<std::string, NodeRef> seen;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        if (!is_function(node)) {
            rewriter.copy(id);
            continue;
        }
        const Node mapped = map_inputs(node, [&](NodeRef ref) { return Arg(rewriter.mapped(ref)); });
        std::string key = key_of(mapped, rewriter.graph());
        if (options.after) options.after({.pass = PassId::cse, .call = &mapped, .made = &key});
        const auto found = seen.find(key);
        if (found == seen.end())
            seen.emplace(key, rewriter.copy(id));
        else if (draws_random_numbers(graph, node))  // somewhere in what it consists of
            rewriter.copy(id);
        else if (!options.allow || node.kind == NodeKind::get_attr || is_getitem(node) || options.allow())
            rewriter.replace(id, found->second);
        else
            rewriter.copy(id);
    }
    Graph result = rewriter.finish();
    if (origins) *origins = rewriter.origins();
    return logged("cse", graph, std::move(result));
}

}  // namespace whittle
