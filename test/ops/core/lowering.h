// Lowers one call for the tests: through its own `lower`, or through its decomposition where it is a composite.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "expr/builder.h"
#include "ops/core/registry.h"

namespace whittle::test {

/// An op on the way has neither lower nor decompose.
struct NotLowered {
    std::string op;
};

/// Group inputs and the tensors they take, collected while lowering.
struct Lowering {
    expr::GroupBuilder builder;
    std::map<std::string, Tensor> inputs = {};

    expr::Value input(const Tensor& tensor) {
        const std::string name = "in" + std::to_string(inputs.size());
        inputs[name] = tensor;
        return builder.input(name, tensor.dtype(), tensor.sizes(), tensor.strides());
    }

    /// The tensors of the group's inputs; finish() drops those that no stage reads.
    std::vector<Tensor> used_by(const expr::Group& group) const {
        std::vector<Tensor> result;
        for (const expr::Input& used : group.inputs) result.push_back(inputs.at(used.name));
        return result;
    }

    /// Values of the graph's outputs, given those of its placeholders. Throws NotLowered.
    std::vector<expr::Value> graph(const Graph& graph, const std::vector<expr::Value>& placeholders) {
        std::vector<std::vector<expr::Value>> values(graph.nodes.size());
        const auto at = [&](NodeRef ref) -> const std::vector<expr::Value>& {
            return values.at(static_cast<std::size_t>(ref.id));
        };
        std::size_t next = 0;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (node.kind == NodeKind::placeholder) values[i] = {placeholders.at(next++)};
            if (node.kind == NodeKind::get_attr) values[i] = {input(graph.attributes.at(node.target))};
            if (node.kind == NodeKind::call) values[i] = call(graph, node, at);
        }
        std::vector<expr::Value> outputs;
        for (const NodeId id : graph.outputs()) outputs.push_back(values.at(static_cast<std::size_t>(id)).at(0));
        return outputs;
    }

  private:
    template <class At>
    std::vector<expr::Value> call(const Graph& graph, const Node& node, const At& at) {
        if (node.target == kGetItem)
            return {at(*node.args[0].node()).at(static_cast<std::size_t>(std::get<std::int64_t>(node.args[1].value)))};
        const RegisteredOp& op = Registry::instance().require(node.target);
        for (const ValueMeta& meta : node.results)
            if (is_complex(meta.dtype)) throw NotLowered{node.target};  // expressions have no complex numbers
        if (op.def->lower) {
            builder.set_origin(node.name, node.target);
            const Arguments<expr::Value> arguments(op.schema, node, [&](NodeRef ref) { return at(ref).at(0); });
            std::vector<expr::Value> results = op.def->lower(builder, arguments);
            WHITTLE_CHECK(results.size() == node.results.size(),
                          node.target + ": lower gives another number of results");
            for (std::size_t i = 0; i < results.size(); ++i)
                WHITTLE_CHECK(
                    results[i].dtype() == node.results[i].dtype && results[i].sizes() == node.results[i].sizes,
                    node.target + ": lower gives " + std::string(name(results[i].dtype())) +
                        to_string(results[i].sizes()) + ", infer " + std::string(name(node.results[i].dtype)) +
                        to_string(node.results[i].sizes));
            return results;
        }
        if (!op.def->decompose) throw NotLowered{node.target};
        const Expansion expansion = expand(graph, node);
        std::vector<expr::Value> operands;
        for (const NodeRef operand : expansion.operands) operands.push_back(at(operand).at(0));
        return this->graph(expansion.graph, operands);
    }
};

}  // namespace whittle::test
