#include "passes/symbolic_sizes.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "ops/aten/data_sizes.h"
#include "ops/core/nested.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

using SymbolValues = std::vector<std::int64_t>;

/// Infers the graph's shapes for sizes of the symbols.
class Prober {
  public:
    Prober(const Graph& graph, const std::vector<SizeSymbol>& symbols) : graph_(graph), symbols_(symbols) {
        for (const SizeSymbol& symbol : symbols)
            hints_.push_back(graph.node({symbol.input}).meta().sizes.at(symbol.dim));
    }
    const SymbolValues& hints() const { return hints_; }

    /// Sizes of each node's first result; nothing where an operation refuses.
    const std::optional<std::vector<Sizes>>& at(const SymbolValues& values) {
        const auto [found, added] = known_.try_emplace(values);
        if (!added) return found->second;
        // A size that the program read and passed on is an argument now: it moves with its symbol, and so may
        // multiples.
        for (const Moved moved : {Moved::none, Moved::equal, Moved::multiples})
            if (!found->second) found->second = inferred(values, moved);
        return found->second;
    }

    /// Arguments that move with symbols.
    enum class Moved : std::uint8_t { none, equal, multiples };

    /// The first operation that refuses these sizes, with such arguments moved.
    SymbolicSizes::Refusal refusal(const SymbolValues& values, Moved moved) const {
        Graph graph = at_sizes(values, moved);
        const NestedAtAnySize nested;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (graph.nodes[i].kind != NodeKind::call) continue;
            try {
                graph.nodes[i].results = infer(graph, graph.nodes[i]);
            } catch (const Error& error) {
                return {static_cast<NodeId>(i), error.message()};
            }
        }
        return {};
    }

  private:
    Graph at_sizes(const SymbolValues& values, Moved moved) const {
        Graph graph = graph_;
        for (std::size_t i = 0; i < symbols_.size(); ++i) {
            Node& node = graph.nodes[static_cast<std::size_t>(symbols_[i].input)];
            node.results[0].sizes.at(symbols_[i].dim) = values[i];
            for (const std::size_t result : data_sized_results(node)) node.results[result].sizes.at(0) = values[i];
        }
        for (const SizeSymbol& symbol : symbols_) restride(symbol.input, graph);
        if (moved != Moved::none) move_all(graph, values, moved);
        return graph;
    }

    void move_all(Graph& graph, const SymbolValues& values, Moved moved) const {
        for (Node& node : graph.nodes) {
            for (Arg& arg : node.args) move(arg, values, moved);
            for (auto& [key, arg] : node.kwargs) move(arg, values, moved);
        }
        for (auto& [name, nested] : graph.subgraphs) {
            Graph other = *nested;
            move_all(other, values, moved);
            nested = std::make_shared<const Graph>(std::move(other));
        }
    }

    std::optional<std::vector<Sizes>> inferred(const SymbolValues& values, Moved moved) const {
        Graph graph = at_sizes(values, moved);
        const NestedAtAnySize nested;
        try {
            infer_all(graph);
        } catch (const Error&) {
            return std::nullopt;
        }
        std::vector<Sizes> sizes;
        for (const Node& node : graph.nodes) sizes.push_back(node.results.empty() ? Sizes() : node.results[0].sizes);
        return sizes;
    }

    /// Dense, its dimensions in the order in memory that they had.
    void restride(NodeId input, Graph& graph) const {
        const Strides& before = graph_.node({input}).meta().strides;
        ValueMeta& meta = graph.nodes[static_cast<std::size_t>(input)].results[0];
        std::vector<std::size_t> order(before.size());
        for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return before[a] > before[b]; });
        std::int64_t stride = 1;
        for (std::size_t k = order.size(); k-- > 0;) {
            meta.strides[order[k]] = before[order[k]] == 0 ? 0 : stride;
            if (before[order[k]] != 0) stride *= std::max<std::int64_t>(meta.sizes[order[k]], 1);
        }
    }

    /// Lists of sizes only: a lone number is more often a dimension or a window.
    void move(Arg& arg, const SymbolValues& values, Moved moved) const {
        auto* list = std::get_if<ArgList>(&arg.value);
        if (!list) return;
        for (Arg& element : *list)
            if (auto* number = std::get_if<std::int64_t>(&element.value))
                for (std::size_t i = 0; i < values.size(); ++i) {
                    if (values[i] == hints_[i] || hints_[i] == 0) continue;
                    const bool multiple = moved == Moved::multiples && *number > 0 && *number % hints_[i] == 0;
                    if (*number != hints_[i] && !multiple) continue;
                    *number = *number / hints_[i] * values[i];
                    break;
                }
    }

    const Graph& graph_;
    const std::vector<SizeSymbol>& symbols_;
    SymbolValues hints_;
    std::map<SymbolValues, std::optional<std::vector<Sizes>>> known_;
};

