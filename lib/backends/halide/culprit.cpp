#include "backends/halide/culprit.h"

#include <map>

#include "backends/halide/plan.h"
#include "expr/interpret.h"
#include "ops/core/recorder.h"
#include "passes/subgraph.h"
#include "tensor/compare.h"

namespace whittle::halide {
namespace {

using Values = std::map<ValueRef, Tensor>;

constexpr double kMostWork = 2e8;  // expression nodes that the interpreter of groups may evaluate: about ten seconds

/// Expression nodes that interpreting the plan evaluates.
double work(const Plan& plan) {
    double total = 0;
    for (const Kernel& kernel : plan.kernels)
        for (const expr::Stage& stage : kernel.group.stages) {
            total +=
                static_cast<double>(element_count(stage.sizes())) * static_cast<double>(expr::node_count(stage.value));
            for (const expr::Update& update : stage.updates) {
                double points = static_cast<double>(expr::node_count(update.value));
                for (const expr::LoopVar& var : expr::loops_of(stage, update))
                    points *= static_cast<double>(var.extent);
                total += points;
            }
        }
    return total;
}

/// Whether the plan, read by the interpreter of groups instead of Halide, gives the expected outputs.
bool lowers_well(const Plan& plan, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                 const Accuracy& accuracy) {
    Values values;
    std::size_t next = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(plan.graph.nodes.size()); id++) {
        const Node& node = plan.graph.nodes[static_cast<std::size_t>(id)];
        if (node.kind == NodeKind::placeholder) values[{id, 0}] = inputs[next++];
        if (node.kind == NodeKind::get_attr) values[{id, 0}] = plan.graph.attributes.at(node.target);
    }
    for (const Kernel& kernel : plan.kernels) {
        std::vector<Tensor> operands;
        for (const ValueRef& input : kernel.inputs) operands.push_back(values.at(input));
        const std::vector<Tensor> results = expr::interpret(kernel.group, operands);
        for (std::size_t i = 0; i < results.size(); i++) values[kernel.outputs[i]] = results[i];
    }
    for (std::size_t i = 0; i < plan.outputs.size(); i++) {
        const auto value = values.find(plan.outputs[i]);  // an empty tensor is computed by no kernel
        if (value != values.end() && compare(value->second, expected[i], accuracy)) return false;
    }
    return true;
}

/// Whether a call of the plan's graph, alone, is lowered to what the reference computed.
bool lowers_alone(const Graph& core, NodeId id, const Values& values, const Failure& failure) {
    const Subgraph part = subgraph(core, std::vector<NodeId>{id});
    BackendOptions options = failure.options;
    options.erase("disable");
    const auto planned = plan(part.graph, options);
    const Plan* plan = std::get_if<Plan>(&planned);
    if (!plan) return true;  // nobody can say
    const auto tensors = [&](const std::vector<ValueRef>& keys) {
        std::vector<Tensor> result;
        for (const ValueRef& key : keys) result.push_back(values.at(key));
        return result;
    };
    return lowers_well(*plan, tensors(part.inputs), tensors(part.outputs), failure.accuracy);
}

}  // namespace

std::optional<Switchable::Parts> parts_of(const Graph& graph, const BackendOptions& options) {
    const auto planned = plan(graph, options);
    const Plan* plan = std::get_if<Plan>(&planned);
    if (!plan) return std::nullopt;
    Switchable::Parts parts;
    for (DirectiveText& directive : directives(*plan))
        parts.directives.push_back({std::move(directive.text), std::move(directive.needs)});
    for (const Pass& pass : passes()) {
        const std::string name(pass.name);
        // Kernels are shared after planning: the most that could be.
        const int applied =
            name == "share" ? static_cast<int>(plan->kernels.size()) - 1 : plan->limits.applications(name);
        parts.passes.push_back({name, applied});
    }
    return parts;
}

std::optional<Culprit> wrong_lowering(const Graph& graph, std::span<const Tensor> expected) {
    const Failure& failure = *graph.failure;
    const auto planned = plan(graph, failure.options);
    const Plan* plan = std::get_if<Plan>(&planned);
    if (!plan) return std::nullopt;
    const Graph& core = plan->graph;
    Recorder reference(core);
    const std::vector<Tensor> outputs = reference.run(core, failure.inputs);
    for (std::size_t i = 0; i < outputs.size(); i++)
        if (compare(outputs[i], expected[i], failure.accuracy)) return Culprit{"pass", {}, {}, "decompose"};
    if (work(*plan) > kMostWork) return std::nullopt;
    for (const NodeId id : core.calls()) {
        const Node& node = core.nodes[static_cast<std::size_t>(id)];
        if (!is_getitem(node) && !lowers_alone(core, id, reference.values, failure))
            return Culprit{"lowering", {}, {}, node.target};
    }
    if (!lowers_well(*plan, failure.inputs, expected, failure.accuracy)) return Culprit{"pass", {}, {}, "fusion"};
    return std::nullopt;
}

}  // namespace whittle::halide
