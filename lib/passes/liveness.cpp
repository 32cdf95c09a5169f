#include "passes/liveness.h"

#include <algorithm>

#include "graph/value_ref.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// The operand whose memory the results show; none where they have their own.
std::optional<NodeRef> shown_by(const Graph& graph, const Node& node) {
    if (node.kind != NodeKind::call) return std::nullopt;
    std::optional<NodeRef> first;
    for_each_input(node, [&](NodeRef ref) {
        if (!first) first = ref;
    });
    if (const auto read = item_read(node)) return NodeRef{read->node};
    const RegisteredOp* const op = Registry::instance().op(node.target);
    if (!op || !first || op->schema.returns.empty() || op->schema.returns.front().alias.empty()) return std::nullopt;
    return static_cast<void>(graph), first;
}

}  // namespace

std::int64_t own_bytes(const Graph& graph, NodeId id) {
    const Node& node = graph.node({id});
    if (node.kind == NodeKind::get_attr || node.kind == NodeKind::output || shown_by(graph, node)) return 0;
    std::int64_t bytes = 0;
    for (const ValueMeta& meta : node.results) bytes += meta.numel() * static_cast<std::int64_t>(size_of(meta.dtype));
    return bytes;
}

Liveness::Liveness(const Graph& graph) : last_(graph.nodes.size(), -1), own_(graph.nodes.size()) {
    const auto count = static_cast<NodeId>(graph.nodes.size());
    std::vector<NodeId> root(graph.nodes.size());
    for (NodeId id = 0; id < count; ++id) {
        const auto at = static_cast<std::size_t>(id);
        const auto shown = shown_by(graph, graph.nodes[at]);
        root[at] = shown ? root[static_cast<std::size_t>(shown->id)] : id;
        own_[at] = own_bytes(graph, id);
        if (own_[at]) last_[at] = graph.nodes[at].kind == NodeKind::placeholder ? count - 1 : id;
        for_each_input(graph.nodes[at], [&](NodeRef ref) {
            const auto held = static_cast<std::size_t>(root[static_cast<std::size_t>(ref.id)]);
            if (own_[held]) last_[held] = std::max(last_[held], id);
        });
    }
    std::vector<std::int64_t> change(graph.nodes.size() + 1);
    for (std::size_t at = 0; at < own_.size(); ++at) {
        if (!own_[at]) continue;
        change[at] += own_[at];
        change[static_cast<std::size_t>(last_[at]) + 1] -= own_[at];
    }
    std::int64_t now = 0;
    for (std::size_t at = 0; at < own_.size(); ++at) bytes_.push_back(now += change[at]);
}

std::vector<NodeId> Liveness::held(NodeId node) const {
    std::vector<NodeId> all;
    for (NodeId id = 0; id <= node; ++id)
        if (own_[static_cast<std::size_t>(id)] && last_[static_cast<std::size_t>(id)] >= node) all.push_back(id);
    return all;
}

}  // namespace whittle
