#include "passes/joint_nested.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/joined.h"
#include "ops/core/draws.h"
#include "ops/core/nested.h"
#include "passes/dce.h"
#include "passes/joint.h"
#include "passes/no_grad.h"

namespace whittle {
namespace {

constexpr std::string_view kCond = "higher_order.cond", kMap = "higher_order.map";

/// A graph on what the body is given and, behind that, gradients of those of its results that are `given` one; it
/// returns a gradient for each of the `wanted` positions of its inputs, zeros where no result depends on one.
Graph gradient_body(const Graph& body, const std::string& name, const std::set<std::size_t>& wanted,
                    const std::vector<bool>& given) {
    if (draws_random_numbers(body))
        throw Error(
            "nested graph " + name +
                ": found an op that draws random numbers, expected only deterministic ops: the gradient would draw "
                "different numbers",
            "draw the numbers outside the nested graph, and pass these numbers to the nested graph");
    const std::vector<NodeId> inputs = body.placeholders();
    const bool told = std::ranges::any_of(inputs, [&](NodeId id) { return body.node({id}).meta().requires_grad; });
    const Graph ended = told ? end_gradients(body) : body;
    JointOptions options{.wanted = std::set<std::string>()};
    for (const std::size_t i : wanted) options.wanted->insert(body.node({inputs[i]}).name);
    Joint joint;
    try {
        joint = whittle::joint(ended, options);
    } catch (const Error& error) {
        throw Error("nested graph " + name + ": " + error.message(), error.hint());
    }

    // As the call gives them: all that it was given, and gradients of all results that have one.
    Graph graph{.name = name, .attributes = joint.graph.attributes, .subgraphs = joint.graph.subgraphs};
    std::vector<NodeRef> map(joint.graph.nodes.size());
    const std::vector<NodeId> placeholders = joint.graph.placeholders();
    for (std::size_t i = 0; i < joint.inputs; ++i)
        map[static_cast<std::size_t>(placeholders[i])] = graph.add(joint.graph.node({placeholders[i]}));
    const std::vector<NodeId> results = body.outputs();
    std::vector<std::size_t> without;  // tangents that nobody gives
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto tangent = std::ranges::find(joint.tangents, i);
        const ValueMeta& meta = body.node({results[i]}).meta();
        if (given[i]) {
            const NodeRef ref =
                graph.placeholder("gradient_" + std::to_string(i), ValueMeta::contiguous(meta.dtype, meta.sizes));
            if (tangent != joint.tangents.end())
                map[static_cast<std::size_t>(
                    placeholders[joint.inputs + static_cast<std::size_t>(tangent - joint.tangents.begin())])] = ref;
        } else if (tangent != joint.tangents.end()) {
            without.push_back(static_cast<std::size_t>(tangent - joint.tangents.begin()));
        }
    }
    GraphBuilder builder(graph);
    const auto zeros = [&](const ValueMeta& meta) {
        return builder.call("aten.zeros.default", {Arg::ints(meta.sizes)}, {{"dtype", meta.dtype}}).ref;
    };
    for (const std::size_t i : without) {
        const NodeId tangent = placeholders[joint.inputs + i];
        map[static_cast<std::size_t>(tangent)] = zeros(joint.graph.node({tangent}).meta());
    }
    for (std::size_t i = 0; i + 1 < joint.graph.nodes.size(); ++i) {
        const Node& node = joint.graph.nodes[i];
        if (node.kind == NodeKind::placeholder) continue;
        map[i] = graph.add(map_inputs(node, [&](NodeRef ref) { return Arg(map[static_cast<std::size_t>(ref.id)]); }));
    }
    std::vector<NodeRef> gradients;
    const std::vector<NodeId> outputs = joint.graph.outputs();
    for (const std::size_t i : wanted) {
        const Node& input = body.node({inputs[i]});
        const auto found = std::ranges::find(joint.gradients, input.name);
        gradients.push_back(
            found == joint.gradients.end()
                ? zeros(input.meta())
                : map[static_cast<std::size_t>(
                      outputs[joint.outputs + static_cast<std::size_t>(found - joint.gradients.begin())])]);
    }
    graph.output(gradients);
    return dce(graph);
}

class NestedGradient {
  public:
    NestedGradient(GraphBuilder& builder, Gradients& gradients) : builder_(builder), gradients_(gradients) {
        for (std::size_t i = 0; i < gradients.result_count(); ++i) {
            const OptionalV gradient = gradients.grad_if_any(i);
            given_.push_back(gradient.has_value());
            if (gradient) tangents_.push_back(*gradient);
        }
    }

