#include "backends/libtorch/libtorch.h"
#include "backends/libtorch/short_program.h"

#include <utility>

#include "backends/built_in/built_in.h"
#include "backends/eager/interpreted.h"
#include "backends/libtorch/autograd.h"
#include "backends/libtorch/boxed_call.h"
#include "backends/libtorch/repro_code.h"
#include "backends/libtorch/support.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "graph/emitter.h"
#include "ops/core/registry.h"
#include "tensor/reach.h"

namespace whittle {
namespace {

class LibTorchInterpreter final : public NamingInterpreter {
  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        at_work(call);
        // Assertions, too, where LibTorch has them: it would not say which value an assertion refuses.
        if (aten::is_control(call, op.schema)) return Interpreter::step(graph, call, op, arguments);
        if (aten::schema_of(call.target)) return boxed(call, [&](NodeRef operand) { return arguments.value(operand); });
        if (!op.def->decompose) throw Error("LibTorch has no op '" + call.target + "'");
        const Expansion expansion = expand(graph, call);
        std::vector<Tensor> inputs;
        for (const NodeRef operand : expansion.operands) inputs.push_back(arguments.value(operand));
        return run(expansion.graph, inputs);
    }

    std::vector<Tensor> unknown(const Graph&, const Node& call, const std::function<Tensor(NodeRef)>& value) override {
        at_work(call);
        return boxed(call, value);
    }

  private:
    /// Views behind it see through the strides that the graph says: copy() of LibTorch 1.13 keeps the source's, that of
    /// later ones self's.
    static Tensor as_inferred(Tensor result, const ValueMeta& meta) {
        const bool differs = result.sizes() == meta.sizes && result.dtype() == meta.dtype && result.numel() > 1 &&
                             result.strides() != meta.strides;
        return differs ? laid_out(result, meta.strides).with_requires_grad(result.requires_grad()) : result;
    }

    static std::vector<Tensor> boxed(const Node& call, const aten::Operands& value) {
        std::vector<Tensor> results;
        for (std::optional<Tensor>& result : aten::call_boxed(call, value)) {
            // A gradient that nobody asked for is undefined there, zeros here.
            const ValueMeta meta = results.size() < call.results.size() ? call.results[results.size()] : ValueMeta();
            results.push_back(result ? as_inferred(std::move(*result), meta) : Tensor(meta.dtype, meta.sizes));
        }
        return results;
    }
};

class LibTorchBackend final : public Backend,
                              public Support,
                              public Optioned,
                              public OwnGradients,
                              public Emitter,
                              public ForeignOps {
  public:
    std::string name() const override { return "libtorch"; }
    CompileStage consumes() const override { return CompileStage::captured; }  // it writes as LibTorch does
    std::string description() const override { return std::string(find_built_in(name())->description); }

    CompileResult compile(const Graph& graph, const BackendOptions&) override {
        if (const std::vector<std::string> missing = unsupported(graph); !missing.empty())
            return BackendFailure{"compile", missing[0], "LibTorch has no op '" + missing[0] + "'", true};
        return interpreted(graph, [] { return std::make_unique<LibTorchInterpreter>(); });
    }

    CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions&) override {
        if (!joint.subgraphs.empty())
            return BackendFailure{"compile", {}, "nested graphs are not supported with LibTorch's autograd", true};
        return aten::differentiated(joint, shape);
    }

    SuspectCode emit(const EmitRequest& request) override { return aten::libtorch_code(request, false); }
    std::optional<ReproProgram> short_program(const ShortRequest& request, std::string& why_not) override {
        return libtorch_program(request, why_not);
    }
    bool is_pytorch() const override { return true; }

    std::vector<std::string> unsupported(const Graph& graph) const override { return aten::not_in_libtorch(graph); }

    std::vector<std::string> option_names(const BackendOptions&) override { return {}; }
    void check(const BackendOptions&) override {}
};

}  // namespace

std::unique_ptr<Backend> make_libtorch_backend() { return std::make_unique<LibTorchBackend>(); }

}  // namespace whittle

extern "C" whittle::Backend* whittle_make_libtorch_backend() { return whittle::make_libtorch_backend().release(); }
