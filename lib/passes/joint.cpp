#include "passes/joint.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"
#include "passes/dce.h"
#include "passes/decompose.h"
#include "passes/joint_facts.h"
#include "passes/joint_nested.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

/// What the gradient of a placeholder or attribute is called.
const std::string& primal_name(const Node& node) {
    return node.kind == NodeKind::placeholder ? node.name : node.target;
}
bool is_primal(const Node& node) { return node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr; }

/// The call's rule, asked about `call`, a node of the builder's graph. `grads` as Gradients has them.
std::vector<Gradients::Part> ask(GraphBuilder& builder, const RegisteredOp& op, const Node& call, const Vs& results,
                                 const std::vector<OptionalV>& grads, const Gradients::Needed& needed) {
    const auto resolve = [&](NodeRef ref) { return builder.value(ref); };
    Gradients gradients(results, grads, needed, builder, op.schema, call, resolve, Call::RunGraph(), &builder.graph());
    if (op.def->grad)
        op.def->grad(gradients);
    else
        differentiate_nested(builder, call, gradients);
    return gradients.parts();
}

/// A call that gradients end at, as they do at detach.
bool ends_gradients(const Node& node) {
    const RegisteredOp* op = is_op_call(node) ? Registry::instance().op(node.target) : nullptr;
    return op && op->def->grad == no_gradient;
}

/// Which values of a graph gradients flow through.
class Flow {
  public:
    explicit Flow(const JointOptions& options) : options_(options) {}

    /// Of each node, whether it is on a way from something wanted to an output that gets a tangent.
    std::vector<bool> path(const Graph& graph) const {
        const std::vector<bool> depends = dependent(graph);
        std::vector<bool> path(graph.nodes.size(), false);
        for (const std::size_t output : differentiable_outputs(graph, depends))
            path[node_index(graph.outputs()[output])] = true;
        for (std::size_t i = graph.nodes.size(); i-- > 0;)
            if (path[i])
                for_each_input(graph.nodes[i],
                               [&](NodeRef ref) { path[node_index(ref.id)] = depends[node_index(ref.id)]; });
        return path;
    }

    std::vector<std::size_t> differentiable_outputs(const Graph& graph) const {
        return differentiable_outputs(graph, dependent(graph));
    }

    /// Calls on the path that have no rule but a decomposition. Throws Error for one that has neither.
    std::vector<bool> without_rule(const Graph& graph) const {
        std::vector<bool> chosen = path(graph);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (!chosen[i]) continue;
            const RegisteredOp* op = is_op_call(node) ? Registry::instance().op(node.target) : nullptr;
            chosen[i] = is_op_call(node) && !(op && op->def->grad) && !has_nested_gradient(node.target);
            if (chosen[i] && !(op && op->def->decompose))
                throw Error({"", place_of(graph, node)},
                            "found no gradient of " + node.target +
                                ", expected an op that has a gradient rule or a decomposition",
                            op && op->def->higher_order
                                ? "call detach() on the results of the op, or call the function without compile()"
                                : "");
        }
        return chosen;
    }

  private:
    bool wanted(const Node& node) const {
        return options_.wanted ? options_.wanted->contains(primal_name(node)) : node.meta().requires_grad;
    }

    std::vector<bool> dependent(const Graph& graph) const {
        std::vector<bool> depends(graph.nodes.size(), false);
        for (std::size_t i = 0; i < depends.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (node.kind == NodeKind::output) continue;
            const bool inexact = std::any_of(node.results.begin(), node.results.end(),
                                             [](const ValueMeta& meta) { return is_inexact(meta.dtype); });
            bool any = is_primal(node) && wanted(node);
            for_each_input(node, [&](NodeRef ref) { any = any || depends[node_index(ref.id)]; });
            if (!inexact) continue;
            depends[i] = any && !ends_gradients(node);
        }
        return depends;
    }

    std::vector<std::size_t> differentiable_outputs(const Graph& graph, const std::vector<bool>& depends) const {
        std::vector<std::size_t> positions;
        const std::vector<NodeId> outputs = graph.outputs();
        const std::size_t most = std::min(options_.outputs.value_or(outputs.size()), outputs.size());
        for (std::size_t i = 0; i < most; ++i)
            if (depends[node_index(outputs[i])]) positions.push_back(i);
        return positions;
    }

    const JointOptions& options_;
};

/// Copies the forward graph and appends its calls' gradients, last call first.
class Differentiator {
  public:
    Differentiator(const Graph& forward, const Flow& flow)
        : from_(forward), rewriter_(forward), builder_(rewriter_.graph()), path_(flow.path(forward)) {
        joint_.tangents = flow.differentiable_outputs(forward);
    }

    Joint run() {
        const auto output = static_cast<NodeId>(from_.nodes.size()) - 1;
        for (NodeId id = 0; id < output; ++id) copy(id);
        rewriter_.work_on(output);
        joint_.inputs = from_.placeholders().size();
        const std::vector<NodeId> outputs = from_.outputs();
        joint_.outputs = outputs.size();
        for (const std::size_t position : joint_.tangents) add_tangent(outputs[position]);
        for (NodeId id = output; id-- > 0;)
            if (path_[node_index(id)] && is_op_call(from_.nodes[node_index(id)])) differentiate(id);
        finish(output, outputs);
        return std::move(joint_);
    }

    const Origins& origins() const { return rewriter_.origins(); }

