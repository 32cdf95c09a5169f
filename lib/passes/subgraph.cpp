#include "passes/subgraph.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

class Builder {
  public:
    Builder(const Graph& from, std::span<const NodeId> kept) : from_(from), kept_(kept) {}

    Subgraph run() {
        Graph& to = result_.graph;
        to = blank_graph(from_, from_.name);
        find_reads();
        add_leaves();
        for (NodeId id : kept_) add_call(id);
        add_outputs();
        for (const Node& node : to.nodes) copy_nested(node, from_, to);
        return std::move(result_);
    }

  private:
    const Node& node(NodeId id) const { return from_.nodes[static_cast<std::size_t>(id)]; }
    bool is_kept(NodeId id) const { return std::binary_search(kept_.begin(), kept_.end(), id); }

    void find_reads() {
        for (NodeId id : kept_)
            for_each_input(node(id), [&](NodeRef ref) {
                const ValueRef value = value_of(from_, ref);
                (is_kept(value.node) ? read_ : outside_).insert(value);
            });
        for (NodeId id : from_.outputs()) returned_.insert(value_of(from_, {id}));
        for (NodeId id : from_.calls())
            if (is_getitem(node(id))) names_.emplace(value_of(from_, {id}), node(id).name);
    }

    /// Placeholders first, then attributes, in the original order.
    void add_leaves() {
        for (const ValueRef& value : outside_) {
            const Node& old = node(value.node);
            if (old.kind == NodeKind::get_attr) continue;
            Node leaf;
            leaf.kind = NodeKind::placeholder;
            leaf.name = name_of(value);
            leaf.target = old.kind == NodeKind::placeholder ? old.target : leaf.name;
            leaf.results = {old.results.at(static_cast<std::size_t>(value.index))};
            leaf.stack = old.stack;
            leaf.module_path = old.module_path;
            map_[value] = result_.graph.add(std::move(leaf));
            result_.inputs.push_back(value);
        }
        for (const ValueRef& value : outside_) {
            const Node& old = node(value.node);
            if (old.kind != NodeKind::get_attr) continue;
            result_.graph.attributes[old.target] = from_.attributes.at(old.target);
            map_[value] = result_.graph.add(old);
        }
    }

    std::string name_of(const ValueRef& value) const {
        const auto getitem = names_.find(value);
        if (getitem != names_.end()) return getitem->second;
        return node(value.node).name + (value.index ? '_' + std::to_string(value.index) : "");
    }

    void add_call(NodeId id) {
        const Node& old = node(id);
        const NodeRef ref =
            result_.graph.add(map_inputs(old, [&](NodeRef input) { return Arg(map_.at(value_of(from_, input))); }));
        for (int i = 0; i < static_cast<int>(old.results.size()); i++) {
            const ValueRef value{id, i};
            if (old.results.size() == 1)
                map_[value] = ref;
            else if (read_.contains(value) || is_output(value))
                map_[value] = add_getitem(ref, value);
        }
    }

    NodeRef add_getitem(NodeRef producer, const ValueRef& value) {
        Node read = getitem(producer, value.index, node(value.node));
        read.name = name_of(value);
        if (read.name == node(value.node).name) read.name += "_0";
        return result_.graph.add(std::move(read));
    }

    /// Returned by the original, or a sink here; of several results none of which is read, all are. Those of an op that
    /// nobody here knows may not all be there: of them, what the original reads.
    bool is_output(const ValueRef& value) const {
        if (returned_.contains(value)) return true;
        const auto has = [&](const auto& values) {
            const auto first = values.lower_bound({value.node, 0});
            return first != values.end() && node_of(*first) == value.node;
        };
        if (has(read_)) return false;
        return names_.contains(value) || Registry::instance().find(node(value.node).target) || !has(names_);
    }
    static NodeId node_of(const ValueRef& value) { return value.node; }
    static NodeId node_of(const std::pair<const ValueRef, std::string>& named) { return named.first.node; }

    /// What the original returned, in its order, then the new sinks.
    void add_outputs() {
        std::vector<NodeRef> refs;
        std::set<ValueRef> listed;
        const auto list = [&](const ValueRef& value) {
            if (!is_kept(value.node) || !listed.insert(value).second) return;
            refs.push_back(map_.at(value));
            result_.outputs.push_back(value);
        };
        for (NodeId id : from_.outputs()) list(value_of(from_, {id}));
        for (NodeId id : kept_)
            for (int i = 0; i < static_cast<int>(node(id).results.size()); i++)
                if (is_output({id, i})) list({id, i});
        result_.graph.output(refs);
    }

    const Graph& from_;
    std::span<const NodeId> kept_;
    Subgraph result_;
    std::set<ValueRef> read_, outside_,
        returned_;                           // values read within, read from outside, returned by the original
    std::map<ValueRef, std::string> names_;  // of the getitems that read them
    std::map<ValueRef, NodeRef> map_;
};

}  // namespace

Subgraph subgraph(const Graph& graph, std::span<const NodeId> kept) {
    WHITTLE_CHECK(std::is_sorted(kept.begin(), kept.end()), "kept calls are not in order");
    return Builder(graph, kept).run();
}

Subgraph piece(const Graph& graph, std::span<const NodeId> calls) {
    const auto kept = [&](NodeId id) { return std::binary_search(calls.begin(), calls.end(), id); };
    Graph read = graph;
    Node& output = read.nodes.back();
    output.args.clear();
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.node({id});
        if (is_getitem(node) || kept(id)) continue;
        for_each_input(node, [&](NodeRef ref) {
            if (kept(value_of(graph, ref).node)) output.args.emplace_back(ref);
        });
    }
    return subgraph(read, calls);
}

ExposedGraph expose_all_values(const Graph& graph) {
    Rewriter rewriter(graph);
    std::map<ValueRef, NodeRef> items;  // old call and result -> the new getitem that reads it
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        if (node.kind == NodeKind::output) continue;
        const NodeRef ref = rewriter.copy(id);
        if (const auto read = item_read(node)) items.emplace(*read, ref);
    }
    ExposedGraph exposed;
    std::vector<NodeRef> outputs;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        if (is_getitem(node)) continue;
        const NodeRef call = rewriter.mapped({id});
        for (int i = 0; i < static_cast<int>(node.results.size()); ++i) {
            NodeRef value = call;
            if (const auto item = items.find({id, i}); item != items.end())
                value = item->second;
            else if (node.results.size() > 1) {
                Node item = getitem(call, i, node);
                item.name = node.name + "_" + std::to_string(i);
                value = rewriter.graph().add(std::move(item));
            }
            outputs.push_back(value);
            exposed.outputs.push_back({id, i});
        }
    }
    rewriter.graph().output(outputs);
    exposed.graph = rewriter.finish();
    return exposed;
}

}  // namespace whittle
