#include "passes/partition.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/cost.h"
#include "ops/core/registry.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/log.h"
#include "passes/min_cut.h"
#include "passes/rewriter.h"
#include "passes/views.h"

namespace whittle {
namespace {

/// What keeping a byte is worth: steps of a loop. A pointwise op makes one for four bytes, so that chains of up to 128
/// of them are repeated for a value that they share, and a sum only where it is over few elements.
constexpr std::int64_t kStepsPerByte = 32;

std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }
std::size_t at(NodeRef ref) { return at(ref.id); }

std::int64_t bytes_of(const ValueMeta& meta) { return meta.numel() * static_cast<std::int64_t>(size_of(meta.dtype)); }

/// What is known of a joint graph's nodes.
struct Facts {
    Facts(const Graph& graph, const Joint& joint);

    bool is_leaf(std::size_t i) const {
        return graph.nodes[i].kind == NodeKind::placeholder || graph.nodes[i].kind == NodeKind::get_attr;
    }

    const Graph& graph;
    std::vector<NodeId> primals, tangents;  ///< the placeholders
    std::vector<NodeId> outputs, gradients;
    std::vector<bool> backward;  ///< of each node: it depends on a tangent
    std::vector<bool> forward;   ///< … the outputs need it
    std::vector<NodeId> memory;  ///< … the node whose memory it shows; itself when it has its own
    /// Calls whose further results the outputs need: statistics that the program keeps, as batch norm's.
    std::set<NodeId> gives_statistics;
};

Facts::Facts(const Graph& joint_graph, const Joint& joint) : graph(joint_graph) {
    const std::vector<NodeId> placeholders = graph.placeholders(), results = graph.outputs();
    const auto inputs = static_cast<std::ptrdiff_t>(joint.inputs), own = static_cast<std::ptrdiff_t>(joint.outputs);
    primals.assign(placeholders.begin(), placeholders.begin() + inputs);
    tangents.assign(placeholders.begin() + inputs, placeholders.end());
    outputs.assign(results.begin(), results.begin() + own);
    gradients.assign(results.begin() + own, results.end());

    const std::size_t count = graph.nodes.size();
    backward.assign(count, false);
    for (const NodeId id : tangents) backward[at(id)] = true;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        const Node& node = graph.nodes[i];
        for_each_input(node, [&](NodeRef ref) { backward[i] = backward[i] || backward[at(ref)]; });
        const std::optional<NodeRef> viewed = viewed_operand(graph, producer_of(graph, node));
        memory.push_back(viewed ? memory[at(*viewed)] : static_cast<NodeId>(i));
    }
    forward.assign(count, false);
    for (const NodeId id : outputs) {
        WHITTLE_CHECK(!backward[at(id)], "output %" + graph.node({id}).name + " depends on a tangent");
        forward[at(id)] = true;
    }
    for (std::size_t i = count - 1; i-- > 0;)
        if (forward[i]) for_each_input(graph.nodes[i], [&](NodeRef ref) { forward[at(ref)] = true; });
    for (std::size_t i = 0; i + 1 < count; ++i)
        if (const std::optional<ValueRef> read = item_read(graph.nodes[i]); read && read->index > 0 && forward[i])
            gives_statistics.insert(read->node);
}

/// Of each node, whether the backward graph computes it: whatever the forward's outputs do not need.
std::vector<bool> default_cut(const Facts& facts) {
    std::vector<bool> again;
    for (std::size_t i = 0; i + 1 < facts.graph.nodes.size(); ++i) {
        const std::optional<ValueRef> read = item_read(facts.graph.nodes[i]);
        again.push_back(read ? again[at(read->node)] : facts.backward[i] || !facts.forward[i]);
    }
    return again;
}

/// Each value that needs no tangent is an edge, cut where it is saved; a call that runs again pays by an edge from the
/// source.
class MinCut {
  public:
    explicit MinCut(const Facts& facts)
        : facts_(facts), count_(static_cast<int>(facts.graph.nodes.size()) - 1), network_(2 * count_ + 2) {}

    std::vector<bool> run() {
        std::vector<bool> needed(static_cast<std::size_t>(count_), false);  // by the sink
        for (const NodeId id : facts_.gradients) needed[at(id)] = true;
        for (int i = 0; i < count_; ++i) {
            const Node& node = facts_.graph.nodes[at(i)];
            std::set<NodeId> operands;
            for_each_input(node, [&](NodeRef ref) { operands.insert(ref.id); });
            if (facts_.backward[at(i)]) {
                for (const NodeId id : operands) needed[at(id)] = true;
                continue;
            }
            add_value(i, node);
            for (const NodeId id : operands) network_.add_edge(out(id), in(i), FlowNetwork::kNever);
        }
        for (int i = 0; i < count_; ++i)
            if (needed[at(i)] && !facts_.backward[at(i)]) network_.add_edge(out(i), sink(), FlowNetwork::kNever);

        const std::vector<bool> side = network_.sink_side(source(), sink());
        std::vector<bool> again;
        for (int i = 0; i < count_; ++i) again.push_back(facts_.backward[at(i)] || side[at(in(i))]);
        return again;
    }

