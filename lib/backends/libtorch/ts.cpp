#include "backends/libtorch/libtorch.h"

// First: clang 14 wants its types complete before the other headers use them.
#include <ATen/core/ivalue.h>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <utility>

#include "backends/built_in/built_in.h"
#include "backends/libtorch/fusers.h"
#include "backends/libtorch/operators.h"
#include "backends/libtorch/repro_code.h"
#include "backends/libtorch/script.h"
#include "backends/libtorch/short_program.h"
#include "backends/libtorch/support.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/emitter.h"
#include "ops/aten/hidden_writes.h"
#include "ops/core/memory.h"

namespace whittle {
namespace {

using aten::Fuser;
using aten::Script;

Fuser fuser_of(const BackendOptions& options) {
    return static_cast<Fuser>(option_choice(options, "fuser", aten::kFusers));
}
bool for_inference(const BackendOptions& options) {
    return option_choice(options, "optimize_for_inference", {"off", "on"}) == 1;
}

class ScriptExecutable final : public Executable {
  public:
    ScriptExecutable(Graph graph, Script script, Fuser fuser)
        : graph_(std::move(graph)), script_(std::move(script)), fuser_(fuser), writes_(has_writes(graph_)) {}

    RunResult run(std::span<const Tensor> inputs) override {
        try {
            return aten::in_libtorch([&] {
                const at::NoGradGuard no_grad;
                const aten::FuserScope scope(fuser_);
                for (std::size_t left = torch::jit::getNumProfiledRuns(); left > 0; --left) once(inputs);
                Values results = once(inputs);
                if (log_enabled(LogArtifact::ir))
                    log_artifact(LogArtifact::ir, graph_.name + ".torchscript",
                                 torch::jit::lastExecutedOptimizedGraph()->toString(false));
                return results;
            });
        } catch (const NotImplemented& error) {
            return BackendFailure{.stage = "run", .op = {}, .message = error.what(), .unsupported = true};
        } catch (const Error& error) {
            return BackendFailure{.stage = "run", .op = {}, .message = error.what()};
        }
    }

  private:
    /// A value that the graph is given, and how often it had been written before.
    struct Given {
        at::Tensor value;
        std::int64_t version;
    };

    Values once(std::span<const Tensor> inputs) {
        aten::Memory memory;
        torch::jit::Stack stack = {script_.module._ivalue()};
        std::vector<Given> given;
        const auto give = [&](const Tensor& tensor) {
            const at::Tensor lent = memory.lend((writes_ ? own_copy(tensor) : tensor).with_requires_grad(false));
            given.push_back({lent, lent._version()});
            return lent;
        };
        std::size_t next = 0;
        for (const Node& node : graph_.nodes) {
            if (node.kind == NodeKind::placeholder) stack.emplace_back(give(inputs[next++]));
            if (node.kind != NodeKind::get_attr || !writes_) continue;
            const std::string& member = script_.members.at(node.target);
            if (script_.module.hasattr(member))  // freezing leaves those that are written
                script_.module.setattr(member, give(graph_.attributes.at(node.target)));
        }
        script_.module.get_method("forward").function().run(stack);
        return taken(stack.at(0).toTuple()->elements(), given, memory);
    }

    /// The outputs, and behind them what was written of that which was given.
    Values taken(const std::vector<c10::IValue>& outputs, const std::vector<Given>& given, aten::Memory& memory) {
        Values values;
        const std::vector<NodeId> nodes = graph_.outputs();
        for (const c10::IValue& output : outputs) {
            const ValueMeta& meta = graph_.node({nodes[values.size()]}).meta();
            const at::Tensor& tensor = output.toTensor();
            values.push_back(tensor.defined() ? memory.take(tensor) : Tensor(meta.dtype, meta.sizes));
        }
        for (const auto& [value, version] : given)
            if (writes_ && value._version() != version) values.push_back(memory.take(value));
        return values;
    }

    const Graph graph_;
    Script script_;
    const Fuser fuser_;
    const bool writes_;
};

class TorchScriptBackend final : public Backend,
                                 public Support,
                                 public Optioned,
                                 public Emitter,
                                 public Tracked,
                                 public RunsLibTorch {
  public:
    std::string name() const override { return "ts"; }
    CompileStage consumes() const override { return CompileStage::captured; }  // TorchScript knows writes
    std::string description() const override { return std::string(find_built_in(name())->description); }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        if (std::vector<std::string> missing = unsupported(graph); !missing.empty())
            return BackendFailure{"compile", missing[0], "LibTorch has no op '" + missing[0] + "'", true};
        const Graph visible = with_visible_writes(graph);
        std::optional<Script> script;
        try {
            script = aten::script(visible);
            if (for_inference(options))
                aten::in_libtorch([&] { script->module = torch::jit::optimize_for_inference(script->module); });
        } catch (const NotImplemented& error) {
            return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
        } catch (const Error& error) {
            return BackendFailure{.stage = "compile", .op = {}, .message = error.what()};
        }
        return std::make_unique<ScriptExecutable>(visible, std::move(*script), fuser_of(options));
    }

    SuspectCode emit(const EmitRequest& request) override { return aten::libtorch_code(request, true); }
    std::optional<ReproProgram> short_program(const ShortRequest& request, std::string& why_not) override {
        return torchscript_program(request, why_not);
    }

    std::optional<Tracker> tracker() override {
        return Tracker{"PyTorch", "https://github.com/pytorch/pytorch/issues"};
    }

    std::vector<std::string> unsupported(const Graph& graph) const override { return aten::not_in_libtorch(graph); }

    std::vector<std::string> option_names(const BackendOptions&) override {
        return {"fuser", "optimize_for_inference"};
    }
    void check(const BackendOptions& options) override {
        const Fuser fuser = fuser_of(options);
        if (const std::string why = aten::lacking(fuser); !why.empty())
            throw wrong_option("fuser", aten::kFusers[static_cast<std::size_t>(fuser)], "'none' or 'nnc': " + why);
        for_inference(options);
    }
};

}  // namespace

std::unique_ptr<Backend> make_ts_backend() { return std::make_unique<TorchScriptBackend>(); }

}  // namespace whittle

extern "C" whittle::Backend* whittle_make_ts_backend() { return whittle::make_ts_backend().release(); }