/// Finds which symbols move freely, which only together, which in steps, and which not at all.
class Finder {
  public:
    Finder(Prober& prober, std::size_t count) : prober_(prober), moves_(count) {}

    SymbolicSizes run() {
        const std::size_t count = moves_.size();
        for (std::size_t i = 0; i < count; ++i) moves_[i] = {.root = i, .done = works({{i, 1}})};
        for (std::size_t i = 0; i < count; ++i)
            if (!moves_[i].done) tie(i);
        SymbolicSizes found;
        for (const Move& move : moves_) found.fixed.push_back(move.step == 0);
        found.relations = std::move(relations_);
        return found;
    }

    /// The symbols whose value others follow, with the step in which they move.
    struct Move {
        std::size_t root = 0;
        std::int64_t factor = 1;  ///< of the root's value
        std::int64_t step = 1;    ///< 0: fixed
        bool done = false;
    };
    const std::vector<Move>& moves() const { return moves_; }

    /// The hints with some roots moved by so many of their steps.
    SymbolValues moved(const std::map<std::size_t, std::int64_t>& steps) const {
        SymbolValues values = prober_.hints();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (const auto step = steps.find(moves_[i].root); step != steps.end() && moves_[i].step != 0)
                values[i] += moves_[i].factor * moves_[moves_[i].root].step * step->second;
        return values;
    }

  private:
    /// Whether the graph is possible with the symbols moved by once and twice as much.
    bool works(const std::map<std::size_t, std::int64_t>& by) {
        for (const int times : {1, 2}) {
            SymbolValues values = prober_.hints();
            for (const auto& [symbol, step] : by) values[symbol] += times * step;
            if (!prober_.at(values)) return false;
        }
        return true;
    }

    void follow(std::size_t symbol, std::size_t root, std::int64_t factor) {
        moves_[symbol] = {.root = root, .factor = factor, .done = true};
        moves_[root].done = true;
        relations_.push_back({symbol, root, factor});
    }

    bool tie_pair(std::size_t i, std::size_t k) {
        const SymbolValues& hints = prober_.hints();
        const std::size_t small = hints[i] < hints[k] ? i : k, large = small == i ? k : i;
        const auto root = hints[i] == hints[k] ? std::min(i, k) : small;
        const auto other = root == small ? large : small;
        if (hints[other] % hints[root] != 0) return false;
        const std::int64_t factor = hints[other] / hints[root];
        if (!works({{root, 1}, {other, factor}})) return false;
        follow(other, root, factor);
        return true;
    }

    void tie(std::size_t i) {
        const SymbolValues& hints = prober_.hints();
        for (std::size_t k = 0; k < moves_.size(); ++k)
            if (k != i && !moves_[k].done && tie_pair(i, k)) return;
        std::map<std::size_t, std::int64_t> equal;
        for (std::size_t k = 0; k < moves_.size(); ++k)
            if (!moves_[k].done && hints[k] == hints[i]) equal[k] = 1;
        if (equal.size() > 2 && works(equal)) {
            for (const auto& [k, step] : equal)
                if (k != i) follow(k, i, 1);
            return;
        }
        moves_[i] = {.root = i, .step = 0, .done = true};
        for (std::int64_t step = 2; step <= hints[i] && step <= 64; ++step)
            if (hints[i] % step == 0 && works({{i, step}})) {
                moves_[i].step = step;
                relations_.push_back({i, {}, step});
                return;
            }
    }

    Prober& prober_;
    std::vector<Move> moves_;
    std::vector<SizeRelation> relations_;
};

/// How far a symbol that moves freely can move.
class Bounds {
  public:
    Bounds(Prober& prober, const Finder& finder, std::size_t root) : prober_(prober), finder_(finder), root_(root) {}