    void cond() {
        const Vs operands = gradients_.tensors("operands");
        const std::set<std::size_t> wanted = needed(operands);
        if (wanted.empty()) return;
        const Arg on_true = nest("true_graph", wanted), on_false = nest("false_graph", wanted);
        const Vs parts =
            call(kCond, {arg(gradients_.tensor("pred")), on_true, on_false, args_list(joined(operands, tangents_))},
                 wanted.size());
        set(operands, wanted, parts);
    }

    void map() {
        const Vs slices = gradients_.tensors("xs"), captured = gradients_.tensors("captured"),
                 operands = joined(slices, captured);
        const std::set<std::size_t> wanted = needed(operands);
        if (wanted.empty()) return;
        // The body is given slices first, then what all of them read.
        const Graph body = reordered(gradient_body(nested("body_graph"), name_of("body_graph"), wanted, given_),
                                     slices.size(), captured.size());
        const Arg nest_ref = nest(body);
        Vs parts = call(kMap, {nest_ref, args_list(joined(slices, tangents_)), args_list(captured)}, wanted.size());
        std::size_t at = 0;
        for (const std::size_t i : wanted) {
            if (i >= slices.size())
                parts[at] = builder_.call("aten.sum.dim_IntList", {arg(parts[at]), Arg::ints({0}), Arg(false)});
            ++at;
        }
        set(operands, wanted, parts);
    }

  private:
    std::set<std::size_t> needed(const Vs& operands) const {
        std::set<std::size_t> positions;
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (gradients_.needed(operands[i])) positions.insert(i);
        return positions;
    }

    void set(const Vs& operands, const std::set<std::size_t>& wanted, const Vs& parts) {
        std::size_t at = 0;
        for (const std::size_t i : wanted) gradients_.set(operands[i], parts[at++]);
    }

    const Graph& nested(const char* parameter) const { return gradients_.nested(parameter); }
    static std::string name_of(const std::string& parameter) { return parameter + "_backward"; }
    Arg nest(const char* parameter, const std::set<std::size_t>& wanted) {
        return nest(gradient_body(nested(parameter), name_of(parameter), wanted, given_));
    }
    /// Under a name that the graph has not yet.
    Arg nest(Graph graph) {
        auto& subgraphs = builder_.graph().subgraphs;
        const std::string wanted = graph.name;
        for (int i = 1; subgraphs.contains(graph.name); ++i) graph.name = wanted + "_" + std::to_string(i);
        GraphRef ref{graph.name};
        subgraphs[ref.name] = std::make_shared<const Graph>(std::move(graph));
        return Arg(std::move(ref));
    }

    /// Of placeholders (slices, captured, gradients) the gradients come before what is captured.
    static Graph reordered(Graph graph, std::size_t slices, std::size_t captured) {
        const std::vector<NodeId> placeholders = graph.placeholders();
        std::vector<NodeId> order(placeholders);
        const auto begin = order.begin() + static_cast<std::ptrdiff_t>(slices);
        std::rotate(begin, begin + static_cast<std::ptrdiff_t>(captured), order.end());
        std::vector<NodeId> to(graph.nodes.size());
        std::vector<Node> nodes;
        for (const NodeId id : order) {
            to[static_cast<std::size_t>(id)] = static_cast<NodeId>(nodes.size());
            nodes.push_back(graph.node({id}));
        }
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (graph.nodes[i].kind == NodeKind::placeholder) continue;
            to[i] = static_cast<NodeId>(nodes.size());
            nodes.push_back(map_inputs(
                graph.nodes[i], [&](NodeRef ref) { return Arg(NodeRef{to[static_cast<std::size_t>(ref.id)]}); }));
        }
        graph.nodes = std::move(nodes);
        graph.names = {};
        return graph;
    }

    Vs call(std::string_view target, ArgList args, std::size_t results) {
        if (results == 1) return {builder_.call(target, std::move(args))};
        return builder_.call_multi(target, std::move(args));
    }

    GraphBuilder& builder_;
    Gradients& gradients_;
    std::vector<bool> given_;  ///< of each result: it has a gradient
    Vs tangents_;              ///< those
};

}  // namespace

bool has_nested_gradient(std::string_view target) { return target == kCond || target == kMap; }

void differentiate_nested(GraphBuilder& builder, const Node& call, Gradients& gradients) {
    NestedGradient nested(builder, gradients);
    if (call.target == kCond)
        nested.cond();
    else
        nested.map();
}

}  // namespace whittle
