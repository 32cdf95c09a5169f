#include "backends/libtorch/libtorch.h"

#include <algorithm>
#include <utility>

#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/abilities.h"
#include "ops/core/interpreter.h"

namespace whittle {
namespace {

bool has_nested_graph(const Schema& schema) {
    return std::ranges::any_of(schema.params, [](const Param& param) { return param.type == ParamType::graph; });
}

bool is_unsupported(const Node& node) {
    if (node.kind != NodeKind::call || node.target == kGetItem || aten::schema_of(node.target)) return false;
    const RegisteredOp* op = Registry::instance().op(node.target);
    return !op || (!op->def->decompose && !has_nested_graph(op->schema));
}

void for_each_call(const Graph& graph, const std::function<void(const Node&)>& f) {
    for (const Node& node : graph.nodes)
        if (node.kind == NodeKind::call) f(node);
    for (const auto& [name, nested] : graph.subgraphs) for_each_call(*nested, f);
}

class LibTorchInterpreter final : public Interpreter {
  public:
    std::string op() const { return op_; }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        op_ = call.target;
        if (aten::schema_of(call.target)) return boxed(call, arguments);
        if (has_nested_graph(op.schema)) return Interpreter::step(graph, call, op, arguments);
        if (!op.def->decompose) throw Error("LibTorch has no op '" + call.target + "'");
        const Expansion expansion = expand(graph, call);
        std::vector<Tensor> inputs;
        for (const NodeRef operand : expansion.operands) inputs.push_back(arguments.value(operand));
        return run(expansion.graph, inputs);
    }

  private:
    static std::vector<Tensor> boxed(const Node& call, const Arguments<Tensor>& arguments) {
        std::vector<Tensor> results;
        for (std::optional<Tensor>& result :
             aten::call_boxed(call, [&](NodeRef operand) { return arguments.value(operand); })) {
            // A gradient that nobody asked for is undefined there, zeros here.
            const ValueMeta meta = results.size() < call.results.size() ? call.results[results.size()] : ValueMeta();
            results.push_back(result ? std::move(*result) : Tensor(meta.dtype, meta.sizes));
        }
        return results;
    }

    std::string op_;
};

class LibTorchExecutable final : public Executable {
  public:
    explicit LibTorchExecutable(Graph graph) : prepared_(std::move(graph)) {}

    RunResult run(std::span<const Tensor> inputs) override {
        LibTorchInterpreter interpreter;
        try {
            return interpreter.run(prepared_, inputs);
        } catch (const Error& error) {
            return BackendFailure{"run", interpreter.op(), error.what()};
        }
    }

  private:
    PreparedGraph prepared_;
};

class LibTorchBackend final : public Backend, public Support {
  public:
    std::string name() const override { return "libtorch"; }
    std::string description() const override { return "LibTorch's dispatcher, call by call"; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        for (const auto& [key, value] : options)
            log_warning(LogChannel::backend, "libtorch: unknown option '" + key + "' is ignored");
        if (const std::vector<std::string> missing = unsupported(graph); !missing.empty())
            return BackendFailure{"compile", missing[0], "LibTorch has no op '" + missing[0] + "'", true};
        return std::make_unique<LibTorchExecutable>(graph);
    }

    std::vector<std::string> unsupported(const Graph& graph) const override {
        std::vector<std::string> targets;
        for_each_call(graph, [&](const Node& node) {
            if (is_unsupported(node) && std::ranges::find(targets, node.target) == targets.end())
                targets.push_back(node.target);
        });
        return targets;
    }
};

}  // namespace

std::unique_ptr<Backend> make_libtorch_backend() { return std::make_unique<LibTorchBackend>(); }

}  // namespace whittle
