#include "report/graph_diff.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>

#include "base/number_text.h"
#include "base/words.h"
#include "graph/text.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "tensor/compare.h"

namespace whittle::report {

namespace {

/// Candidates for a node's counterpart that are looked at: of a thousand relus the first ones in order.
constexpr std::size_t kCandidates = 16;

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
    return std::rotl(seed, 23) * 0x9e3779b97f4a7c15u ^ (value + 0x632be59bd9b4e019u) * 0xd6e8feb86659fd93u;
}

/// An argument without the nodes and nested graphs that it names.
std::string label(const Graph& graph, const Arg& arg) {
    if (arg.node()) return "%";
    if (std::holds_alternative<GraphRef>(arg.value)) return "graph";
    if (!arg.list()) return print(graph, arg) + ",";
    std::string text = "[";
    for (const Arg& element : *arg.list()) text += label(graph, element);
    return text + "]";
}

/// Calls: the op with its host arguments. Else the kind; `named`, also what it is the value of.
std::uint64_t label(const Graph& graph, const Node& node, bool named) {
    std::string text(1, static_cast<char>(node.kind));
    if (node.kind == NodeKind::call || named) text += node.target;
    if (node.kind == NodeKind::call) {
        for (const Arg& arg : node.args) text += label(graph, arg);
        for (const auto& [key, arg] : node.kwargs) text += key + "=" + label(graph, arg);
    }
    return std::hash<std::string>{}(text);
}

/// Per node: equal where everything that is computed from it is.
std::vector<std::uint64_t> computes(const Graph& graph) {
    std::vector<std::uint64_t> hashes(graph.nodes.size(), 0);  // first: the sum over its readers, in any order
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const Node& node = graph.nodes[i];
        hashes[i] = mix(label(graph, node, false), hashes[i]);
        std::uint64_t position = 0;
        for_each_input(node,
                       [&](NodeRef read) { hashes[static_cast<std::size_t>(read.id)] += mix(hashes[i], ++position); });
    }
    return hashes;
}

std::vector<NodeId> inputs_of(const Node& node) {
    std::vector<NodeId> inputs;
    for_each_input(node, [&](NodeRef read) { inputs.push_back(read.id); });
    return inputs;
}

/// Nodes of one kind that are no calls are of one "op".
std::string op_of(const Node& node) { return node.kind == NodeKind::call ? node.target : std::string(name(node.kind)); }

/// Per node: equal where everything that it is computed from is; names, sizes and elements do not count.
std::vector<std::uint64_t> computed_from(const Graph& graph) {
    std::vector<std::uint64_t> hashes;
    for (const Node& node : graph.nodes) {
        std::uint64_t hash = label(graph, node, true);
        for_each_input(node, [&](NodeRef read) { hash = mix(hash, hashes.at(static_cast<std::size_t>(read.id))); });
        hashes.push_back(hash);
    }
    return hashes;
}

/// Which nodes of two graphs are the same: in three rounds, each on what the ones before left. By all that a node is
/// computed from; by all that is computed from it; by its neighbours that were found.
class NodeMatch {
  public:
    NodeMatch(const Graph& before, const Graph& after)
        : from_(before),
          to_(after),
          after_(before.nodes.size(), -1),
          before_(after.nodes.size(), -1),
          users_from_(users(before)),
          users_to_(users(after)) {
        if (!before.nodes.empty() && !after.nodes.empty())  // the outputs
            pair(static_cast<NodeId>(before.nodes.size() - 1), static_cast<NodeId>(after.nodes.size() - 1));
        pair_equal(computed_from(before), computed_from(after), false);
        pair_equal(computes(before), computes(after), true);
        pair_neighbours(true);
        pair_neighbours(false);
    }

    /// Its counterpart in the other graph, or -1.
    NodeId after(NodeId before) const { return after_[static_cast<std::size_t>(before)]; }
    NodeId before(NodeId after) const { return before_[static_cast<std::size_t>(after)]; }

  private:
    using Hashes = std::vector<std::uint64_t>;

    void pair(NodeId x, NodeId y) {
        after_[static_cast<std::size_t>(x)] = y;
        before_[static_cast<std::size_t>(y)] = x;
    }

