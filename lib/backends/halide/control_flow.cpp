#include "backends/halide/abilities.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "compile/assertions.h"
#include "compile/planned.h"
#include "ops/core/assertions.h"
#include "ops/core/registry.h"
#include "passes/subgraph.h"

namespace whittle::halide {
namespace {

using program::runs_nested_graphs;
using Compiled = std::shared_ptr<Executable>;

/// Ordinary calls, or one that runs nested graphs.
struct Step {
    Subgraph part = {};
    Compiled executable = {};
    NodeId call = -1;
};

struct NestedFailure {
    BackendFailure failure;
};

class ControlFlow final : public Executable {
  public:
    ControlFlow(Graph graph, std::vector<Step> steps, std::map<std::string, Compiled> nested)
        : graph_(std::move(graph)), steps_(std::move(steps)), nested_(std::move(nested)) {}

    RunResult run(std::span<const Tensor> inputs) override {
        std::map<ValueRef, Tensor> values;
        std::size_t next = 0;
        for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
            const Node& node = graph_.node({id});
            if (node.kind == NodeKind::get_attr) values[{id, 0}] = graph_.attributes.at(node.target);
            if (node.kind != NodeKind::placeholder) continue;
            if (next == inputs.size())
                return BackendFailure{.stage = "run", .message = "input %" + node.name + " is missing"};
            values[{id, 0}] = inputs[next++];
        }
        for (const Step& step : steps_)
            if (auto failure = step.executable ? run_part(step, values) : run_call(step.call, values)) return *failure;
        Values outputs;
        for (const NodeId id : graph_.outputs()) outputs.push_back(values.at(value_of(graph_, {id})));
        return outputs;
    }

  private:
    static std::optional<BackendFailure> run_part(const Step& step, std::map<ValueRef, Tensor>& values) {
        std::vector<Tensor> operands;
        for (const ValueRef& input : step.part.inputs) operands.push_back(values.at(input));
        RunResult result = step.executable->run(operands);
        if (const auto* failure = std::get_if<BackendFailure>(&result)) return *failure;
        const Values& outputs = std::get<Values>(result);
        for (std::size_t i = 0; i < outputs.size(); ++i) values.insert_or_assign(step.part.outputs[i], outputs[i]);
        return std::nullopt;
    }

    std::optional<BackendFailure> run_call(NodeId id, std::map<ValueRef, Tensor>& values) const {
        const Node& call = graph_.node({id});
        const RegisteredOp& op = Registry::instance().require(call.target);
        const Arguments<Tensor> arguments(
            op.schema, call, [&](NodeRef ref) { return values.at(value_of(graph_, ref)); },
            [&](const std::string& name, const std::vector<Tensor>& operands) {
                RunResult result = nested_.at(name)->run(operands);
                if (const auto* failure = std::get_if<BackendFailure>(&result)) throw NestedFailure{*failure};
                return std::get<Values>(std::move(result));
            },
            &graph_);
        try {
            const std::vector<Tensor> results = op.def->eval(arguments);
            for (std::size_t i = 0; i < results.size(); ++i)
                values.insert_or_assign(ValueRef{id, static_cast<int>(i)}, results[i]);
        } catch (const NestedFailure& nested) {
            return nested.failure;
        } catch (const Error& error) {
            return BackendFailure{.stage = "run", .op = call.target, .message = error.what()};
        }
        return std::nullopt;
    }

    Graph graph_;
    std::vector<Step> steps_;
    std::map<std::string, Compiled> nested_;
};

/// Runs of ordinary calls, and those of nested graphs one by one, in order.
std::vector<std::vector<NodeId>> steps_of(const Graph& graph) {
    std::vector<std::vector<NodeId>> steps;
    bool open = false;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.node({id});
        if (is_getitem(node)) continue;
        const bool alone = runs_nested_graphs(node);
        if (alone || !open) steps.emplace_back();
        steps.back().push_back(id);
        open = !alone;
    }
    return steps;
}

/// A piece does not know what others lack.
CompileResult of_a_piece(CompileResult result) {
    if (auto* failure = std::get_if<BackendFailure>(&result)) failure->missing.clear();
    return result;
}

}  // namespace

CompileResult compile_control_flow(const Graph& graph, const std::function<CompileResult(const Graph&)>& compile) {
    std::map<std::string, Compiled> nested;
    for (const auto& [name, body] : graph.subgraphs) {
        CompileResult result = has_assertions(*body) ? program::compile_asserting(*body, compile) : compile(*body);
        auto* executable = std::get_if<std::unique_ptr<Executable>>(&result);
        if (!executable) return of_a_piece(std::move(result));
        nested[name] = std::move(*executable);
    }
    std::vector<Step> steps;
    for (const std::vector<NodeId>& calls : steps_of(graph)) {
        Step step;
        if (calls.size() == 1 && runs_nested_graphs(graph.node({calls.front()}))) {
            step.call = calls.front();
        } else {
            step.part = piece(graph, calls);
            CompileResult result = compile(step.part.graph);
            auto* executable = std::get_if<std::unique_ptr<Executable>>(&result);
            if (!executable) return of_a_piece(std::move(result));
            step.executable = std::move(*executable);
        }
        steps.push_back(std::move(step));
    }
    return std::make_unique<ControlFlow>(graph, std::move(steps), std::move(nested));
}

}  // namespace whittle::halide
