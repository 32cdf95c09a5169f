#include "capture/output_graph.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/error.h"
#include "capture/hooks.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/aten/hidden_writes.h"
#include "passes/functionalize.h"

namespace whittle::capture {

NodeRef OutputGraph::input(const Source& source, const ValueMeta& meta, TensorKey key, std::vector<StackFrame> stack) {
    if (const auto known = by_source_.find(source); known != by_source_.end()) return known->second;
    if (const auto known = by_key_.find(key); key != 0 && known != by_key_.end()) {
        if (const Source* other = source_of(known->second))
            guard(Guard(source, SameTensor{*other}, std::move(stack)));  // the graph has one input for both
        return known->second;
    }
    guard(Guard::tensor(source, meta, stack));
    const NodeRef node = graph_.add({.kind = NodeKind::placeholder,
                                     .name = source.placeholder_name(),
                                     .target = source.text(),
                                     .results = {meta},
                                     .stack = std::move(stack)});
    by_source_.emplace(source, node);
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

std::vector<NodeRef> OutputGraph::call(Node call, bool effect) {
    const NodeRef made = graph_.add(std::move(call));
    if (effect) effects_.push_back(made);
    return add_results(graph_, made);
}

GraphRef OutputGraph::nest(const std::string& name, std::shared_ptr<const Graph> graph) {
    std::string unique = name;
    for (int i = 1; graph_.subgraphs.contains(unique); ++i) unique = name + "_" + std::to_string(i);
    graph_.subgraphs.emplace(unique, std::move(graph));
    nested_.push_back(unique);
    return {std::move(unique)};
}

void OutputGraph::guard(Guard guard) {
    if (!guard_hashes_.insert(guard.hash()).second && std::find(guards_.begin(), guards_.end(), guard) != guards_.end())
        return;
    guards_.push_back(std::move(guard));
}

OutputGraph::Checkpoint OutputGraph::checkpoint() const {
    return {graph_.nodes.size(), guards_.size(), effects_.size(), nested_.size()};
}

void OutputGraph::roll_back(const Checkpoint& to) {
    if (checkpoint() == to) return;
    const auto kept = std::span(graph_.nodes).first(to.nodes);
    for (const Node& node : std::span(graph_.nodes).subspan(to.nodes))
        if (node.kind == NodeKind::get_attr && std::ranges::find(kept, node.target, &Node::target) == kept.end())
            graph_.attributes.erase(node.target);
    const auto is_gone = [&](NodeRef node) { return static_cast<std::size_t>(node.id) >= to.nodes; };
    std::erase_if(by_source_, [&](const auto& entry) { return is_gone(entry.second); });
    std::erase_if(by_key_, [&](const auto& entry) { return is_gone(entry.second); });
    std::erase_if(sources_, [&](const auto& entry) { return is_gone({entry.first}); });
    graph_.nodes.resize(to.nodes);
    guards_.erase(guards_.begin() + static_cast<std::ptrdiff_t>(to.guards), guards_.end());
    guard_hashes_.clear();
    for (const Guard& guard : guards_) guard_hashes_.insert(guard.hash());
    effects_.resize(to.effects);
    for (; nested_.size() > to.subgraphs; nested_.pop_back()) graph_.subgraphs.erase(nested_.back());
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

std::int64_t OutputGraph::call_count() const { return op_count(graph_); }

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
    if (hooks().finished) hooks().finished(graph_);
    std::vector<NodeRef> kept(results.begin(), results.end());
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
    if (!calls && results.empty()) return std::nullopt;
    std::vector<NodeRef> outputs;
    for (const NodeRef root : results) outputs.push_back(copier.at(root));
    captured.graph.output(outputs);
    captured.ended_by = std::move(ended_by);
    return captured;
}

void functionalize(CapturedGraph& captured, const std::function<bool(const Source&)>& keeps) {
    if (!has_writes(captured.graph) && std::ranges::none_of(captured.graph.nodes, hides_writes)) return;
    std::unordered_set<std::string> names;
    for (const Node& node : captured.graph.nodes) names.insert(node.name);
    Functionalized functional = whittle::functionalize(captured.graph);
    for (const Node& node : functional.graph.nodes)
        if (node.kind == NodeKind::call && !names.contains(node.name)) captured.added_calls.insert(node.name);
    captured.graph = std::move(functional.graph);
    const std::vector<NodeId> placeholders = captured.graph.placeholders();
    ArgList& outputs = captured.graph.nodes.back().args;
    const ArgList all = outputs;
    outputs.resize(all.size() - functional.updates.size());
    for (const MemoryUpdate& update : functional.updates) {
        const Node& input = *captured.graph.find(update.input);
        const auto id = static_cast<NodeId>(&input - captured.graph.nodes.data());
        const auto position = std::ranges::find(placeholders, id) - placeholders.begin();
        Source source = input.kind == NodeKind::get_attr ? Source::local("self").attribute(input.target)
                                                         : captured.sources.at(static_cast<std::size_t>(position));
        if (keeps && !keeps(source)) continue;
        captured.updates.push_back({std::move(source), outputs.size()});
        outputs.push_back(all.at(update.output));
    }
}

}  // namespace whittle::capture
