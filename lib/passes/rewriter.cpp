#include "passes/rewriter.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "graph/value_ref.h"

namespace whittle {

Rewriter::Rewriter(const Graph& from) : from_(from), to_(blank_graph(from, from.name)), map_(from.nodes.size()) {
    to_.attributes = from.attributes;
    to_.subgraphs = from.subgraphs;
    to_.failure = from.failure;
    to_.nodes.reserve(from.nodes.size());
}

NodeRef Rewriter::mapped(NodeRef old) const {
    WHITTLE_CHECK(has(old), "%" + from_.node(old).name + " was read before it was copied");
    return map_[static_cast<std::size_t>(old.id)];
}

bool Rewriter::has(NodeRef old) const { return map_.at(static_cast<std::size_t>(old.id)).id >= 0; }

void Rewriter::attribute() {
    while (origins_.size() < to_.nodes.size())
        origins_.push_back(working_on_ < 0 ? std::vector<NodeId>() : std::vector<NodeId>{working_on_});
}

void Rewriter::work_on(NodeId id) {
    attribute();
    working_on_ = id;
}

void Rewriter::replace(NodeId id, NodeRef value) {
    map_.at(static_cast<std::size_t>(id)) = value;
    attribute();
    std::vector<NodeId>& origins = origins_.at(static_cast<std::size_t>(value.id));
    const auto place = std::lower_bound(origins.begin(), origins.end(), id);
    if (place == origins.end() || *place != id) origins.insert(place, id);
}

NodeRef Rewriter::copy(NodeId id) {
    const Node& old = from_.nodes.at(static_cast<std::size_t>(id));
    work_on(id);
    const NodeRef ref = to_.add(map_inputs(old, [this](NodeRef input) { return Arg(mapped(input)); }));
    replace(id, ref);
    return ref;
}

Graph Rewriter::finish() {
    attribute();
    const auto is_leaf = [](const Node& node) {
        return node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr;
    };
    std::vector<NodeId> order(to_.nodes.size());
    for (std::size_t i = 0; i < order.size(); i++) order[i] = static_cast<NodeId>(i);
    std::stable_partition(order.begin(), order.end(),
                          [&](NodeId id) { return is_leaf(to_.nodes[static_cast<std::size_t>(id)]); });
    std::vector<NodeRef> position(order.size());
    for (std::size_t i = 0; i < order.size(); i++)
        position[static_cast<std::size_t>(order[i])] = {static_cast<NodeId>(i)};
    std::vector<Node> nodes;
    nodes.reserve(order.size());
    Origins origins;
    origins.reserve(order.size());
    std::set<std::string> named;
    for (NodeId id : order) {
        const Node& node = to_.nodes[static_cast<std::size_t>(id)];
        nodes.push_back(map_inputs(node, [&](NodeRef ref) { return Arg(position[static_cast<std::size_t>(ref.id)]); }));
        origins.push_back(std::move(origins_[static_cast<std::size_t>(id)]));
        if (node.kind == NodeKind::get_attr) named.insert(node.target);
    }
    to_.nodes = std::move(nodes);
    origins_ = std::move(origins);
    std::erase_if(to_.attributes, [&](const auto& entry) { return !named.contains(entry.first); });
    return std::move(to_);
}

Graph logged(std::string_view pass, const Graph& before, Graph after) {
    if (log_enabled(LogChannel::passes, LogLevel::info))
        log_info(LogChannel::passes, std::string(pass) + ": graph " + before.name + ", " +
                                         std::to_string(op_count(before)) + " -> " + plural(op_count(after), "op"));
    return after;
}

}  // namespace whittle
