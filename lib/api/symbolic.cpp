#include "api/symbolic.h"

#include "graph/text.h"
#include "passes/symbolic_sizes.h"

namespace whittle::api {

namespace {

/// Lists of sizes with the symbols that they may stand for.
void name_sizes(Arg& arg, const SymbolicGraph& symbolic) {
    auto* list = std::get_if<ArgList>(&arg.value);
    if (!list) return;
    for (Arg& element : *list)
        for (std::size_t i = 0; i < symbolic.values.size(); ++i)
            if (element == Arg(symbolic.values[i])) {
                element = Arg(symbolic.symbols[i].name);
                break;
            }
}

/// The graph with every value of one shape.
std::string without_sizes(Graph graph, const SymbolicGraph& symbolic) {
    graph.name = "g";
    for (Node& node : graph.nodes) {
        for (ValueMeta& meta : node.results) meta = ValueMeta::contiguous(meta.dtype, {});
        for (Arg& arg : node.args) name_sizes(arg, symbolic);
        for (auto& [key, arg] : node.kwargs) name_sizes(arg, symbolic);
    }
    return print(graph);
}

}  // namespace

SymbolicGraph symbolic_graph(const Graph& graph, const std::vector<capture::SizeSymbol>& symbols) {
    SymbolicGraph result;
    std::vector<SizeSymbol> dims;
    const std::vector<NodeId> placeholders = graph.placeholders();
    for (const capture::SizeSymbol& symbol : symbols)
        for (const NodeId id : placeholders) {
            const Node& input = graph.node({id});
            if (input.target != symbol.source.text() || symbol.dim >= input.meta().sizes.size()) continue;
            result.symbols.push_back(symbol);
            result.values.push_back(input.meta().sizes[symbol.dim]);
            dims.push_back({symbol.name, id, symbol.dim});
        }
    if (dims.empty()) return result;
    result.shape = without_sizes(graph, result);
    const SymbolicSizes found = symbolic_sizes(graph, dims);
    for (const SizeRelation& relation : found.relations) {
        using Kind = capture::SizeCondition::Kind;
        capture::SizeCondition condition{.kind = relation.right ? Kind::equal : Kind::multiple,
                                         .left = result.symbols[relation.left],
                                         .factor = relation.factor};
        if (relation.right) condition.right = result.symbols[*relation.right];
        result.conditions.push_back(std::move(condition));
    }
    const auto text_of = [&](NodeId id) {
        std::string text = "[";
        for (const std::string& dim : found.sizes.at(static_cast<std::size_t>(id)))
            text += (text.size() > 1 ? ", " : "") + dim;
        return text + "]";
    };
    for (const NodeId id : placeholders) result.inputs.push_back(text_of(id));
    for (const NodeId id : graph.outputs()) result.outputs.push_back(text_of(id));
    return result;
}

}  // namespace whittle::api
