#include "frontends/onnx/draft.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::onnx_proto {

GraphDraft::GraphDraft(std::map<std::string, std::int64_t> opsets, GraphDraft* outer)
    : outer_(outer), names_(outer ? &outer->names_ : nullptr) {
    graph_.dialect = "onnx";
    graph_.opset_imports = std::move(opsets);
}

bool GraphDraft::unknown(NodeRef ref) const {
    return std::ranges::any_of(node(ref).results, [](const ValueMeta& meta) { return meta.placement != nullptr; });
}

const Tensor* GraphDraft::known(NodeRef ref) const {
    const Node& node = graph_.node(ref);
    if (unknown(ref)) return nullptr;
    if (node.kind == NodeKind::get_attr) return &graph_.attributes.at(node.target);
    const std::optional<Tensor>& value = facts(ref).value;
    return value ? &*value : nullptr;
}

std::vector<std::string> GraphDraft::inputs_behind(NodeRef value, std::int64_t most_elements) const {
    std::vector<std::string> names;
    for (const NodeRef ref : behind(value)) {
        const Node& node = graph_.node(ref);
        if (node.kind != NodeKind::placeholder) continue;
        if (node.meta().numel() > most_elements) return {};  // data, not a description of sizes
        names.push_back(node.target);
    }
    return names;
}

std::vector<std::string> GraphDraft::calls_behind(NodeRef value) const {
    std::vector<std::string> names;
    for (const NodeRef ref : behind(value))
        if (graph_.node(ref).kind == NodeKind::call) names.push_back(graph_.node(ref).name);
    return names;
}

std::vector<NodeRef> GraphDraft::behind(NodeRef value) const {
    std::vector<NodeRef> found, open = {value};
    for (std::unordered_set<NodeId> seen; !open.empty();) {
        const NodeRef ref = open.back();
        open.pop_back();
        if (!seen.insert(ref.id).second) continue;
        found.push_back(ref);
        for_each_input(graph_.node(ref), [&](NodeRef input) { open.push_back(input); });
    }
    return found;
}

NodeRef GraphDraft::append(Node node, NodeFacts facts) {
    graph_.nodes.push_back(std::move(node));
    facts_.push_back(std::move(facts));
    return {static_cast<NodeId>(graph_.nodes.size() - 1)};
}

NodeRef GraphDraft::add_constant(const std::string& name, const std::string& target, Tensor value) {
    ValueMeta meta = ValueMeta::of(value);
    std::string free = target;  // graphs that join this one, or are around it, may use the same name
    for (int n = 1; graph_.attributes.contains(free); ++n) free = target + "_" + std::to_string(n);
    graph_.attributes.emplace(free, std::move(value));
    return append({.kind = NodeKind::get_attr, .name = name, .target = free, .results = {std::move(meta)}});
}

NodeRef GraphDraft::add_typed(const std::string& name, const std::string& target, ValueMeta meta, Tensor value) {
    const NodeRef ref = add_constant(name, target, std::move(value));
    graph_.nodes.back().results = {std::move(meta)};
    return ref;
}

NodeRef GraphDraft::capture(NodeRef outer_node) {
    if (const auto known = captured_.find(outer_node.id); known != captured_.end()) return known->second;
    const Node& source = outer_->node(outer_node);
    const NodeRef here = source.kind == NodeKind::get_attr ? add_typed(source.name, source.target, source.meta(),
                                                                       outer_->graph_.attributes.at(source.target))
                                                           : append({.kind = NodeKind::placeholder,
                                                                     .name = source.name,
                                                                     .target = source.name,
                                                                     .results = {source.meta()}});
    facts(here) = outer_->facts(outer_node);
    facts(here).part = false;
    return captured_[outer_node.id] = here;
}

void GraphDraft::add_subgraph(const std::string& name, Graph graph) {
    graph_.subgraphs[name] = std::make_shared<const Graph>(std::move(graph));
}

void GraphDraft::add_outputs(const std::vector<NodeRef>& nodes) {
    outputs_.insert(outputs_.end(), nodes.begin(), nodes.end());
}

void GraphDraft::rename(NodeRef ref, const std::string& name) {
    Node& node = graph_.nodes[static_cast<std::size_t>(ref.id)];
    names_.release(node.name);
    node.name = name;
    if (node.kind != NodeKind::get_attr) return;
    auto attribute = graph_.attributes.extract(node.target);
    attribute.key() = node.target = name;
    graph_.attributes.insert(std::move(attribute));
}

