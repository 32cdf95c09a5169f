#include "passes/no_grad.h"

#include <algorithm>

#include "graph/value_ref.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

/// Ops whose results never require a gradient.
bool ends(const Node& node) {
    const RegisteredOp* op = Registry::instance().op(node.target);
    return op && op->def->grad == no_gradient;
}

class Ender {
  public:
    explicit Ender(const Graph& from)
        : from_(from), rewriter_(from), builder_(rewriter_.graph()), tracked_(from.nodes.size(), false) {}

    Graph run() {
        for (NodeId id = 0; id < static_cast<NodeId>(from_.nodes.size()); ++id) visit(id, from_.node({id}));
        return rewriter_.finish();
    }

  private:
    bool tracked(NodeRef ref) const { return tracked_[static_cast<std::size_t>(ref.id)]; }

    void visit(NodeId id, const Node& node) {
        if (node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr)
            tracked_[static_cast<std::size_t>(id)] = node.meta().requires_grad;
        if (node.kind != NodeKind::call) {
            rewriter_.copy(id);
            return;
        }
        if (writes(node)) return write(id, node);
        bool any = false;
        for_each_input(node, [&](NodeRef ref) { any = any || tracked(ref); });
        const bool inexact = std::ranges::any_of(node.results, [](const auto& m) { return is_inexact(m.dtype); });
        const bool wanted = std::ranges::any_of(node.results, [](const auto& m) { return m.requires_grad; });
        // Of several results each is asked about where it is read.
        tracked_[static_cast<std::size_t>(id)] = any && inexact && (wanted || node.results.size() > 1);
        const NodeRef copy = rewriter_.copy(id);
        if (any && inexact && !wanted && !ends(node) && node.results.size() == 1)
            rewriter_.replace(id, detached(copy, node));
    }

    void write(NodeId id, const Node& node) {
        const bool with_gradient = node.meta().requires_grad;
        const NodeRef self = written_operand(node);
        if (with_gradient) tracked_[static_cast<std::size_t>(self.id)] = true;
        tracked_[static_cast<std::size_t>(id)] = tracked(self);
        rewriter_.work_on(id);
        Node copy = map_inputs(node, [&](NodeRef ref) {
            const NodeRef now = rewriter_.mapped(ref);
            return Arg(with_gradient || ref == self || !tracked(ref) ? now : detached(now, node));
        });
        rewriter_.replace(id, rewriter_.graph().add(std::move(copy)));
    }

    NodeRef detached(NodeRef value, const Node& by) {
        builder_.set_origin(by);
        return builder_.call("aten.detach.default", {Arg(value)}).ref;
    }

    const Graph& from_;
    Rewriter rewriter_;
    GraphBuilder builder_;
    std::vector<bool> tracked_;  ///< of each node: a gradient may flow through it
};

/// Though an operand has one, and the op, too.
bool gives_no_gradient(const Graph& graph, const Node& node) {
    if (!is_op_call(node) || !Registry::instance().op(node.target) || ends(node) || node.results.size() != 1)
        return false;
    bool any = false;
    for_each_input(node, [&](NodeRef ref) { any = any || graph.node(ref).meta().requires_grad; });
    return any && is_floating(node.meta().dtype) && !node.meta().requires_grad;
}

}  // namespace

std::optional<NodeId> where_gradients_end(const Graph& captured) {
    std::vector<bool> reached(captured.nodes.size(), false);  // by gradients, if nothing ended them
    for (const NodeId id : captured.outputs())
        reached[static_cast<std::size_t>(id)] = captured.node({id}).meta().requires_grad;
    for (auto id = static_cast<NodeId>(captured.nodes.size()); id-- > 0;) {
        if (!reached[static_cast<std::size_t>(id)]) continue;
        for_each_input(captured.node({id}), [&](NodeRef ref) { reached[static_cast<std::size_t>(ref.id)] = true; });
        if (gives_no_gradient(captured, captured.node({id}))) return id;
    }
    return std::nullopt;
}

Graph end_gradients(const Graph& captured) { return Ender(captured).run(); }

Graph with_gradients_told(Graph functional) {
    for (Node& node : functional.nodes) {
        if (node.kind != NodeKind::call) continue;
        bool any = false;
        for_each_input(node, [&](NodeRef ref) {
            const std::vector<ValueMeta>& results = functional.node(ref).results;
            any = any || std::ranges::any_of(results, [](const ValueMeta& meta) { return meta.requires_grad; });
        });
        for (ValueMeta& meta : node.results) meta.requires_grad = any && !ends(node) && is_inexact(meta.dtype);
    }
    return functional;
}

Graph without_requires_grad(Graph graph) {
    for (Node& node : graph.nodes)
        for (ValueMeta& meta : node.results) meta.requires_grad = false;
    return graph;
}

}  // namespace whittle
