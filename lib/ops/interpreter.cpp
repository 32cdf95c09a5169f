#include "ops/interpreter.h"

#include <utility>

#include "base/error.h"
#include "graph/text.h"

namespace whittle {

namespace {

/// last[i] = the last node that reads node i (its own position when none does).
std::vector<NodeId> last_uses(const Graph& graph) {
    std::vector<NodeId> last(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        last[i] = static_cast<NodeId>(i);
        for_each_input(graph.nodes[i],
                       [&](NodeRef ref) { last.at(static_cast<std::size_t>(ref.id)) = static_cast<NodeId>(i); });
    }
    return last;
}

void check_input(const Graph& graph, const Node& placeholder, const Tensor& input) {
    const ValueMeta& meta = placeholder.meta();
    if (input.dtype() == meta.dtype && input.sizes() == meta.sizes) return;
    throw Error("graph " + graph.name + ": input %" + placeholder.name + " is " + std::string(name(input.dtype())) +
                to_string(input.sizes()) + ", expected " + std::string(name(meta.dtype)) + to_string(meta.sizes));
}

}  // namespace

std::vector<Tensor> Interpreter::run(const Graph& graph, std::span<const Tensor> inputs) {
    const std::vector<NodeId> last = last_uses(graph);
    std::vector<std::vector<Tensor>> values(graph.nodes.size());
    const auto results_of = [&](NodeRef ref) -> const std::vector<Tensor>& {
        return values.at(static_cast<std::size_t>(ref.id));
    };
    std::size_t next_input = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        switch (node.kind) {
            case NodeKind::placeholder:
                if (next_input == inputs.size())
                    throw Error("graph " + graph.name + ": found " + std::to_string(inputs.size()) +
                                " inputs, expected " + std::to_string(graph.placeholders().size()));
                check_input(graph, node, inputs[next_input]);
                values[i] = {inputs[next_input++]};
                break;
            case NodeKind::get_attr:
                values[i] = {graph.attributes.at(node.target)};
                break;
            case NodeKind::call:
                values[i] = call(graph, node, results_of);
                break;
            case NodeKind::output: {
                if (next_input != inputs.size())
                    throw Error("graph " + graph.name + ": found " + std::to_string(inputs.size()) +
                                " inputs, expected " + std::to_string(next_input));
                std::vector<Tensor> outputs;
                for (const Arg& arg : node.args) outputs.push_back(results_of(*arg.node()).at(0));
                return outputs;
            }
        }
        observe(graph, static_cast<NodeId>(i), values[i]);
        if (last[i] == static_cast<NodeId>(i)) values[i].clear();
        for_each_input(node, [&](NodeRef ref) {
            if (last.at(static_cast<std::size_t>(ref.id)) == static_cast<NodeId>(i))
                values.at(static_cast<std::size_t>(ref.id)).clear();
        });
    }
    WHITTLE_CHECK(false, "graph " + graph.name + " has no output node");
    return {};
}

std::vector<Tensor> Interpreter::call(const Graph& graph, const Node& node, const ResultsOf& results_of) {
    try {
        if (node.target == kGetItem) {
            const std::vector<Tensor>& results = results_of(*node.args.at(0).node());
            return {results.at(static_cast<std::size_t>(std::get<std::int64_t>(node.args.at(1).value)))};
        }
        const RegisteredOp& op = Registry::instance().require(node.target);
        const Arguments<Tensor> arguments(
            op.schema, node, [&](NodeRef ref) { return results_of(ref).at(0); },
            [&](const std::string& name, const std::vector<Tensor>& inputs) {
                const auto found = graph.subgraphs.find(name);
                if (found == graph.subgraphs.end()) throw Error("no nested graph '" + name + "'");
                return run(*found->second, inputs);
            },
            &graph);
        return step(graph, node, arguments);
    } catch (const Error& error) {
        if (!error.where().position.empty()) throw;  // a nested graph has named its node
        throw Error({error.where().file, place_of(graph, node)}, error.message(), error.hint());
    }
}

std::vector<Tensor> Interpreter::step(const Graph& graph, const Node& call, const Arguments<Tensor>& arguments) {
    const RegisteredOp& registered = Registry::instance().require(call.target);
    const OpDef& op = *registered.def;
    if (op.eval) {
        check_main_dtype(registered, arguments);
        return op.eval(arguments);
    }
    if (!op.decompose) throw Error("no kernel for " + call.target);
    const Expansion expansion = expand(graph, call);
    std::vector<Tensor> inputs;
    for (const NodeRef operand : expansion.operands) inputs.push_back(arguments.value(operand));
    return evaluate(expansion.graph, inputs);
}

void Interpreter::observe(const Graph&, NodeId, std::span<const Tensor>) {}

std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs) {
    Interpreter interpreter;
    return interpreter.run(graph, inputs);
}

}  // namespace whittle
