#include "backends/eager/eager.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "graph/abilities.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// An op without a kernel: unknown, or neither `eval` nor `decompose`.
bool is_unsupported(const Node& node) {
    if (!is_op_call(node)) return false;
    const RegisteredOp* op = kernel_of(node.target);
    return !op || (!op->def->eval && !op->def->decompose);
}

/// Calls f(node) for every call, those of nested graphs included.
void for_each_call(const Graph& graph, const std::function<void(const Node&)>& f) {
    for (const Node& node : graph.nodes)
        if (node.kind == NodeKind::call) f(node);
    for (const auto& [name, nested] : graph.subgraphs) for_each_call(*nested, f);
}

/// Remembers the op at work, for the failure that names it.
class NamingInterpreter final : public Interpreter {
  public:
    std::string op() const { return op_ ? *op_ : ""; }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        op_ = &call.target;
        return Interpreter::step(graph, call, op, arguments);
    }

  private:
    const std::string* op_ = nullptr;
};

class EagerExecutable final : public Executable {
  public:
    explicit EagerExecutable(Graph graph) : prepared_(std::move(graph)) {}

    RunResult run(std::span<const Tensor> inputs) override {
        NamingInterpreter interpreter;
        try {
            return interpreter.run(prepared_, inputs);
        } catch (const Error& error) {
            return BackendFailure{"run", interpreter.op(), error.what()};
        }
    }

  private:
    PreparedGraph prepared_;
};

class EagerBackend final : public Backend, public Reference, public Support {
  public:
    std::string name() const override { return "eager"; }
    std::string description() const override { return "the reference: interprets each op by its own kernel"; }

    CompileStage consumes() const override { return CompileStage::captured; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        for (const auto& [key, value] : options)
            log_warning(LogChannel::backend, "eager: unknown option '" + key + "' is ignored");
        std::optional<BackendFailure> failure;
        for_each_call(graph, [&](const Node& node) {
            if (failure || is_getitem(node)) return;
            if (is_unsupported(node)) {
                failure = {"compile", node.target, "no kernel for " + node.target, true};
                return;
            }
            try {
                bind_arguments(*Registry::instance().find(node.target), node);
            } catch (const Error& error) {
                failure = {"compile", node.target, error.what()};
            }
        });
        if (failure) return std::move(*failure);
        return std::make_unique<EagerExecutable>(graph);
    }

    std::vector<std::string> unsupported(const Graph& graph) const override {
        std::vector<std::string> targets;
        for_each_call(graph, [&](const Node& node) {
            if (is_unsupported(node) && std::find(targets.begin(), targets.end(), node.target) == targets.end())
                targets.push_back(node.target);
        });
        return targets;
    }
};

}  // namespace

std::unique_ptr<Backend> make_eager_backend() { return std::make_unique<EagerBackend>(); }

}  // namespace whittle
