#include "backends/libtorch/script.h"

#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/libtorch/operators.h"
#include "backends/libtorch/values.h"
#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"

namespace whittle::aten {
namespace {

namespace jit = torch::jit;

/// Whether a list of the type holds tensors.
bool holds_tensors(const c10::Type& element) {
    if (element.kind() == c10::TypeKind::OptionalType)
        return holds_tensors(*element.expectRef<c10::OptionalType>().getElementType());
    return element.kind() == c10::TypeKind::TensorType;
}

class Writer {
  public:
    explicit Writer(const Graph& graph) : graph_(graph), script_{jit::Module(c10::QualifiedName("whittle.Graph")), {}} {
        self_ = made_->addInput("self");
        self_->setType(script_.module._ivalue()->type());
        // What freezing wants to know of a module.
        script_.module.register_attribute("training", c10::BoolType::get(), false);
    }

    Script run() {
        std::vector<jit::Value*> inputs;
        for (const NodeId id : graph_.placeholders())
            inputs.push_back(made_->addInput()->setDebugName("x_" + graph_.node({id}).name));
        const auto member = [this](const std::string& target) { return made_->insertGetAttr(self_, added(target)); };
        made_->registerOutput(made_->insertNode(made_->createTuple(body(graph_, inputs, member)))->output());
        const c10::QualifiedName name(*script_.module.type()->name(), "forward");
        script_.module.type()->addMethod(script_.module._ivalue()->compilation_unit()->create_function(name, made_));
        return std::move(script_);
    }

  private:
    using Values = std::vector<jit::Value*>;
    using ByNode = std::vector<Values>;

    /// The outputs of a graph. `attribute` gives the value of one of its attributes.
    template <class Attribute>
    Values body(const Graph& graph, const Values& inputs, Attribute attribute) {
        ByNode values(graph.nodes.size());
        std::size_t next = 0;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const Node& node = graph.nodes[i];
            switch (node.kind) {
                case NodeKind::placeholder:
                    values[i] = {inputs.at(next++)};
                    break;
                case NodeKind::get_attr:
                    values[i] = {attribute(node.target)};
                    break;
                case NodeKind::call:
                    values[i] = results(graph, node, values);
                    break;
                case NodeKind::output:
                    break;
            }
        }
        Values outputs;
        for (const NodeId id : graph.outputs()) outputs.push_back(values.at(static_cast<std::size_t>(id)).at(0));
        return outputs;
    }

    Values results(const Graph& graph, const Node& call, const ByNode& values) {
        if (const auto read = item_read(call))
            return {values.at(static_cast<std::size_t>(read->node)).at(static_cast<std::size_t>(read->index))};
        try {
            const Node named = spelled(call);
            if (const auto op = find_operator(named.target)) return call_of(*op, named, values);
            return expanded(graph, call, values);
        } catch (const Error& error) {
            throw Error("%" + call.name + " = " + call.target + ": " + error.message(), error.hint());
        }
    }

    Values expanded(const Graph& graph, const Node& call, const ByNode& values) {
        const Expansion expansion = expand(graph, call);
        Values operands;
        for (const NodeRef operand : expansion.operands)
            operands.push_back(values.at(static_cast<std::size_t>(operand.id)).at(0));
        return body(expansion.graph, operands, [&](const std::string& target) {
            return made_->insertConstant(memory_.lend(expansion.graph.attributes.at(target)));
        });
    }

    Values call_of(const c10::OperatorHandle& op, const Node& call, const ByNode& values) {
        const c10::FunctionSchema& schema = op.schema();
        const std::vector<const Arg*> bound = bind(call, schema);
        Values operands;
        for (std::size_t i = 0; i < bound.size(); ++i) {
            const c10::Argument& parameter = schema.arguments()[i];
            operands.push_back(bound[i] ? operand(*bound[i], parameter, *parameter.real_type(), values)
                                        : made_->insertConstant(default_of(call, parameter)));
        }
        jit::Node* node = made_->create(c10::Symbol::fromQualString(schema.name()), operands, 0);
        for (const c10::Argument& result : schema.returns()) node->addOutput()->setType(result.type());
        const auto source = std::make_shared<jit::Source>("%" + call.name + " = " + call.target);
        node->setSourceRange(jit::SourceRange(source, 0, source->size()));
        made_->insertNode(node);
        const c10::FunctionSchema* taken = node->maybeSchema();
        if (!taken || taken->overload_name() != schema.overload_name())
            throw Error("TorchScript takes it for " +
                        (taken ? "the overload '" + taken->overload_name() + "'" : std::string("no operator")));
        return flat(*node, call.results.size());
    }

    /// The results, of which LibTorch may have made a list.
    Values flat(jit::Node& node, std::size_t count) {
        Values results;
        for (jit::Value* output : node.outputs()) {
            if (output->type()->kind() != c10::TypeKind::ListType) {
                results.push_back(output);
                continue;
            }
            jit::Node* unpacked = made_->insertNode(made_->createListUnpack(output, count));
            results.insert(results.end(), unpacked->outputs().begin(), unpacked->outputs().end());
        }
        return results;
    }

    jit::Value* operand(const Arg& arg, const c10::Argument& parameter, const c10::Type& type, const ByNode& values) {
        if (const NodeRef* ref = arg.node()) return values.at(static_cast<std::size_t>(ref->id)).at(0);
        if (type.kind() == c10::TypeKind::OptionalType && !arg.is_none())
            return operand(arg, parameter, *type.expectRef<c10::OptionalType>().getElementType(), values);
        const auto* list = type.kind() == c10::TypeKind::ListType ? &type.expectRef<c10::ListType>() : nullptr;
        if (list && arg.list() && holds_tensors(*list->getElementType())) {
            Values elements;
            for (const Arg& one : *arg.list())
                elements.push_back(operand(one, parameter, *list->getElementType(), values));
            return made_->insertNode(made_->createList(list->getElementType(), elements))->output();
        }
        return made_->insertConstant(boxed(arg, parameter, [](NodeRef) -> at::Tensor {
            throw Error("found a tensor among numbers, expected numbers");
        }));
    }

    /// The module's name of an attribute, which it has from the first use on.
    const std::string& added(const std::string& target) {
        const auto [found, is_new] = script_.members.try_emplace(target, "p" + std::to_string(script_.members.size()));
        if (is_new)
            script_.module.register_parameter(
                found->second, memory_.lend(graph_.attributes.at(target).with_requires_grad(false)), false);
        return found->second;
    }

    const Graph& graph_;
    Script script_;
    std::shared_ptr<jit::Graph> made_ = std::make_shared<jit::Graph>();
    jit::Value* self_ = nullptr;
    Memory memory_;
};

}  // namespace

Script script(const Graph& graph) {
    if (!graph.subgraphs.empty())
        throw Error("found the nested graph '" + graph.subgraphs.begin()->first + "', expected calls alone");
    return in_libtorch([&] { return Writer(graph).run(); });
}

}  // namespace whittle::aten
