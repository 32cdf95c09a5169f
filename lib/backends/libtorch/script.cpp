#include "backends/libtorch/script.h"

#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <utility>
#include <vector>

#include "backends/libtorch/translation.h"
#include "ops/core/assertions.h"
#include "ops/core/not_implemented.h"

namespace whittle::aten {
namespace {

namespace jit = torch::jit;

class Writer final : private Translation<jit::Value*> {
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
        made_->registerOutput(made_->insertNode(made_->createTuple(translate(graph_, inputs)))->output());
        const c10::QualifiedName name(*script_.module.type()->name(), "forward");
        script_.module.type()->addMethod(script_.module._ivalue()->compilation_unit()->create_function(name, made_));
        return std::move(script_);
    }

  private:
    jit::Value* attribute(const std::string& target) override { return made_->insertGetAttr(self_, added(target)); }
    jit::Value* tensor(const Tensor& tensor) override { return made_->insertConstant(memory_.lend(tensor)); }
    jit::Value* constant(const c10::IValue& value) override { return made_->insertConstant(value); }
    jit::Value* list(const c10::TypePtr& element, const Values& elements) override {
        return made_->insertNode(made_->createList(element, elements))->output();
    }

    Values call_of(const c10::OperatorHandle& op, const Node& call, const Values& operands) override {
        const c10::FunctionSchema& schema = op.schema();
        jit::Node* node = made_->create(c10::Symbol::fromQualString(schema.name()), operands, 0);
        for (const c10::Argument& result : schema.returns()) node->addOutput()->setType(result.type());
        const auto source = std::make_shared<jit::Source>("%" + call.name + " = " + call.target);
        node->setSourceRange(jit::SourceRange(source, 0, source->size()));
        made_->insertNode(node);
        const c10::FunctionSchema* taken = node->maybeSchema();
        if (!taken || taken->overload_name() != schema.overload_name())
            throw NotImplemented(
                "TorchScript resolves the call to " +
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
        throw NotImplemented("found the nested graph '" + graph.subgraphs.begin()->first + "', expected only calls");
    if (has_assertions(graph)) throw NotImplemented("found an assertion, which TorchScript cannot express");
    return in_libtorch([&] { return Writer(graph).run(); });
}

}  // namespace whittle::aten
