#include "api/symbolic.h"

#include <bit>
#include <cmath>

#include "graph/text.h"
#include "passes/symbolic_sizes.h"

namespace whittle::api {
namespace {

/// Takes the numbers out of an argument.
void take_numbers(Arg& arg, SymbolicGraph& graph) {
    if (auto* list = std::get_if<ArgList>(&arg.value)) {
        for (Arg& element : *list) take_numbers(element, graph);
    } else if (const auto* number = std::get_if<std::int64_t>(&arg.value)) {
        graph.numbers.push_back(*number);
        arg = Arg();
    } else if (const auto* real = std::get_if<double>(&arg.value)) {
        graph.reals.push_back(*real);
        arg = Arg();
    }
}

/// The graph with every value of one shape and no numbers, which are added to those of `symbolic`.
Graph without_sizes(Graph graph, SymbolicGraph& symbolic) {
    graph.name = "g";
    for (Node& node : graph.nodes) {
        for (ValueMeta& meta : node.results) meta = ValueMeta::contiguous(meta.dtype, {});
        for (Arg& arg : node.args) take_numbers(arg, symbolic);
        for (auto& [key, arg] : node.kwargs) take_numbers(arg, symbolic);
    }
    for (auto& [name, nested] : graph.subgraphs)
        nested = std::make_shared<const Graph>(without_sizes(*nested, symbolic));
    return graph;
}

/// True when x follows from the size a as y does from the size b.
bool alike(std::int64_t x, std::int64_t a, std::int64_t y, std::int64_t b) {
    if (x == y) return true;
    if (x < 2 && y < 2) return false;  // more often dimensions
    const bool multiples = a != 0 && b != 0 && x % a == 0 && y % b == 0 && x / a == y / b;
    // Unsigned: a bound such as INT64_MAX must not overflow.
    return multiples || std::uint64_t(x) - std::uint64_t(y) == std::uint64_t(a) - std::uint64_t(b);
}

bool alike(double x, std::int64_t a, double y, std::int64_t b) {
    const auto same = [](double p, double q) { return std::abs(p - q) <= 1e-12 * std::abs(p); };
    const double s = static_cast<double>(a), t = static_cast<double>(b);
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) || same(x * t, y * s) ||
           same(x * s, y * t) || same(x - s, y - t);
}

/// Bounds beyond those that every symbol has.
void add_ranges(const Graph& graph, const SymbolicSizes& found, const std::function<bool(std::size_t)>& is_data,
                SymbolicGraph& result) {
    using Kind = capture::SizeCondition::Kind;
    for (const SymbolicSizes::Range& range : found.ranges) {
        if (is_data(range.symbol)) continue;
        const auto ask = [&](Kind kind, std::int64_t bound, const SymbolicSizes::Refusal& by) {
            const std::string node = by.node < 0 ? "" : graph.node({by.node}).name;
            result.conditions.push_back(
                {{.kind = kind, .left = result.symbols[range.symbol], .factor = bound}, node, true});
        };
        if (range.least) ask(Kind::above, *range.least - 1, range.below);
        if (range.most) ask(Kind::at_most, *range.most, range.beyond);
    }
}

}  // namespace

bool same_but_for_sizes(const SymbolicGraph& a, const SymbolicGraph& b) {
    if (a.shape != b.shape || a.values.size() != b.values.size()) return false;
    const auto follow = [&](const auto& of_a, const auto& of_b) {
        if (of_a.size() != of_b.size()) return false;
        for (std::size_t i = 0; i < of_a.size(); ++i) {
            bool same = of_a[i] == of_b[i];
            for (std::size_t s = 0; s < a.values.size() && !same; ++s)
                same = alike(of_a[i], a.values[s], of_b[i], b.values[s]);
            if (!same) return false;
        }
        return true;
    };
    return follow(a.numbers, b.numbers) && follow(a.reals, b.reals);
}

SymbolicGraph symbolic_graph(const Graph& graph, const std::vector<capture::SizeSymbol>& symbols,
                             const KnownSymbolic& known) {
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
    for (const SizeSymbol& data : data_symbols(graph)) {
        const Node& node = graph.node({data.input});
        result.symbols.push_back({data.name, capture::Source::condition(node.name, 0), data.dim});
        result.values.push_back(node.meta().sizes[data.dim]);
        dims.push_back(data);
    }
    if (dims.empty()) return result;
    const auto is_data = [&](std::size_t symbol) { return graph.node({dims[symbol].input}).kind == NodeKind::call; };
    result.shape = print(without_sizes(graph, result));
    if (auto other = known ? known(result) : std::nullopt; other && other->fixed.empty()) {
        result.conditions = std::move(other->conditions);
        result.inputs = std::move(other->inputs);
        result.outputs = std::move(other->outputs);
        return result;
    }
    const SymbolicSizes found = symbolic_sizes(graph, dims);
    for (const SizeRelation& relation : found.relations) {
        // No guard can ask for it before the graph runs; each call's own graph has the sizes that it found.
        if (is_data(relation.left) || (relation.right && is_data(*relation.right))) continue;
        using Kind = capture::SizeCondition::Kind;
        capture::SizeCondition condition{.kind = relation.right ? Kind::equal : Kind::multiple,
                                         .left = result.symbols[relation.left],
                                         .factor = relation.factor};
        if (relation.right) condition.right = result.symbols[*relation.right];
        result.conditions.push_back({std::move(condition)});
    }
    add_ranges(graph, found, is_data, result);
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (!found.fixed[i] || is_data(i)) continue;
        SymbolicGraph::Fixed fixed{.symbol = result.symbols[i], .size = result.values[i]};
        if (const SymbolicSizes::Refusal& refusal = found.refusals[i]; refusal.node >= 0) {
            fixed.node = graph.node({refusal.node}).name;
            fixed.op = graph.node({refusal.node}).target;
            fixed.words = refusal.words;
        }
        result.fixed.push_back(std::move(fixed));
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