    /// Nothing where there is no bound.
    std::optional<SymbolicSizes::Range> range() {
        constexpr std::int64_t kFar = 1 << 16;  // steps: bounds from above are few
        const std::int64_t hint = prober_.hints()[root_], step = finder_.moves()[root_].step;
        SymbolicSizes::Range range{.symbol = root_};
        if (const auto steps = most_steps(-1, (hint - 2) / step)) {
            range.least = hint - *steps * step;
            range.below = refusal(-*steps - 1);
        }
        if (const auto steps = most_steps(1, kFar)) {
            range.most = hint + *steps * step;
            range.beyond = refusal(*steps + 1);
        }
        return range.least || range.most ? std::optional(range) : std::nullopt;
    }

  private:
    bool works(std::int64_t steps) { return prober_.at(finder_.moved({{root_, steps}})).has_value(); }
    SymbolicSizes::Refusal refusal(std::int64_t steps) const {
        const SymbolValues values = finder_.moved({{root_, steps}});
        const SymbolicSizes::Refusal moved = prober_.refusal(values, Prober::Moved::equal);
        return moved.node >= 0 ? moved : prober_.refusal(values, Prober::Moved::none);
    }

    /// So many work in this direction, of `limit`; nothing where all do.
    std::optional<std::int64_t> most_steps(std::int64_t direction, std::int64_t limit) {
        if (limit <= 0 || works(direction * limit)) return std::nullopt;
        std::int64_t good = 0, bad = limit;
        while (bad - good > 1) {
            const std::int64_t middle = good + (bad - good) / 2;
            (works(direction * middle) ? good : bad) = middle;
        }
        return good;
    }

    Prober& prober_;
    const Finder& finder_;
    const std::size_t root_;
};

/// One dimension of one value as a formula of the symbols.
class Formula {
  public:
    Formula(Prober& prober, const Finder& finder, const std::vector<SizeSymbol>& symbols, std::size_t node,
            std::size_t dim)
        : prober_(prober), finder_(finder), symbols_(symbols), node_(node), dim_(dim) {}

    std::string text() {
        std::vector<std::size_t> roots;
        for (std::size_t i = 0; i < symbols_.size(); ++i)
            if (finder_.moves()[i].root == i && finder_.moves()[i].step != 0 && slope(i) != 0) roots.push_back(i);
        const std::int64_t here = *value({});
        if (roots.empty()) return std::to_string(here);
        std::string text;
        std::int64_t rest = here;
        std::int64_t product = 0;
        if (roots.size() == 2) product = mixed(roots[0], roots[1]);
        if (product != 0) {
            const std::int64_t a = hint(roots[0]), b = hint(roots[1]);
            rest -= product * a * b;
            add(text, product, symbols_[roots[0]].name + "*" + symbols_[roots[1]].name);
        }
        for (const std::size_t root : roots) {
            const std::int64_t step = finder_.moves()[root].step;
            std::int64_t change = slope(root);
            if (product != 0) change -= product * step * hint(root == roots[0] ? roots[1] : roots[0]);
            if (change % step != 0 || !straight(root)) return roots.size() == 1 ? divided(root) : unknown(roots);
            if (change == 0) continue;
            rest -= change / step * hint(root);
            add(text, change / step, symbols_[root].name);
        }
        if (rest != 0 || text.empty()) add(text, rest, "");
        return text;
    }

  private:
    std::int64_t hint(std::size_t symbol) const { return prober_.hints()[symbol]; }
    std::optional<std::int64_t> value(const std::map<std::size_t, std::int64_t>& steps) {
        const auto& sizes = prober_.at(finder_.moved(steps));
        if (!sizes || dim_ >= (*sizes)[node_].size()) return std::nullopt;
        return (*sizes)[node_][dim_];
    }
    std::int64_t at(const std::map<std::size_t, std::int64_t>& steps) { return value(steps).value_or(0); }

    std::int64_t slope(std::size_t root) {
        const std::int64_t once = at({{root, 1}}) - at({});
        return once != 0 ? once : at({{root, 2}}) - at({});
    }
    bool straight(std::size_t root) {
        const std::int64_t here = at({}), once = at({{root, 1}});
        for (const std::int64_t steps : {2, 3, 7})
            if (const auto found = value({{root, steps}}); found && *found != here + steps * (once - here))
                return false;
        return true;
    }
    std::int64_t mixed(std::size_t a, std::size_t b) {
        const std::int64_t both = at({{a, 1}, {b, 1}}) - at({{a, 1}}) - at({{b, 1}}) + at({});
        const std::int64_t steps = finder_.moves()[a].step * finder_.moves()[b].step;
        return both % steps == 0 ? both / steps : 0;
    }

