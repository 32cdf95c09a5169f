#include "backends/halide/abilities.h"

#include <map>

#include "backends/halide/compile_kernels.h"
#include "backends/halide/planned.h"
#include "base/error.h"
#include "compile/interpreted.h"
#include "expr/cost.h"
#include "expr/interpret.h"
#include "graph/value_ref.h"
#include "ops/core/recorder.h"
#include "passes/subgraph.h"
#include "tensor/compare.h"

namespace whittle::halide {
namespace {

using program::CompiledProgram;
using program::Kernel;
using program::Plan;
using KnownValues = std::map<ValueRef, Tensor>;

constexpr double kMostWork = 2e8;  // expression nodes that the interpreter of groups may evaluate: about ten seconds

/// Expression nodes that interpreting the plan evaluates.
double interpreted_nodes(const Plan& plan) {
    double total = 0;
    for (const Kernel& kernel : plan.kernels) total += expr::interpreted_nodes(kernel.group);
    return total;
}

/// Whether the plan, read by the interpreter of groups instead of Halide, gives the expected outputs. `code_of`: of
/// each kernel the one whose group is computed; its own where that is empty.
bool lowers_well(const Plan& plan, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                 const Accuracy& accuracy, const std::vector<std::size_t>& code_of = {}) {
    KnownValues values = leaf_values(plan.graph, inputs);
    for (std::size_t k = 0; k < plan.kernels.size(); k++) {
        const Kernel& kernel = plan.kernels[k];
        std::vector<Tensor> operands;
        for (const ValueRef& input : kernel.inputs) operands.push_back(values.at(input));
        const expr::Group& group = code_of.empty() ? kernel.group : plan.kernels[code_of[k]].group;
        const std::vector<Tensor> results = expr::interpret(group, operands);
        for (std::size_t i = 0; i < results.size(); i++) values[kernel.outputs[i]] = results[i];
    }
    for (std::size_t i = 0; i < plan.outputs.size(); i++) {
        const auto value = values.find(plan.outputs[i]);  // an empty tensor is computed by no kernel
        if (value != values.end() && compare(value->second, expected[i], accuracy)) return false;
    }
    return true;
}

/// Whether a call of the plan's graph, alone, is lowered to what the reference computed.
bool lowers_alone(const Graph& core, NodeId id, const KnownValues& values, const Failure& failure) {
    const Subgraph part = subgraph(core, std::vector<NodeId>{id});
    program::PassLimits limits;
    const Plan plan = program::plan(part.graph, limits, [](expr::Group& group) { return schedule(group); });
    const auto tensors = [&](const std::vector<ValueRef>& keys) {
        std::vector<Tensor> result;
        for (const ValueRef& key : keys) result.push_back(values.at(key));
        return result;
    };
    return lowers_well(plan, tensors(part.inputs), tensors(part.outputs), failure.accuracy);
}

Culprit culprit_of(PassId pass) { return {"pass", {}, {}, std::string(name(pass))}; }

/// The first pass whose result, which the reference interprets, is not what is expected.
std::optional<Culprit> wrong_pass(CompiledProgram& program, const Failure& failure, std::span<const Tensor> expected) {
    for (const program::Stage stage : program::kStages) {
        if (stage == program::Stage::captured) continue;
        if (program::differs(program.graph(stage), failure.inputs, expected, failure.accuracy))
            return culprit_of(program::pass_of(stage).value());
    }
    return std::nullopt;
}

class Inspection final : public Switchable::Inspection {
  public:
    Inspection(const Graph& graph, std::unique_ptr<CompiledProgram> program, const Plan& plan)
        : graph_(graph), program_(std::move(program)), plan_(plan) {
        for (program::DirectiveText& directive : directives(plan))
            parts_.directives.push_back({std::move(directive.text), std::move(directive.needs)});
        for (const PassId pass : program::limitable_passes()) {
            // Kernels are shared after planning: the most that could be.
            const int applied = pass == PassId::share ? static_cast<int>(plan.kernels.size()) - 1
                                                      : program_->limits().applications(pass);
            parts_.passes.push_back({std::string(name(pass)), applied});
        }
    }

    const Switchable::Parts& parts() const override { return parts_; }

    std::optional<Culprit> wrong_before(std::span<const Tensor> expected) override {
        const Failure& failure = *graph_.failure;
        if (const auto pass = wrong_pass(*program_, failure, expected)) return pass;
        if (interpreted_nodes(plan_) > kMostWork) return std::nullopt;
        const Graph& core = plan_.graph;
        Recorder reference(core);
        reference.run(core, failure.inputs);
        for (const NodeId id : core.calls()) {
            const Node& node = core.nodes[static_cast<std::size_t>(id)];
            if (!is_getitem(node) && !lowers_alone(core, id, reference.values, failure))
                return Culprit{"lowering", {}, {}, node.target};
        }
        if (!lowers_well(plan_, failure.inputs, expected, failure.accuracy)) return culprit_of(PassId::plan);
        if (!shares_well(expected)) return culprit_of(PassId::share);
        return std::nullopt;
    }

  private:
    /// Whether each kernel may run the code of the one that it shares it with.
    bool shares_well(std::span<const Tensor> expected) const {
        try {
            return lowers_well(plan_, graph_.failure->inputs, expected, graph_.failure->accuracy,
                               shared_kernels(*program_, plan_));
        } catch (const Error&) {  // it has other operands
            return false;
        }
    }

    const Graph& graph_;
    const std::unique_ptr<CompiledProgram> program_;
    const Plan& plan_;
    Switchable::Parts parts_;
};

}  // namespace

std::unique_ptr<Switchable::Inspection> inspect(const Graph& graph, const BackendOptions& options) {
    auto program = std::make_unique<CompiledProgram>(graph, options);
    const auto plan = planned(*program);
    if (!std::holds_alternative<const Plan*>(plan)) return nullptr;
    return std::make_unique<Inspection>(graph, std::move(program), *std::get<const Plan*>(plan));
}

}  // namespace whittle::halide
