#include "backends/eager/interpreted.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "graph/run_observer.h"
#include "graph/value_ref.h"
#include "ops/aten/hidden_writes.h"
#include "ops/core/assertions.h"
#include "ops/core/memory.h"
#include "ops/core/not_implemented.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

bool lacks_kernel(const Graph&, const Node& node) {
    if (!is_op_call(node)) return false;
    const RegisteredOp* op = kernel_of(node.target);
    return !op || (!op->def->eval && !op->def->decompose);
}

/// Those of nested graphs included.
void for_each_call(const Graph& graph, const std::function<void(const Node&)>& f) {
    for (const Node& node : graph.nodes)
        if (node.kind == NodeKind::call) f(node);
    for (const auto& [name, nested] : graph.subgraphs) for_each_call(*nested, f);
}

class InterpretedExecutable final : public Executable, public AnySize {
  public:
    InterpretedExecutable(Graph graph, MakeInterpreter make) : prepared_(std::move(graph)), make_(std::move(make)) {}

    RunResult run(std::span<const Tensor> inputs) override { return run_boxed({inputs.begin(), inputs.end()}); }

    RunResult run_boxed(Values&& inputs) override {
        const std::unique_ptr<NamingInterpreter> interpreter = make_();
        try {
            return interpreter->run_boxed(prepared_, std::move(inputs));
        } catch (const RefusedError& error) {
            return BackendFailure{
                .stage = "run", .op = interpreter->op(), .message = error.what(), .refusal = error.refusal()};
        } catch (const NotImplemented& error) {
            return BackendFailure{"run", interpreter->op(), error.what(), true};
        } catch (const Error& error) {
            return BackendFailure{"run", interpreter->op(), error.what()};
        }
    }

    std::unique_ptr<Executable> at(const Graph& graph) const override {
        return std::make_unique<InterpretedExecutable>(with_visible_writes(graph), make_);
    }

  private:
    PreparedGraph prepared_;
    MakeInterpreter make_;
};

/// How a graph is taken to where it is interpreted.
using Interpret = std::function<CompileResult(const Graph&)>;
/// What has to be done to a graph before it is interpreted is done at each size.
class AgainAtEachSize final : public Executable, public AnySize {
  public:
    AgainAtEachSize(std::unique_ptr<Executable> inner, Interpret interpret)
        : inner_(std::move(inner)), interpret_(std::move(interpret)) {}

    RunResult run(std::span<const Tensor> inputs) override { return inner_->run(inputs); }
    RunResult run_boxed(Values&& inputs) override { return inner_->run_boxed(std::move(inputs)); }

    std::unique_ptr<Executable> at(const Graph& graph) const override {
        CompileResult result = interpret_(graph);
        auto* const executable = std::get_if<std::unique_ptr<Executable>>(&result);
        return executable ? std::make_unique<AgainAtEachSize>(std::move(*executable), interpret_) : nullptr;
    }

  private:
    const std::unique_ptr<Executable> inner_;
    const Interpret interpret_;
};

}  // namespace

std::vector<std::string> without_kernel(const Graph& graph) { return targets_of(graph, lacks_kernel); }

std::unique_ptr<Executable> interpreted(const Graph& graph, MakeInterpreter make) {
    Graph visible = with_visible_writes(graph);
    if (!make) {
        if (GraphStepper* const stepper = graph_stepper())
            if (auto stepped = stepper->step(visible)) return stepped;
        make = [] { return std::make_unique<NamingInterpreter>(); };
    }
    return std::make_unique<InterpretedExecutable>(std::move(visible), std::move(make));
}

std::optional<BackendFailure> refused_by_kernels(const Graph& graph, const std::string& backend) {
    if (std::vector<std::string> missing = without_kernel(graph); !missing.empty())
        return BackendFailure{.stage = "compile",
                              .op = missing.front(),
                              .message = backend + " does not implement " + join(op_names(graph, missing)),
                              .unsupported = true,
                              .missing = std::move(missing)};
    std::optional<BackendFailure> failure;
    for_each_call(graph, [&](const Node& node) {
        if (failure || is_getitem(node)) return;
        try {
            bind_arguments(*Registry::instance().find(node.target), node);
        } catch (const Error& error) {
            failure = {"compile", node.target, error.what()};
        }
    });
    return failure;
}

CompileResult InterpretingBackend::compile(const Graph& graph, const BackendOptions& options) {
    if (std::optional<BackendFailure> failure = refused_by_kernels(graph, name())) return std::move(*failure);
    const Interpret interpret = [this, options](const Graph& of) { return compiled(of, options); };
    CompileResult result = interpret(graph);
    auto* const executable = std::get_if<std::unique_ptr<Executable>>(&result);
    const bool any = executable && dynamic_cast<const AnySize*>(executable->get());
    if (any) *executable = std::make_unique<AgainAtEachSize>(std::move(*executable), interpret);
    return result;
}

}  // namespace whittle
