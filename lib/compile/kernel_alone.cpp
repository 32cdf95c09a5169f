#include "compile/kernel_alone.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace whittle::program {
namespace {

/// The calls without which the outputs are not computed from what is given, in order.
std::vector<NodeId> calls_between(const Graph& graph, const std::set<ValueRef>& given,
                                  const std::vector<ValueRef>& outputs) {
    std::set<NodeId> calls;
    std::vector<NodeId> open;
    for (const ValueRef& value : outputs) open.push_back(value.node);
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        const Node& node = graph.node({id});
        if (!is_op_call(node) || !calls.insert(id).second) continue;
        for_each_input(node, [&](NodeRef ref) {
            const ValueRef value = value_of(graph, ref);
            if (!given.contains(value)) open.push_back(value.node);
        });
    }
    return {calls.begin(), calls.end()};
}

/// The graph with `values` as its only outputs.
Graph returning(const Graph& graph, const std::vector<ValueRef>& values) {
    std::map<ValueRef, NodeId> read;  // the first node that stands for a value
    for (NodeId id = 0; id + 1 < static_cast<NodeId>(graph.nodes.size()); ++id)
        if (is_getitem(graph.node({id})) || graph.node({id}).results.size() == 1)
            read.try_emplace(value_of(graph, {id}), id);
    Graph result = graph;
    ArgList& outputs = result.nodes.back().args;
    outputs.clear();
    for (const ValueRef& value : values) outputs.emplace_back(NodeRef{read.at(value)});
    return result;
}

/// The results of `calls` that are given become placeholders: one kernel may write a result of a call, and a later one
/// read it and compute the others.
void read_given(Graph& graph, const std::set<ValueRef>& given, const std::vector<NodeId>& calls) {
    for (Node& node : graph.nodes) {
        if (!is_getitem(node)) continue;
        const ValueRef value = value_of(graph, {static_cast<NodeId>(&node - graph.nodes.data())});
        if (!std::ranges::binary_search(calls, value.node) || !given.contains(value)) continue;
        node.kind = NodeKind::placeholder;
        node.target = node.name;
        node.args.clear();
    }
}

/// Of values of the plan's graph those of the part's.
std::map<ValueRef, ValueRef> values_in(const Graph& plan, const Subgraph& part) {
    std::map<ValueRef, ValueRef> here;
    const std::vector<NodeId> placeholders = part.graph.placeholders(), outputs = part.graph.outputs();
    for (std::size_t i = 0; i < placeholders.size(); ++i) here[part.inputs[i]] = {placeholders[i], 0};
    for (std::size_t i = 0; i < outputs.size(); ++i) here[part.outputs[i]] = value_of(part.graph, {outputs[i]});
    std::map<std::string, NodeId> attributes;
    for (NodeId id = 0; id < static_cast<NodeId>(part.graph.nodes.size()); ++id)
        if (const Node& node = part.graph.node({id}); node.kind == NodeKind::get_attr) attributes[node.target] = id;
    for (NodeId id = 0; id < static_cast<NodeId>(plan.nodes.size()); ++id)
        if (const Node& node = plan.node({id}); node.kind == NodeKind::get_attr)
            if (const auto found = attributes.find(node.target); found != attributes.end())
                here[{id, 0}] = {found->second, 0};
    return here;
}

}  // namespace

Subgraph part_between(const Graph& graph, std::span<const ValueRef> given, const std::vector<ValueRef>& outputs) {
    const std::set<ValueRef> known(given.begin(), given.end());
    const std::vector<NodeId> calls = calls_between(graph, known, outputs);
    Graph read = returning(graph, outputs);
    read_given(read, known, calls);
    Subgraph part = subgraph(read, calls);
    for (ValueRef& value : part.inputs)
        if (is_getitem(graph.node({value.node}))) value = value_of(graph, {value.node});
    part.outputs.resize(outputs.size());  // behind them: results of calls with several that nobody reads here
    part.graph.nodes.back().args.resize(outputs.size());
    return part;
}

Subgraph part_of(const Plan& plan, std::size_t k) {
    std::vector<ValueRef> written;
    for (std::size_t before = 0; before < k; ++before)
        written.insert(written.end(), plan.kernels[before].outputs.begin(), plan.kernels[before].outputs.end());
    Subgraph part = part_between(plan.graph, written, plan.kernels.at(k).outputs);
    part.graph.name = plan.graph.name + "." + plan.kernels[k].group.name;
    return part;
}

Plan alone(const Plan& plan, std::size_t k, const Subgraph& part) {
    const std::map<ValueRef, ValueRef> here = values_in(plan.graph, part);
    Kernel kernel = plan.kernels.at(k);
    Plan one{.graph = part.graph, .kernels = {}, .outputs = {}};
    const auto place = [&](ValueRef& value) {
        const auto found = here.find(value);
        WHITTLE_CHECK(found != here.end(), "a kernel alone has no value for %" + plan.graph.node({value.node}).name);
        value = found->second;
    };
    for (ValueRef& value : kernel.outputs) place(value);
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
        place(kernel.inputs[i]);
        Node& leaf = one.graph.nodes[static_cast<std::size_t>(kernel.inputs[i].node)];
        if (leaf.kind == NodeKind::placeholder) leaf.results[0].strides = kernel.group.inputs[i].strides;
    }
    std::vector<PositionsCheck> checks;  // of values that the kernel does not read, another one does
    for (PositionsCheck check : kernel.checks) {
        const auto value = here.find(check.value);
        const Node* const call = one.graph.find(plan.graph.node({check.node}).name);
        if (value == here.end() || !call) continue;
        check.value = value->second;
        check.node = static_cast<NodeId>(call - one.graph.nodes.data());
        checks.push_back(check);
    }
    kernel.checks = std::move(checks);
    kernel.nodes.clear();
    for (const NodeId id : one.graph.calls())
        if (is_op_call(one.graph.node({id}))) kernel.nodes.push_back(id);
    one.outputs = kernel.outputs;
    one.kernels.push_back(std::move(kernel));
    return one;
}

Plan plan_of(const expr::Group& group, const expr::Schedule& schedule) {
    Plan one;
    one.graph.name = group.name;
    Kernel kernel{.group = group, .schedule = schedule, .inputs = {}, .outputs = {}, .nodes = {}};
    for (const expr::Input& input : group.inputs) {
        ValueMeta meta = ValueMeta::contiguous(input.dtype, input.sizes);
        meta.strides = input.strides;
        kernel.inputs.push_back({one.graph.placeholder(input.name, std::move(meta)).id, 0});
    }
    Node call{.kind = NodeKind::call, .name = group.name, .target = group.name};
    for (const std::string& output : group.outputs) {
        const expr::Stage& stage = *group.stage(output);
        call.results.push_back(ValueMeta::contiguous(stage.dtype, stage.sizes()));
    }
    const NodeRef made = one.graph.add(std::move(call));
    one.graph.output(add_results(one.graph, made));
    for (int i = 0; i < static_cast<int>(group.outputs.size()); ++i) kernel.outputs.push_back({made.id, i});
    kernel.nodes.push_back(made.id);
    one.outputs = kernel.outputs;
    one.kernels.push_back(std::move(kernel));
    return one;
}

}  // namespace whittle::program
