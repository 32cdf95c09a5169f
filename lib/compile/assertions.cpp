#include "compile/assertions.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "graph/abilities.h"
#include "ops/core/assertions.h"
#include "passes/assertions.h"

namespace whittle::program {
namespace {

class Asserting final : public Executable, public AnySize {
  public:
    Asserting(std::unique_ptr<Executable> inner, AssertedOutputs outputs)
        : inner_(std::move(inner)), outputs_(std::move(outputs)), further_(further_of(outputs_)) {}

    RunResult run(std::span<const Tensor> inputs) override { return checked(inner_->run(inputs)); }
    RunResult run_boxed(Values&& inputs) override { return checked(inner_->run_boxed(std::move(inputs))); }

    std::unique_ptr<Executable> at(const Graph& graph) const override {
        AssertedOutputs other = assertions_as_outputs(graph);
        std::unique_ptr<Executable> inner = at_other_sizes(inner_.get(), other.graph);
        return inner ? std::make_unique<Asserting>(std::move(inner), std::move(other)) : nullptr;
    }

  private:
    static std::size_t further_of(const AssertedOutputs& outputs) {
        return outputs.graph.outputs().size() - outputs.outputs;
    }

    RunResult checked(RunResult result) const {
        Values* const values = std::get_if<Values>(&result);
        if (!values) return result;
        for (const AssertedOutput& asserted : outputs_.asserted)
            if (!values->at(asserted.condition).item().to_bool()) {
                const std::string why = failed_assertion(asserted.message, values->at(asserted.about));
                return BackendFailure{.stage = "run",
                                      .op = asserted.op,
                                      .message = asserted.place + ": " + why,
                                      .refusal = Refusal{outputs_.graph.name, asserted.node, why}};
            }
        const auto first = values->begin() + static_cast<std::ptrdiff_t>(outputs_.outputs);
        values->erase(first, first + static_cast<std::ptrdiff_t>(further_));  // what the graph writes follows them
        return result;
    }

    const std::unique_ptr<Executable> inner_;
    const AssertedOutputs outputs_;
    const std::size_t further_;
};

}  // namespace

CompileResult compile_asserting(const Graph& graph, const std::function<CompileResult(const Graph&)>& compile) {
    AssertedOutputs outputs = assertions_as_outputs(graph);
    CompileResult result = compile(outputs.graph);
    if (auto* const request = std::get_if<BreakRequest>(&result); request && request->node >= 0) {
        const Node* const node = graph.find(outputs.graph.node({request->node}).name);
        WHITTLE_CHECK(node != nullptr, "the backend requested a break at a node that is not in the graph");
        request->node = static_cast<NodeId>(node - graph.nodes.data());
    }
    if (auto* const executable = std::get_if<std::unique_ptr<Executable>>(&result))
        *executable = std::make_unique<Asserting>(std::move(*executable), std::move(outputs));
    return result;
}

}  // namespace whittle::program