    /// Of several that are equal, in order; `all_or_none`: only where both graphs have as many of them left. What two
    /// calls are computed from tells them apart as long as it is the same; who reads them says less, of what nobody
    /// reads nothing.
    void pair_equal(const Hashes& before, const Hashes& after, bool all_or_none) {
        const auto left = [](const Hashes& hashes, const std::vector<NodeId>& counterparts) {
            std::unordered_map<std::uint64_t, std::vector<NodeId>> waiting;
            for (std::size_t i = 0; i < hashes.size(); ++i)
                if (counterparts[i] < 0) waiting[hashes[i]].push_back(static_cast<NodeId>(i));
            return waiting;
        };
        const auto waiting = left(after, before_);
        for (const auto& [hash, old] : left(before, after_)) {
            const auto found = waiting.find(hash);
            if (found == waiting.end() || (all_or_none && found->second.size() != old.size())) continue;
            if (op_of(from_.node({old.front()})) != op_of(to_.node({found->second.front()}))) continue;
            if (all_or_none && users_from_[static_cast<std::size_t>(old.front())].empty()) continue;
            for (std::size_t i = 0; i < std::min(old.size(), found->second.size()); ++i) pair(old[i], found->second[i]);
        }
    }

    /// Downwards, so that what was found helps what reads it, then upwards. `same_op` false: an op in another's place.
    void pair_neighbours(bool same_op) {
        left_.clear();
        for (std::size_t i = 0; i < from_.nodes.size(); ++i)
            if (after_[i] < 0)
                left_[same_op ? op_of(from_.nodes[i]) : std::string(name(from_.nodes[i].kind))].push_back(
                    static_cast<NodeId>(i));
        const auto count = static_cast<NodeId>(to_.nodes.size());
        for (NodeId y = 0; y < count; ++y) pair_with_best(y, same_op);
        for (NodeId y = count; y-- > 0;) pair_with_best(y, same_op);
    }

    void pair_with_best(NodeId y, bool same_op) {
        const Node& node = to_.node({y});
        if (before(y) >= 0) return;
        const auto candidates = left_.find(same_op ? op_of(node) : std::string(name(node.kind)));
        if (candidates == left_.end()) return;
        std::vector<NodeId>& all = candidates->second;
        std::size_t best = all.size();
        int most = same_op ? 0 : 2;  // of another op: a neighbour above and one below
        for (std::size_t i = 0, seen = 0; i < all.size() && seen < kCandidates; ++i, ++seen)
            if (const int like = likeness(all[i], y); like > most) best = i, most = like;
        if (best == all.size()) return;
        pair(all[best], y);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(best));
    }

    /// Two for each operand and each reader that both have at the same place.
    int likeness(NodeId x, NodeId y) const {
        const std::vector<NodeId> reads_x = inputs_of(from_.node({x})), reads_y = inputs_of(to_.node({y}));
        int like = 0;
        bool above = reads_x.empty() && reads_y.empty(), below = false;
        for (std::size_t i = 0; i < std::min(reads_x.size(), reads_y.size()); ++i)
            if (after(reads_x[i]) == reads_y[i]) like += 2, above = true;
        const std::vector<NodeId>& readers = users_to_[static_cast<std::size_t>(y)];
        for (const NodeId user : users_from_[static_cast<std::size_t>(x)])
            if (after(user) >= 0 && std::ranges::binary_search(readers, after(user))) like += 2, below = true;
        if (like > 0 && from_.node({x}).name == to_.node({y}).name) ++like;
        return op_of(from_.node({x})) == op_of(to_.node({y})) || (above && below) ? like : 0;
    }

    const Graph &from_, &to_;
    std::vector<NodeId> after_, before_;
    std::vector<std::vector<NodeId>> users_from_, users_to_;
    std::unordered_map<std::string, std::vector<NodeId>> left_ =
        {};  ///< nodes of from_ without counterpart, by their op
};

class Differ {
  public:
    Differ(const Graph& before, const Graph& after)
        : from_(before), to_(after), match_(before, after), ordered_(has_writes(before) || has_writes(after)) {}

    GraphDiff diff() {
        GraphDiff result;
        for (std::size_t i = 0; i < from_.nodes.size(); ++i)
            if (match_.after(static_cast<NodeId>(i)) < 0)
                result.nodes.push_back({.before = print(from_, from_.nodes[i])});
        std::vector<bool> resized(to_.nodes.size(), false);
        for (std::size_t i = 0; i < to_.nodes.size(); ++i) {
            const Node& node = to_.nodes[i];
            const NodeId before = match_.before(static_cast<NodeId>(i));
            if (before < 0) {
                result.nodes.push_back({.after = print(to_, node)});
                continue;
            }
            const Node& old = from_.node({before});
            std::vector<std::string> changes = changes_of(old, node, before);
            const std::string metas = metas_of(old, node);
            resized[i] = !metas.empty();
            bool follows = false;
            for_each_input(node, [&](NodeRef read) { follows |= resized[static_cast<std::size_t>(read.id)]; });
            if (!metas.empty() && changes.empty() && follows && ++result.resized) continue;
            if (!metas.empty()) changes.push_back(metas);
            if (!changes.empty()) result.nodes.push_back({print(from_, old), print(to_, node), std::move(changes)});
        }
        return result;
    }

