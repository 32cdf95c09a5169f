// A graph as calls of LibTorch's operators, whatever is made of them: a TorchScript graph, or C++. Includes LibTorch's
// headers: for the files of this folder.
#pragma once

#include <ATen/core/jit_type.h>

#include <string>
#include <vector>

#include "backends/libtorch/operators.h"
#include "backends/libtorch/values.h"
#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"

namespace whittle::aten {

/// Whether a list of the type holds tensors.
inline bool holds_tensors(const c10::Type& element) {
    if (element.kind() == c10::TypeKind::OptionalType)
        return holds_tensors(*element.expectRef<c10::OptionalType>().getElementType());
    return element.kind() == c10::TypeKind::TensorType;
}

/// `Value` stands for a tensor, or for another argument of an operator. What LibTorch has not is decomposed.
template <class Value>
class Translation {
  public:
    using Values = std::vector<Value>;

    virtual ~Translation() = default;

  protected:
    /// An attribute of the graph itself.
    virtual Value attribute(const std::string& target) = 0;
    /// A constant that a decomposition brings along.
    virtual Value tensor(const Tensor& tensor) = 0;
    /// What is no tensor, or a number in a tensor's place.
    virtual Value constant(const c10::IValue& value) = 0;
    virtual Value list(const c10::TypePtr& element, const Values& elements) = 0;
    /// Results of a call, lists flattened; `operands` are in the order of the schema.
    virtual Values call_of(const c10::OperatorHandle& op, const Node& call, const Values& operands) = 0;

    /// The graph's outputs. Throws Error for a call that does not fit LibTorch's schema, and for what has no
    /// decomposition either.
    Values translate(const Graph& graph, const Values& inputs) {
        return body(graph, inputs, [this](const std::string& target) { return attribute(target); });
    }

  private:
    using ByNode = std::vector<Values>;

    template <class Attribute>
    Values body(const Graph& graph, const Values& inputs, Attribute attribute_of) {
        ByNode values(graph.nodes.size());
        std::size_t next = 0;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (node.kind == NodeKind::placeholder) values[i] = {inputs.at(next++)};
            if (node.kind == NodeKind::get_attr) values[i] = {attribute_of(node.target)};
            if (node.kind == NodeKind::call) values[i] = results(graph, node, values);
        }
        Values outputs;
        for (const NodeId id : graph.outputs()) outputs.push_back(values.at(static_cast<std::size_t>(id)).at(0));
        return outputs;
    }

    static const Value& value_in(const ByNode& values, NodeRef ref) {
        return values.at(static_cast<std::size_t>(ref.id)).at(0);
    }

    Values results(const Graph& graph, const Node& call, const ByNode& values) {
        if (const auto read = item_read(call))
            return {values.at(static_cast<std::size_t>(read->node)).at(static_cast<std::size_t>(read->index))};
        try {
            const Node named = spelled(call);
            if (const auto op = find_operator(named.target)) return call_of(*op, named, operands(*op, named, values));
            return expanded(graph, call, values);
        } catch (Error& error) {
            error.locate({{}, "%" + call.name + " = " + call.target});
            throw;
        }
    }

    Values expanded(const Graph& graph, const Node& call, const ByNode& values) {
        const Expansion expansion = expand(graph, call);
        Values inputs;
        for (const NodeRef operand : expansion.operands) inputs.push_back(value_in(values, operand));
        return body(expansion.graph, inputs,
                    [&](const std::string& target) { return tensor(expansion.graph.attributes.at(target)); });
    }

    Values operands(const c10::OperatorHandle& op, const Node& call, const ByNode& values) {
        const c10::FunctionSchema& schema = op.schema();
        const std::vector<const Arg*> bound = bind(call, schema);
        Values result;
        for (std::size_t i = 0; i < bound.size(); ++i) {
            const c10::Argument& parameter = schema.arguments()[i];
            result.push_back(bound[i] ? operand(*bound[i], parameter, *parameter.real_type(), values)
                                      : constant(default_of(call, parameter)));
        }
        return result;
    }

    Value operand(const Arg& arg, const c10::Argument& parameter, const c10::Type& type, const ByNode& values) {
        if (const NodeRef* ref = arg.node()) return value_in(values, *ref);
        if (type.kind() == c10::TypeKind::OptionalType && arg.is_none()) return constant(c10::IValue());
        if (type.kind() == c10::TypeKind::OptionalType)
            return operand(arg, parameter, *type.expectRef<c10::OptionalType>().getElementType(), values);
        const auto* of = type.kind() == c10::TypeKind::ListType ? &type.expectRef<c10::ListType>() : nullptr;
        if (of && arg.list() && holds_tensors(*of->getElementType())) {
            Values elements;
            for (const Arg& one : *arg.list())
                elements.push_back(operand(one, parameter, *of->getElementType(), values));
            return list(of->getElementType(), elements);
        }
        return constant(boxed(arg, parameter, [](NodeRef) -> at::Tensor {
            throw Error("found a tensor among numbers, expected only numbers");
        }));
    }
};

}  // namespace whittle::aten