std::vector<NodeRef> GraphDraft::captured() const {
    std::unordered_map<NodeId, NodeId> outer_of;  // by placeholder here
    for (const auto& [outer, here] : captured_)
        if (graph_.node(here).kind == NodeKind::placeholder) outer_of[here.id] = outer;
    std::vector<NodeRef> result;
    const auto use = [&](NodeRef ref) {
        const auto found = outer_of.find(ref.id);
        if (found == outer_of.end()) return;
        result.push_back({found->second});
        outer_of.erase(found);
    };
    for (const Node& node : graph_.nodes) for_each_input(node, use);
    for (const NodeRef ref : outputs_) use(ref);
    return result;
}

bool GraphDraft::unknown_outputs() const {
    return std::ranges::any_of(outputs_, [&](NodeRef ref) { return unknown(ref); });
}

std::vector<bool> GraphDraft::wanted() const {
    std::vector<bool> wanted;
    for (const NodeFacts& facts : facts_) wanted.push_back(!facts.part);
    const auto want = [&](NodeRef ref) { wanted[static_cast<std::size_t>(ref.id)] = true; };
    for (const NodeRef ref : outputs_) want(ref);
    for (std::size_t i = graph_.nodes.size(); i-- > 0;)
        if (wanted[i]) for_each_input(graph_.nodes[i], want);
    return wanted;
}

std::vector<NodeId> GraphDraft::final_order(const std::vector<NodeRef>& captured) {
    std::unordered_set<NodeId> from_outside;
    for (const auto& [outer, here] : captured_) from_outside.insert(here.id);
    const auto is = [&](NodeId id, NodeKind kind) { return graph_.nodes[static_cast<std::size_t>(id)].kind == kind; };

    std::vector<NodeId> first_uses;
    std::unordered_set<NodeId> used;
    const auto use = [&](NodeRef ref) {
        if (used.insert(ref.id).second) first_uses.push_back(ref.id);
    };
    const std::vector<bool> wanted = this->wanted();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
        if (wanted[i]) for_each_input(graph_.nodes[i], use);
    for (const NodeRef ref : outputs_) use(ref);

    std::vector<NodeId> order;
    const auto count = static_cast<NodeId>(graph_.nodes.size());
    for (NodeId id = 0; id < count; ++id)
        if (is(id, NodeKind::placeholder) && from_outside.count(id) == 0 && wanted[static_cast<std::size_t>(id)])
            order.push_back(id);
    for (const NodeRef outer : captured) order.push_back(capture(outer).id);
    for (const NodeId id : first_uses)
        if (is(id, NodeKind::get_attr)) order.push_back(id);
    for (NodeId id = 0; id < count; ++id)
        if (is(id, NodeKind::call) && wanted[static_cast<std::size_t>(id)]) order.push_back(id);
    return order;
}

GraphDraft::Finished GraphDraft::finish(const std::string& name, const std::vector<NodeRef>& captured) {
    const std::vector<NodeId> order = final_order(captured);
    Finished finished;
    Graph& result = finished.graph;
    result = blank_graph(graph_, name);
    result.subgraphs = std::move(graph_.subgraphs);
    std::vector<NodeRef> moved(graph_.nodes.size());
    const auto at_new = [&](NodeRef ref) { return Arg(moved[static_cast<std::size_t>(ref.id)]); };
    for (const NodeId id : order) {
        Node node = map_inputs(graph_.nodes[static_cast<std::size_t>(id)], at_new);
        if (node.kind == NodeKind::get_attr) result.attributes[node.target] = graph_.attributes.at(node.target);
        if (unknown({id}) && node.kind == NodeKind::call) finished.unknown.push_back(node.name);
        moved[static_cast<std::size_t>(id)] = {static_cast<NodeId>(result.nodes.size())};
        result.nodes.push_back(std::move(node));
    }
    const std::unordered_set<NodeId> kept(order.begin(), order.end());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
        if (graph_.nodes[i].kind == NodeKind::call && !kept.contains(static_cast<NodeId>(i)))
            finished.dropped.push_back(graph_.nodes[i].name);
    Node output{.kind = NodeKind::output, .name = names_.take("output")};
    for (const NodeRef ref : outputs_) output.args.emplace_back(moved[static_cast<std::size_t>(ref.id)]);
    result.nodes.push_back(std::move(output));
    return finished;
}

}  // namespace whittle::onnx_proto
