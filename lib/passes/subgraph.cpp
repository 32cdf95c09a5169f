#include "passes/subgraph.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "graph/nested.h"

namespace whittle {
namespace {

bool is_getitem(const Node& node) { return node.kind == NodeKind::call && node.target == kGetItem; }

class Builder {
  public:
    Builder(const Graph& from, std::span<const NodeId> kept) : from_(from), kept_(kept) {}

    Subgraph run() {
        Graph& to = result_.graph;
        to.name = from_.name;
        to.dialect = from_.dialect;
        to.opset_imports = from_.opset_imports;
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

    /// The value that an argument stands for, seen through a getitem.
    SubgraphValue value_of(NodeRef ref) const {
        const Node& read = from_.node(ref);
        if (!is_getitem(read)) return {ref.id, 0};
        return {read.args.at(0).node()->id, static_cast<int>(std::get<std::int64_t>(read.args.at(1).value))};
    }

    void find_reads() {
        for (NodeId id : kept_)
            for_each_input(node(id), [&](NodeRef ref) {
                const SubgraphValue value = value_of(ref);
                (is_kept(value.node) ? read_ : outside_).insert(value);
            });
        for (NodeId id : from_.outputs()) returned_.insert(value_of({id}));
        for (NodeId id : from_.calls())
            if (is_getitem(node(id))) names_.emplace(value_of({id}), node(id).name);
    }

    /// Placeholders first, then attributes, in the original order.
    void add_leaves() {
        for (const SubgraphValue& value : outside_) {
            const Node& old = node(value.node);
            if (old.kind == NodeKind::get_attr) continue;
            Node leaf;
            leaf.kind = NodeKind::placeholder;
            leaf.name = name_of(value);
            leaf.target = old.kind == NodeKind::placeholder ? old.target : leaf.name;
            leaf.results = {old.results.at(static_cast<std::size_t>(value.result))};
            leaf.stack = old.stack;
            leaf.module_path = old.module_path;
            map_[value] = result_.graph.add(std::move(leaf));
            result_.inputs.push_back(value);
        }
        for (const SubgraphValue& value : outside_) {
            const Node& old = node(value.node);
            if (old.kind != NodeKind::get_attr) continue;
            result_.graph.attributes[old.target] = from_.attributes.at(old.target);
            map_[value] = result_.graph.add(old);
        }
    }

    std::string name_of(const SubgraphValue& value) const {
        const auto getitem = names_.find(value);
        if (getitem != names_.end()) return getitem->second;
        return node(value.node).name + (value.result ? '_' + std::to_string(value.result) : "");
    }

    void add_call(NodeId id) {
        const Node& old = node(id);
        const NodeRef ref =
            result_.graph.add(map_inputs(old, [&](NodeRef input) { return Arg(map_.at(value_of(input))); }));
        for (int i = 0; i < static_cast<int>(old.results.size()); i++) {
            const SubgraphValue value{id, i};
            if (old.results.size() == 1)
                map_[value] = ref;
            else if (read_.contains(value) || is_output(value))
                map_[value] = add_getitem(ref, value);
        }
    }

    NodeRef add_getitem(NodeRef producer, const SubgraphValue& value) {
        Node read;
        read.name = name_of(value);
        if (read.name == node(value.node).name) read.name += "_0";
        read.target = std::string(kGetItem);
        read.args = {Arg(producer), Arg(value.result)};
        read.results = {node(value.node).results.at(static_cast<std::size_t>(value.result))};
        read.stack = node(value.node).stack;
        read.module_path = node(value.node).module_path;
        return result_.graph.add(std::move(read));
    }

    /// Returned by the original, or a sink here; of several results none of which is read, all are.
    bool is_output(const SubgraphValue& value) const {
        if (returned_.contains(value)) return true;
        const auto first = read_.lower_bound({value.node, 0});
        return first == read_.end() || first->node != value.node;
    }

    /// What the original returned, in its order, then the new sinks.
    void add_outputs() {
        std::vector<NodeRef> refs;
        std::set<SubgraphValue> listed;
        const auto list = [&](const SubgraphValue& value) {
            if (!is_kept(value.node) || !listed.insert(value).second) return;
            refs.push_back(map_.at(value));
            result_.outputs.push_back(value);
        };
        for (NodeId id : from_.outputs()) list(value_of({id}));
        for (NodeId id : kept_)
            for (int i = 0; i < static_cast<int>(node(id).results.size()); i++)
                if (is_output({id, i})) list({id, i});
        result_.graph.output(refs);
    }

    const Graph& from_;
    std::span<const NodeId> kept_;
    Subgraph result_;
    std::set<SubgraphValue> read_, outside_,
        returned_;                                // values read within, read from outside, returned by the original
    std::map<SubgraphValue, std::string> names_;  // of the getitems that read them
    std::map<SubgraphValue, NodeRef> map_;
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
        const bool getitem = node.kind == NodeKind::call && node.target == kGetItem;
        if (getitem || kept(id)) continue;
        for_each_input(node, [&](NodeRef ref) {
            const Node& value = graph.node(ref);
            const bool item = value.kind == NodeKind::call && value.target == kGetItem;
            if (kept(item ? value.args.at(0).node()->id : ref.id)) output.args.emplace_back(ref);
        });
    }
    return subgraph(read, calls);
}

}  // namespace whittle
