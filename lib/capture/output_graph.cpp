#include "capture/output_graph.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "graph/nested.h"
#include "graph/text.h"

namespace whittle::capture {

NodeRef OutputGraph::input(const Source& source, const ValueMeta& meta, TensorKey key, std::vector<StackFrame> stack) {
    const std::string text = source.text();
    if (const auto known = by_source_.find(text); known != by_source_.end()) return known->second;
    if (const auto known = by_key_.find(key); key != 0 && known != by_key_.end()) return known->second;
    guard(Guard::tensor(source, meta, stack));
    const NodeRef node = graph_.add({.kind = NodeKind::placeholder,
                                     .name = source.placeholder_name(),
                                     .target = text,
                                     .results = {meta},
                                     .stack = std::move(stack)});
    by_source_.emplace(text, node);
    if (key != 0) by_key_.emplace(key, node);
    sources_.emplace(node.id, source);
    return node;
}

NodeRef OutputGraph::parameter(const std::string& qualified_name, const Tensor& value, TensorKey key) {
    if (const auto known = by_key_.find(key); key != 0 && known != by_key_.end()) return known->second;
    const NodeRef node = graph_.get_attr(qualified_name, value);
    if (key != 0) by_key_.emplace(key, node);
    return node;
}

std::vector<NodeRef> OutputGraph::call(RecordedCall call) {
    Node node{.kind = NodeKind::call,
              .target = std::move(call.target),
              .args = std::move(call.args),
              .kwargs = std::move(call.kwargs),
              .results = std::move(call.results),
              .stack = std::move(call.stack),
              .module_path = std::move(call.module_path)};
    const std::vector<ValueMeta> results = node.results;
    const NodeRef made = graph_.add(std::move(node));
    if (call.effect) effects_.push_back(made);
    if (results.size() == 1) return {made};
    std::vector<NodeRef> items;
    for (std::size_t i = 0; i < results.size(); ++i)
        items.push_back(graph_.add({.target = std::string(kGetItem),
                                    .args = {Arg(made), Arg(static_cast<std::int64_t>(i))},
                                    .results = {results[i]},
                                    .stack = graph_.node(made).stack}));
    return items;
}

GraphRef OutputGraph::nest(const std::string& name, std::shared_ptr<const Graph> graph) {
    std::string unique = name;
    for (int i = 1; graph_.subgraphs.contains(unique); ++i) unique = name + "_" + std::to_string(i);
    graph_.subgraphs.emplace(unique, std::move(graph));
    return {std::move(unique)};
}

void OutputGraph::guard(Guard guard) {
    if (std::find(guards_.begin(), guards_.end(), guard) == guards_.end()) guards_.push_back(std::move(guard));
}

void OutputGraph::update(const Source& source, NodeRef result) {
    const auto known =
        std::find_if(updates_.begin(), updates_.end(), [&](const auto& entry) { return entry.first == source; });
    if (known != updates_.end()) updates_.erase(known);  // the order of the last writes is what can be observed
    updates_.emplace_back(source, result);
}

const Source* OutputGraph::source_of(NodeRef node) const {
    const auto found = sources_.find(node.id);
    return found == sources_.end() ? nullptr : &found->second;
}

void OutputGraph::rename(NodeRef node, const std::string& name) {
    Node& target = graph_.nodes.at(static_cast<std::size_t>(node.id));
    const std::string wanted = identifier(name);
    if (target.name == wanted) return;
    NameIndex names;
    target.name = names.unique(wanted, graph_.nodes);
}

std::int64_t OutputGraph::call_count() const {
    return std::count_if(graph_.nodes.begin(), graph_.nodes.end(),
                         [](const Node& n) { return n.kind == NodeKind::call && n.target != kGetItem; });
}

namespace {

/// Copies the nodes that `wanted` marks into a new graph, placeholders first.
class Copier {
  public:
    Copier(const Graph& from, Graph& to) : from_(from), to_(to), map_(from.nodes.size()) {}

    void copy(NodeId id) {
        const Node& node = from_.node({id});
        if (node.kind == NodeKind::get_attr) to_.attributes.emplace(node.target, from_.attributes.at(node.target));
        copy_nested(node, from_, to_);
        to_.nodes.push_back(map_inputs(node, [&](NodeRef ref) { return Arg(at(ref)); }));  // its name is unique already
        map_[static_cast<std::size_t>(id)] = NodeRef{static_cast<NodeId>(to_.nodes.size() - 1)};
    }
    NodeRef at(NodeRef ref) const { return map_.at(static_cast<std::size_t>(ref.id)); }