  private:
    static int in(NodeId id) { return 2 * id; }
    static int out(NodeId id) { return 2 * id + 1; }
    int source() const { return 2 * count_; }
    int sink() const { return 2 * count_ + 1; }

    void add_value(NodeId id, const Node& node) {
        const bool view = facts_.memory[at(id)] != id;
        const bool leaf = facts_.is_leaf(at(id));
        const bool savable = !view && node.results.size() == 1;
        network_.add_edge(in(id), out(id),
                          leaf      ? 0
                          : savable ? bytes_of(node.meta()) * kStepsPerByte
                                    : FlowNetwork::kNever);
        if (leaf)
            network_.add_edge(source(), in(id), FlowNetwork::kNever);
        else if (!view && is_op_call(node))
            network_.add_edge(source(), in(id), price(id, node));
    }

    /// What running the call in the backward graph costs. A call that only backward needs runs once, here or there.
    std::int64_t price(NodeId id, const Node& node) const {
        if (facts_.gives_statistics.contains(id)) return FlowNetwork::kNever;
        const RegisteredOp* op = Registry::instance().op(node.target);
        if (!facts_.forward[at(id)] && op && !op->def->random) return 0;
        const std::optional<CallCost> cost = cost_of(facts_.graph, node);
        if (!cost || cost->contracts) return FlowNetwork::kNever;
        constexpr double kMost = 1e15;
        return static_cast<std::int64_t>(std::clamp(cost->steps, 1.0, kMost));
    }

    const Facts& facts_;
    const int count_;
    FlowNetwork network_;
};

/// Makes the two graphs.
class Splitter {
  public:
    Splitter(const Facts& facts, std::vector<bool> again)
        : facts_(facts), graph_(facts.graph), again_(std::move(again)), backward_(graph_) {}

    Partition run() {
        find_reads();
        Partition result;
        make_backward(result);
        make_forward(result);
        result.saved_bytes = saved_bytes();
        std::set<std::string> before;
        for (const Node& node : result.forward.nodes)
            if (is_op_call(node)) before.insert(node.name);
        for (const Node& node : result.backward.nodes)
            if (before.contains(node.name) && is_op_call(node)) result.recomputed.push_back(node.name);
        return result;
    }

  private:
    bool is_saved(std::size_t i) const { return read_[i] && !again_[i] && graph_.nodes[i].kind == NodeKind::call; }

    /// What the backward graph computes and what it is given for that.
    void find_reads() {
        read_.assign(graph_.nodes.size(), false);
        for (const NodeId id : facts_.gradients) read_[at(id)] = true;
        for (std::size_t i = graph_.nodes.size() - 1; i-- > 0;)
            if (read_[i] && again_[i]) for_each_input(graph_.nodes[i], [&](NodeRef ref) { read_[at(ref)] = true; });
    }

    void make_backward(Partition& result) {
        for (std::size_t i = 0; i < facts_.primals.size(); ++i)
            if (read_[at(facts_.primals[i])]) {
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
                for_each_input(graph_.nodes[at(top)], [&](NodeRef ref) {
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

    std::int64_t saved_bytes() const {
        std::set<NodeId> memories;
        for (std::size_t i = 0; i + 1 < graph_.nodes.size(); ++i)
            if (is_saved(i) && !facts_.is_leaf(at(facts_.memory[i]))) memories.insert(facts_.memory[i]);
        std::int64_t bytes = 0;
        for (const NodeId id : memories) bytes += bytes_of(graph_.node({id}).meta());
        return bytes;
    }

    const Facts& facts_;
    const Graph& graph_;
    const std::vector<bool> again_;
    std::vector<bool> read_;  ///< by the backward graph: computed there, or given to it
    Rewriter backward_;
};

}  // namespace

Partition partition(const Joint& joint, Partitioner partitioner) {
    const bool min_cut = partitioner == Partitioner::min_cut && !joint.gradients.empty();
    Origins merged;
    const Graph graph = min_cut ? cse(joint.graph, {}, &merged) : joint.graph;
    const Facts facts(graph, joint);
    Partition result = Splitter(facts, min_cut ? MinCut(facts).run() : default_cut(facts)).run();
    if (min_cut) {
        result.forward_origins = through(result.forward_origins, merged);
        result.backward_origins = through(result.backward_origins, merged);
    }
    result.forward = logged("partition", joint.graph, std::move(result.forward));
    result.backward = logged("partition", joint.graph, std::move(result.backward));
    return result;
}

}  // namespace whittle