  private:
    std::vector<std::string> changes_of(const Node& old, const Node& node, NodeId before) {
        std::vector<std::string> changes;
        if (node.kind == NodeKind::call && old.target != node.target)
            changes.push_back("op: " + node.target + ", was " + old.target);
        compare_arguments(old, node, changes);
        if (node.kind == NodeKind::get_attr) compare_elements(old, node, changes);
        if (!ordered_ || node.kind != NodeKind::call) return changes;
        if (before < latest_)
            changes.push_back("order: after %" + to_.node({match_.after(latest_)}).name + ", was before it");
        latest_ = std::max(latest_, before);
        return changes;
    }

    void compare_arguments(const Node& old, const Node& node, std::vector<std::string>& changes) {
        const Schema* schema = old.target == node.target ? Registry::instance().find(node.target) : nullptr;
        const auto compare = [&](const std::string& name, const Arg* was, const Arg* is) {
            if (was && is && equal(*was, *is)) return;
            changes.push_back(name + ": " + (is ? print(to_, *is) : "not given") + ", was " +
                              (was ? print(from_, *was) : "not given"));
        };
        for (std::size_t i = 0; i < std::max(old.args.size(), node.args.size()); ++i) {
            std::string name = (node.kind == NodeKind::output ? "result " : "argument ") + std::to_string(i);
            if (schema && i < schema->params.size()) name = "argument '" + schema->params[i].name + "'";
            compare(name, i < old.args.size() ? &old.args[i] : nullptr, i < node.args.size() ? &node.args[i] : nullptr);
        }
        for (const auto& [key, is] : node.kwargs) compare("argument '" + key + "'", old.kwarg(key), &is);
        for (const auto& [key, was] : old.kwargs)
            if (!node.kwarg(key)) compare("argument '" + key + "'", &was, nullptr);
    }

    /// Counterparts count as equal, and so do nested graphs that compute the same.
    bool equal(const Arg& was, const Arg& is) const {
        if (was.node() && is.node()) return match_.after(was.node()->id) == is.node()->id;
        if (was.list() && is.list())
            return std::ranges::equal(*was.list(), *is.list(), [&](const Arg& a, const Arg& b) { return equal(a, b); });
        const auto *from = std::get_if<GraphRef>(&was.value), *to = std::get_if<GraphRef>(&is.value);
        if (from && to) return report::diff(*from_.subgraphs.at(from->name), *to_.subgraphs.at(to->name)).same();
        return was == is;
    }

    void compare_elements(const Node& old, const Node& node, std::vector<std::string>& changes) const {
        const Tensor &was = from_.attributes.at(old.target), &is = to_.attributes.at(node.target);
        if (was.dtype() != is.dtype() || was.sizes() != is.sizes()) return;  // its metas say so
        const auto difference = compare(is, was, Accuracy{.mode = Accuracy::Mode::strict});
        if (!difference) return;
        changes.push_back("elements: " + std::to_string(difference->differing) + " of " + std::to_string(is.numel()) +
                          " differ, by " + significant(difference->max_abs_error, 3) + " at most");
    }

    static std::string metas_of(const Node& old, const Node& node) {
        const auto text = [](const Node& of) {
            std::string all;
            for (const ValueMeta& meta : of.results)
                all += (all.empty() ? "" : ", ") + print(meta) + (meta.requires_grad ? " that requires grad" : "");
            return all;
        };
        return old.results == node.results ? "" : "result: " + text(node) + ", was " + text(old);
    }

    const Graph &from_, &to_;
    NodeMatch match_;
    bool ordered_;        ///< what runs when can be seen
    NodeId latest_ = -1;  ///< the furthest of from_'s calls whose counterparts were passed
};

}  // namespace

GraphDiff diff(const Graph& before, const Graph& after) { return Differ(before, after).diff(); }

std::uint64_t shape_hash(const Graph& graph) { return graph.nodes.empty() ? 0 : computed_from(graph).back(); }

}  // namespace whittle::report