  private:
    /// As in the forward graph; several nodes that name one attribute are one, so that its gradients meet.
    void copy(NodeId id) {
        const Node& node = from_.nodes[node_index(id)];
        const bool repeated = node.kind == NodeKind::get_attr && !attributes_.emplace(node.target, id).second;
        if (repeated)
            rewriter_.replace(id, rewriter_.mapped({attributes_.at(node.target)}));
        else
            rewriter_.copy(id);
        const NodeRef ref = rewriter_.mapped({id});
        if (const std::optional<ValueRef> read = item_read(rewriter_.graph().node(ref))) items_.emplace(*read, ref);
        if (path_[node_index(id)]) on_path_.insert(ref.id);
    }

    void add_tangent(NodeId output) {
        const NodeRef of = rewriter_.mapped({output});
        const ValueMeta meta = rewriter_.graph().node(of).meta();
        const NodeRef tangent = rewriter_.graph().placeholder("tangent_" + rewriter_.graph().node(of).name,
                                                              ValueMeta::contiguous(meta.dtype, meta.sizes));
        accumulate(of, builder_.value(tangent));
    }

    void accumulate(NodeRef operand, const V& part) {
        const ValueRef value = value_of(rewriter_.graph(), operand);
        const auto [sum, first] = gradients_.emplace(value, part);
        if (!first) sum->second = builder_.call("aten.add.Tensor", {arg(sum->second), arg(part)});
    }

    void differentiate(NodeId id) {
        const NodeRef ref = rewriter_.mapped({id});
        const Node call = rewriter_.graph().node(ref);
        std::vector<OptionalV> grads;
        bool any = false;
        for (int i = 0; i < static_cast<int>(call.results.size()); ++i) {
            const auto found = gradients_.find({ref.id, i});
            grads.push_back(found == gradients_.end() ? std::nullopt : std::optional(found->second));
            any = any || grads.back();
        }
        if (!any) return;
        rewriter_.work_on(id);
        builder_.set_origin(backward_origin(call));
        try {
            const auto needed = [this](NodeRef operand) { return on_path_.contains(operand.id); };
            const RegisteredOp& op = Registry::instance().require(call.target);
            for (const Gradients::Part& part : ask(builder_, op, call, results_of(ref, call), grads, needed))
                accumulate(part.operand, part.gradient);
        } catch (const Error& error) {
            throw Error({error.where().file, place_of(from_, from_.nodes[node_index(id)])},
                        "the gradient of " + call.target + ": " + error.message(), error.hint());
        }
    }

    static Node backward_origin(Node call) {
        call.name += "_grad";
        return call;
    }

    Vs results_of(NodeRef ref, const Node& call) {
        if (call.results.size() == 1) return {builder_.value(ref)};
        Vs results;
        for (int i = 0; i < static_cast<int>(call.results.size()); ++i) {
            const auto [item, absent] = items_.try_emplace({ref.id, i});
            if (absent) item->second = rewriter_.graph().add(getitem(ref, i, call));
            results.push_back(builder_.value(item->second));
        }
        return results;
    }

    void finish(NodeId output, const std::vector<NodeId>& outputs) {
        rewriter_.work_on(output);
        std::vector<NodeRef> results;
        for (const NodeId id : outputs) results.push_back(rewriter_.mapped({id}));
        std::set<NodeId> listed;
        for (NodeId id = 0; id < output; ++id) {
            const Node& node = from_.nodes[node_index(id)];
            if (!is_primal(node)) continue;
            const NodeRef ref = rewriter_.mapped({id});
            const auto gradient = gradients_.find({ref.id, 0});
            if (!path_[node_index(id)] || gradient == gradients_.end() || !listed.insert(ref.id).second) continue;
            results.push_back(gradient->second.ref);
            joint_.gradients.push_back(primal_name(node));
        }
        rewriter_.graph().output(results);
        joint_.graph = rewriter_.finish();
    }

    const Graph& from_;
    Rewriter rewriter_;
    GraphBuilder builder_;
    const std::vector<bool> path_;
    std::set<NodeId> on_path_;                  // in the new graph
    std::map<std::string, NodeId> attributes_;  // the first node of each
    std::map<ValueRef, NodeRef> items_;         // getitems of the new graph
    std::map<ValueRef, V> gradients_;           // so far, of values of the new graph
    Joint joint_;
};

void check_wanted(const Graph& graph, const JointOptions& options) {
    if (!options.wanted) return;
    for (const std::string& name : *options.wanted) {
        const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                        [&](const Node& node) { return is_primal(node) && primal_name(node) == name; });
        if (found == graph.nodes.end() || !is_inexact(found->meta().dtype))
            throw Error({"", "graph " + graph.name}, "cannot differentiate with respect to '" + name +
                                                         "': expected a floating-point placeholder or attribute");
    }
}

}  // namespace

Joint joint(const Graph& functional, const JointOptions& options, Origins* origins) {
    check_wanted(functional, options);
    const Flow flow(options);
    if (flow.differentiable_outputs(functional).empty()) {
        if (origins) *origins = own_origins(functional);
        return {functional, functional.placeholders().size(), {}, functional.outputs().size(), {}};
    }
    Origins decomposed, differentiated, live;
    // Rules make ATen calls: a graph of another dialect becomes one of ATen first.
    const Graph in_aten = functional.dialect == "aten" ? functional : decompose(functional, {}, &decomposed);
    Origins rules;
    const Graph forward =
        decompose(in_aten, {.chosen = [&](const Graph& graph) { return flow.without_rule(graph); }}, &rules);
    decomposed = functional.dialect == "aten" ? std::move(rules) : through(rules, decomposed);
    Differentiator differentiator(forward, flow);
    Joint result = differentiator.run();
    differentiated = through(differentiator.origins(), decomposed);
    result.graph = logged("joint", functional, dce(result.graph, &live));
    if (origins) *origins = through(live, differentiated);
    return result;
}

}  // namespace whittle
