#include "passes/partition.h"

#include <set>
#include <utility>

#include "graph/value_ref.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/joint_facts.h"
#include "passes/recompute.h"
#include "passes/rewriter.h"
#include "passes/same_views.h"

namespace whittle {
namespace {

/// Makes the two graphs.
class Splitter {
  public:
    Splitter(const JointFacts& facts, std::vector<bool> again)
        : facts_(facts),
          graph_(facts.graph),
          again_(std::move(again)),
          read_(read_by_backward(facts, again_)),
          backward_(graph_) {}

    Partition run() {
        Partition result;
        make_backward(result);
        make_forward(result);
        std::vector<bool> saved;
        for (std::size_t i = 0; i < facts_.count(); ++i) saved.push_back(is_saved(i));
        result.saved_bytes = facts_.bytes_of(saved);
        std::set<std::string> before;
        for (const Node& node : result.forward.nodes)
            if (is_op_call(node)) before.insert(node.name);
        for (const Node& node : result.backward.nodes)
            if (before.contains(node.name) && is_op_call(node)) result.recomputed.push_back(node.name);
        return result;
    }

  private:
    bool is_saved(std::size_t i) const { return read_[i] && !again_[i] && graph_.nodes[i].kind == NodeKind::call; }

    void make_backward(Partition& result) {
        for (std::size_t i = 0; i < facts_.primals.size(); ++i)
            if (read_[node_index(facts_.primals[i])]) {
                backward_.copy(facts_.primals[i]);
                result.saved.push_back({.is_output = false, .position = i});
            }
        std::size_t position = facts_.outputs.size();
        for (std::size_t i = 0; i + 1 < graph_.nodes.size(); ++i) {
            if (!is_saved(i)) continue;
            const Node& node = graph_.nodes[i];
            backward_.work_on(static_cast<NodeId>(i));
            backward_.replace(static_cast<NodeId>(i), backward_.graph().placeholder(node.name, node.meta()));
            result.saved.push_back({.is_output = true, .position = position++});
        }
        for (const NodeId id : facts_.tangents) backward_.copy(id);
        for (std::size_t i = 0; i + 1 < graph_.nodes.size(); ++i)
            if (read_[i] && facts_.backward[i]) emit(static_cast<NodeId>(i));
        std::vector<NodeRef> gradients;
        for (const NodeId id : facts_.gradients) {
            emit(id);
            gradients.push_back(backward_.mapped({id}));
        }
        backward_.work_on(static_cast<NodeId>(graph_.nodes.size()) - 1);
        backward_.graph().output(gradients);
        Origins live;
        result.backward = named(dce(backward_.finish(), &live), "backward");
        result.backward_origins = through(live, backward_.origins());
    }

    /// The node, behind what it reads; on a stack of our own, since chains may be long.
    void emit(NodeId id) {
        std::vector<NodeId> stack = {id};
        while (!stack.empty()) {
            const NodeId top = stack.back();
            std::vector<NodeId> missing;
            if (!backward_.has({top}))
                for_each_input(graph_.nodes[node_index(top)], [&](NodeRef ref) {
                    if (!backward_.has(ref)) missing.push_back(ref.id);
                });
            if (missing.empty()) {
                stack.pop_back();
                if (!backward_.has({top})) backward_.copy(top);
            }
            stack.insert(stack.end(), missing.rbegin(), missing.rend());
        }
    }

    void make_forward(Partition& result) {
        Rewriter forward(graph_);
        for (std::size_t i = 0; i + 1 < graph_.nodes.size(); ++i)
            if (!facts_.backward[i]) forward.copy(static_cast<NodeId>(i));
        std::vector<NodeRef> outputs;
        for (const NodeId id : facts_.outputs) outputs.push_back(forward.mapped({id}));
        for (std::size_t i = 0; i + 1 < graph_.nodes.size(); ++i)
            if (is_saved(i)) outputs.push_back(forward.mapped({static_cast<NodeId>(i)}));
        forward.work_on(static_cast<NodeId>(graph_.nodes.size()) - 1);
        forward.graph().output(outputs);
        Origins live;
        result.forward = named(dce(forward.finish(), &live), "forward");
        result.forward_origins = through(live, forward.origins());
    }

    static Graph named(Graph graph, const std::string& part) {
        graph.name += "_" + part;
        return graph;
    }

    const JointFacts& facts_;
    const Graph& graph_;
    const std::vector<bool> again_;
    const std::vector<bool> read_;  ///< by the backward graph: computed there, or given to it
    Rewriter backward_;
};

/// The joint graph, in which nothing is done twice: neither equal calls nor views that undo each other. `merged`: the
/// joint graph's nodes that each node stands for.
Graph tidied(const Joint& joint, Origins& merged) {
    Origins equal, same, live;
    const Graph once = cse(joint.graph, {}, &equal);
    const std::vector<NodeId> own = once.outputs();  // an output that shows an input stays a view of it
    const std::set<NodeId> kept(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(joint.outputs));
    Graph tidy = dce(same_views(once, kept, &same), &live);
    merged = through(live, through(same, equal));
    return tidy;
}

/// As Cut has it.
std::size_t hash_of_calls(const Graph& graph) {
    std::size_t hash = graph.nodes.size();
    const auto mix = [&](std::size_t part) { hash ^= part + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2); };
    for (const Node& node : graph.nodes) {
        mix(static_cast<std::size_t>(node.kind));
        mix(std::hash<std::string>()(node.target));
        for_each_input(node, [&](NodeRef ref) { mix(static_cast<std::size_t>(ref.id)); });
    }
    return hash;
}

}  // namespace

Partition partition(const Joint& joint, const PartitionOptions& options) {
    const bool min_cut = options.partitioner == Partitioner::min_cut && !joint.gradients.empty();
    Origins merged;
    const Graph graph = min_cut ? tidied(joint, merged) : joint.graph;
    const JointFacts facts(graph, joint);
    Cut cut{.again = {}, .calls = hash_of_calls(graph)};
    const bool as_known = options.known && options.known->calls == cut.calls;
    if (as_known && options.known->again.size() == facts.count())
        cut.again = options.known->again;
    else
        cut.again = min_cut ? min_cut_choice(facts, joint.graph, merged, options) : default_choice(facts);
    Partition result = Splitter(facts, cut.again).run();
    result.cut = std::move(cut);
    if (min_cut) {
        result.forward_origins = through(result.forward_origins, merged);
        result.backward_origins = through(result.backward_origins, merged);
    }
    result.forward = logged("partition", joint.graph, std::move(result.forward));
    result.backward = logged("partition", joint.graph, std::move(result.backward));
    return result;
}

}  // namespace whittle