    /// (a*s + b)//d, where the values fit one.
    std::string divided(std::size_t root) {
        std::vector<std::pair<std::int64_t, std::int64_t>> samples;  // size of the symbol, value
        for (std::int64_t steps = 0; steps <= 16; ++steps)
            if (const auto found = value({{root, steps}}))
                samples.emplace_back(hint(root) + steps * finder_.moves()[root].step, *found);
        for (std::int64_t d = 2; d <= 8; ++d)
            for (std::int64_t a = 1; a < d; ++a) {
                std::int64_t low = INT32_MIN, high = INT32_MAX;  // of b: d*v <= a*s + b < d*v + d
                for (const auto& [s, v] : samples) {
                    low = std::max(low, d * v - a * s);
                    high = std::min(high, d * v + d - 1 - a * s);
                }
                if (low > high) continue;
                std::string inner;
                add(inner, a, symbols_[root].name);
                const std::int64_t b = low <= 0 && high >= 0 ? 0 : (low > 0 ? low : high);
                if (b == 0 && a == 1) return inner + "//" + std::to_string(d);
                if (b != 0) add(inner, b, "");
                return "(" + inner + ")//" + std::to_string(d);
            }
        return unknown({root});
    }

    std::string unknown(const std::vector<std::size_t>& roots) {
        std::string names;
        for (const std::size_t root : roots) names += (names.empty() ? "" : ", ") + symbols_[root].name;
        return "f(" + names + ")";
    }

    static void add(std::string& text, std::int64_t factor, const std::string& name) {
        if (!text.empty())
            text += factor < 0 ? " - " : " + ";
        else if (factor < 0)
            text += "-";
        const std::int64_t size = factor < 0 ? -factor : factor;
        if (name.empty())
            text += std::to_string(size);
        else
            text += (size == 1 ? "" : std::to_string(size) + "*") + name;
    }

    Prober& prober_;
    const Finder& finder_;
    const std::vector<SizeSymbol>& symbols_;
    std::size_t node_, dim_;
};

}  // namespace

std::vector<SizeSymbol> data_symbols(const Graph& graph) {
    std::vector<SizeSymbol> symbols;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (!data_sized_results(graph.nodes[i]).empty())
            symbols.push_back({"u" + std::to_string(symbols.size()), static_cast<NodeId>(i), 0});
    return symbols;
}

std::string print(const SizeRelation& relation, const std::vector<SizeSymbol>& symbols) {
    const std::string factor = std::to_string(relation.factor), left = symbols.at(relation.left).name;
    if (!relation.right) return left + " % " + factor + " == 0";
    return left + " == " + (relation.factor == 1 ? "" : factor + "*") + symbols.at(*relation.right).name;
}

SymbolicSizes symbolic_sizes(const Graph& graph, const std::vector<SizeSymbol>& symbols) {
    Prober prober(graph, symbols);
    WHITTLE_CHECK(prober.at(prober.hints()).has_value(),
                  "graph " + graph.name + " cannot be inferred at its own sizes");
    Finder finder(prober, symbols.size());
    SymbolicSizes found = finder.run();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        std::vector<std::string> texts;
        const Node& node = graph.nodes[i];
        for (std::size_t d = 0; !node.results.empty() && d < node.results[0].sizes.size(); ++d)
            texts.push_back(Formula(prober, finder, symbols, i, d).text());
        found.sizes.push_back(std::move(texts));
    }
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        SymbolValues other = prober.hints();
        ++other[i];
        found.refusals.push_back(found.fixed[i] ? prober.refusal(other, Prober::Moved::none)
                                                : SymbolicSizes::Refusal{});
        if (found.fixed[i] || finder.moves()[i].root != i) continue;
        if (auto range = Bounds(prober, finder, i).range()) found.ranges.push_back(std::move(*range));
    }
    // An input's own dimension is its symbol, whatever it follows from.
    for (std::size_t i = 0; i < symbols.size(); ++i)
        if (!found.fixed[i]) found.sizes[static_cast<std::size_t>(symbols[i].input)][symbols[i].dim] = symbols[i].name;
    return found;
}

}  // namespace whittle