  private:
    const Graph& from_;
    Graph& to_;
    std::vector<NodeRef> map_;
};

/// Which nodes the roots depend on, themselves included; random and mutating calls are the caller's business.
std::vector<bool> needed(const Graph& graph, const std::vector<NodeRef>& roots) {
    std::vector<bool> wanted(graph.nodes.size(), false);
    for (const NodeRef root : roots) wanted.at(static_cast<std::size_t>(root.id)) = true;
    for (std::size_t i = graph.nodes.size(); i-- > 0;)
        if (wanted[i])
            for_each_input(graph.nodes[i], [&](NodeRef ref) { wanted[static_cast<std::size_t>(ref.id)] = true; });
    return wanted;
}

}  // namespace

std::optional<CapturedGraph> OutputGraph::finish(std::span<const NodeRef> results,
                                                 std::optional<GraphBreak> ended_by) const {
    std::vector<NodeRef> roots(results.begin(), results.end());
    for (const auto& [source, node] : updates_) roots.push_back(node);
    std::vector<NodeRef> kept = roots;
    kept.insert(kept.end(), effects_.begin(), effects_.end());
    const std::vector<bool> wanted = needed(graph_, kept);

    CapturedGraph captured{.graph = {.name = graph_.name, .dialect = graph_.dialect}, .guards = guards_};
    Copier copier(graph_, captured.graph);
    bool calls = false;
    const auto copy = [&](bool inputs) {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const bool is_input = graph_.nodes[i].kind == NodeKind::placeholder;
            if (!wanted[i] || is_input != inputs) continue;
            copier.copy(static_cast<NodeId>(i));
            calls |= graph_.nodes[i].kind == NodeKind::call;
            if (is_input) captured.sources.push_back(sources_.at(static_cast<NodeId>(i)));
        }
    };
    copy(true);
    copy(false);
    if (!calls && roots.empty()) return std::nullopt;
    std::vector<NodeRef> outputs;
    for (const NodeRef root : roots) outputs.push_back(copier.at(root));
    captured.graph.output(outputs);
    for (std::size_t i = 0; i < updates_.size(); ++i)
        captured.updates.push_back({updates_[i].first, results.size() + i});
    captured.ended_by = std::move(ended_by);
    return captured;
}

std::string OutputGraph::diff(const OutputGraph& a, const OutputGraph& b) {
    const auto counts = [](const char* field, std::size_t x, std::size_t y) {
        return std::string(field) + ": " + std::to_string(x) + " and " + std::to_string(y);
    };
    if (a.graph_.name != b.graph_.name) return "name: " + a.graph_.name + " and " + b.graph_.name;
    const std::size_t shared = std::min(a.graph_.nodes.size(), b.graph_.nodes.size());
    for (std::size_t i = 0; i < shared; ++i)
        if (!(a.graph_.nodes[i] == b.graph_.nodes[i]))
            return "node " + std::to_string(i) + ": " + print(a.graph_, a.graph_.nodes[i]) + " and " +
                   print(b.graph_, b.graph_.nodes[i]);
    if (a.graph_.nodes.size() != b.graph_.nodes.size())
        return counts("nodes", a.graph_.nodes.size(), b.graph_.nodes.size());
    for (std::size_t i = 0; i < std::min(a.guards_.size(), b.guards_.size()); ++i)
        if (!(a.guards_[i] == b.guards_[i]))
            return "guard " + std::to_string(i) + ": " + a.guards_[i].text() + " and " + b.guards_[i].text();
    if (a.guards_.size() != b.guards_.size()) return counts("guards", a.guards_.size(), b.guards_.size());
    if (a.updates_.size() != b.updates_.size()) return counts("updates", a.updates_.size(), b.updates_.size());
    for (std::size_t i = 0; i < a.updates_.size(); ++i)
        if (!(a.updates_[i].first == b.updates_[i].first) || !(a.updates_[i].second == b.updates_[i].second))
            return "update " + std::to_string(i) + ": of " + a.updates_[i].first.text() + " and " +
                   b.updates_[i].first.text();
    return {};
}

}  // namespace whittle::capture
