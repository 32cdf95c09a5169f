#include "report/graph_diff.h"

#include <algorithm>

#include "base/number_text.h"
#include "base/words.h"
#include "graph/text.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "report/node_match.h"
#include "tensor/compare.h"

namespace whittle::report {

namespace {

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
            changes.push_back("order: behind %" + to_.node({match_.after(latest_)}).name + ", was before it");
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
