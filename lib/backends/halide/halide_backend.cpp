#include "backends/halide/halide_backend.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "backends/halide/control_flow.h"
#include "backends/halide/culprit.h"
#include "backends/halide/definitions.h"
#include "backends/halide/halide_text.h"
#include "backends/halide/pipeline.h"
#include "backends/halide/plain_text.h"
#include "backends/halide/planned.h"
#include "backends/halide/repro_code.h"
#include "base/error.h"
#include "base/log.h"
#include "base/log_step.h"
#include "expr/canonical.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/text.h"
#include "ops/core/elements.h"
#include "program/compile.h"

namespace whittle::halide {
namespace {

using program::CompiledProgram;
using program::Kernel;
using program::Plan;

/// The same elements under the strides that a kernel was compiled for; itself when it has them.
Tensor restrided(const Tensor& tensor, const Strides& strides) {
    if (tensor.strides() == strides || tensor.numel() == 0) return tensor;
    if (is_contiguous(tensor.sizes(), strides)) return tensor.clone();
    std::int64_t low = 0, high = 0;
    for (std::size_t d = 0; d < strides.size(); d++) {
        const std::int64_t reach = (tensor.sizes()[d] - 1) * strides[d];
        (reach < 0 ? low : high) += reach;
    }
    const std::size_t element = size_of(tensor.dtype());
    Tensor result(Storage::allocate(static_cast<std::size_t>(high - low + 1) * element), tensor.dtype(), tensor.sizes(),
                  strides, -low);
    const Tensor from = tensor.contiguous();
    const Strides dense = contiguous_strides(tensor.sizes());
    char* const first = static_cast<char*>(result.mutable_raw());
    for (std::int64_t i = 0; i < tensor.numel(); i++) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < strides.size(); d++) offset += i / dense[d] % tensor.sizes()[d] * strides[d];
        std::memcpy(first + offset * static_cast<std::int64_t>(element),
                    static_cast<const char*>(from.raw()) + i * static_cast<std::int64_t>(element), element);
    }
    return result;
}

class HalideExecutable final : public Executable {
  public:
    HalideExecutable(Plan plan, std::vector<std::shared_ptr<CompiledGroup>> compiled)
        : plan_(std::move(plan)), compiled_(std::move(compiled)) {
        for (std::size_t k = 0; k < plan_.kernels.size(); k++) {
            for (const ValueRef& key : plan_.kernels[k].inputs) last_use_[key] = k;
            for (const program::PositionsCheck& check : plan_.kernels[k].checks) last_use_[check.value] = k;
        }
        for (const ValueRef& key : plan_.outputs) last_use_[key] = plan_.kernels.size();
    }

    RunResult run(std::span<const Tensor> inputs) override {
        std::map<ValueRef, Tensor> values;
        if (auto failure = take_inputs(inputs, values)) return *failure;
        for (std::size_t k = 0; k < plan_.kernels.size(); k++) {
            if (auto failure = run_kernel(k, values)) return *failure;
            std::erase_if(values, [&](const auto& entry) {
                const auto last = last_use_.find(entry.first);
                return last == last_use_.end() || last->second <= k;
            });
        }
        Values outputs;
        for (const ValueRef& key : plan_.outputs) outputs.push_back(result(key, values));
        return outputs;
    }

  private:
    const Node& node(const ValueRef& key) const { return plan_.graph.nodes[static_cast<std::size_t>(key.node)]; }

    std::optional<BackendFailure> take_inputs(std::span<const Tensor> inputs,
                                              std::map<ValueRef, Tensor>& values) const {
        std::size_t next = 0;
        for (NodeId id = 0; id < static_cast<NodeId>(plan_.graph.nodes.size()); id++) {
            const Node& leaf = node({id, 0});
            if (leaf.kind == NodeKind::get_attr)
                values[{id, 0}] = restrided(plan_.graph.attributes.at(leaf.target), leaf.meta().strides);
            if (leaf.kind != NodeKind::placeholder) continue;
            if (next == inputs.size() || inputs[next].dtype() != leaf.meta().dtype ||
                inputs[next].sizes() != leaf.meta().sizes)
                return BackendFailure{.stage = "run",
                                      .message = "input %" + leaf.name + " is missing or not what was compiled for"};
            values[{id, 0}] = restrided(inputs[next++], leaf.meta().strides);
        }
        return std::nullopt;
    }

    std::optional<BackendFailure> run_kernel(std::size_t k, std::map<ValueRef, Tensor>& values) const {
        const Kernel& kernel = plan_.kernels[k];
        for (const program::PositionsCheck& check : kernel.checks)
            if (auto failure = refused(check, values.at(check.value))) return failure;
        std::vector<const void*> inputs;
        std::vector<void*> outputs;
        for (const ValueRef& key : kernel.inputs) inputs.push_back(values.at(key).raw());
        for (const ValueRef& key : kernel.outputs) {
            const ValueMeta& meta = node(key).results.at(static_cast<std::size_t>(key.index));
            outputs.push_back((values[key] = Tensor(meta.dtype, meta.sizes)).mutable_raw());
        }
        if (const auto error = compiled_[k]->run(inputs, outputs))
            return BackendFailure{.stage = "run", .op = kernel.group.name, .message = error->message};
        return std::nullopt;
    }

    /// What eager refuses, in its words: the kernel would take the nearest place inside.
    std::optional<BackendFailure> refused(const program::PositionsCheck& check, const Tensor& positions) const {
        const std::string& target = node({check.node, 0}).target;
        try {
            for (const std::int64_t position : positions.values<std::int64_t>())
                checked_index(position, check.size, check.negatives, target);
        } catch (const Error& error) {
            return BackendFailure{.stage = "run", .op = target, .message = error.message()};
        }
        return std::nullopt;
    }

    /// An output; empty tensors are computed by no kernel.
    Tensor result(const ValueRef& key, const std::map<ValueRef, Tensor>& values) const {
        if (const auto found = values.find(key); found != values.end()) return found->second;
        const ValueMeta& meta = node(key).results.at(static_cast<std::size_t>(key.index));
        WHITTLE_CHECK(meta.numel() == 0, "output %" + node(key).name + " was not computed");
        return Tensor(meta.dtype, meta.sizes);
    }

    Plan plan_;
    std::vector<std::shared_ptr<CompiledGroup>> compiled_;
    std::map<ValueRef, std::size_t> last_use_;  // the last kernel that reads a value; past the end: an output
};

/// asserts=off.
CompileOptions options_from(const BackendOptions& options) {
    CompileOptions compile;
    if (option_choice(options, "asserts", {"on", "off"}) == 1) compile.target = default_target() + "-no_asserts";
    return compile;
}

class HalideBackend final : public Backend,
                            public Switchable,
                            public Emitter,
                            public PlainKernels,
                            public WarmUp,
                            public Support,
                            public Optioned,
                            public program::PlanCompiler {
  public:
    std::string name() const override { return "halide"; }
    std::string description() const override {
        return "the optimizing backend: kernels grouped and scheduled by rule, compiled by Halide";
    }
    std::vector<std::string> unsupported(const Graph& graph) const override { return not_lowered(graph); }

    /// One kernel on one thread: the code generator and the JIT's run-time library are started, but no thread is, which
    /// a copy of this process would not have.
    void warm_up() override {
        static std::once_flag once;
        std::call_once(once, [] {
            const Graph graph = parse(
                "graph warm_up {\n  %x = placeholder[\"x\"] : f32[8]\n"
                "  %y = aten.neg.default(%x) : f32[8]\n  return (%y)\n}\n");
            const ArtifactPause nobody_asked;
            CompiledProgram program(graph);
            CompileResult compiled = build(program, *std::get<const Plan*>(planned(program)), {});
            const Tensor zeros(DType::f32, {8});
            if (auto* executable = std::get_if<std::unique_ptr<Executable>>(&compiled)) (*executable)->run({&zeros, 1});
        });
    }

    CompileStage consumes() const override { return CompileStage::plan; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        CompiledProgram program(graph, options);
        return compile(program, options);
    }

    CompileResult compile(CompiledProgram& program, const BackendOptions& options) override {
        const Graph& graph = program.graph(CompileStage::captured);
        if (has_higher_order(graph))
            return compile_control_flow(graph, [&](const Graph& piece) { return compile(piece, options); });
        const CompileOptions compile_options = options_from(options);
        LogStep step(LogStep::Kind::lowering, summary(graph));
        CompileResult result = lower(program, compile_options);
        if (std::holds_alternative<BackendFailure>(result)) step.failed();
        return result;
    }

    std::vector<std::string> option_names(const BackendOptions&) override {
        return {"asserts", "disable", "pass-limit"};
    }
    void check(const BackendOptions& options) override {
        options_from(options);
        program::PassLimits{options};
    }

    std::unique_ptr<Inspection> inspect(const Graph& graph, const BackendOptions& options) override {
        return halide::inspect(graph, options);
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        for (const std::string& text : directives) {
            std::string& off = options["disable"];
            off += (off.empty() ? "" : ";") + text;
        }
        return options;
    }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        std::string& limits = options["pass-limit"];
        limits += (limits.empty() ? "" : ";") + pass + "=" + std::to_string(most);
        return options;
    }

    SuspectCode emit(const EmitRequest& request) override { return halide_code(request); }
    CompileResult compile(const PlainKernel& kernel) override { return halide::compile(kernel); }

  private:
    static CompileResult lower(CompiledProgram& program, const CompileOptions& compile_options) {
        auto result = planned(program);
        if (auto* failure = std::get_if<BackendFailure>(&result)) return std::move(*failure);
        const Plan& plan = *std::get<const Plan*>(result);
        log_plan(plan, compile_options);
        return build(program, plan, compile_options);
    }

    static void log_plan(const Plan& plan, const CompileOptions& options) {
        for (const Kernel& kernel : plan.kernels) {
            const std::string title = plan.graph.name + "." + kernel.group.name;
            if (log_enabled(LogArtifact::ir)) log_artifact(LogArtifact::ir, title, expr::print(kernel.group));
            if (log_enabled(LogArtifact::schedule)) {
                std::string text;
                for (const expr::Directive& directive : kernel.schedule) text += expr::print(directive) + "\n";
                log_artifact(LogArtifact::schedule, title, text);
            }
            if (log_enabled(LogArtifact::output_code))
                log_artifact(LogArtifact::output_code, title,
                             to_halide_cpp(kernel.group, kernel.schedule, kernel.group.name, options.target));
            log_view(LogArtifact::loop_nest, title, kernel, loop_nest, options);
            log_view(LogArtifact::lowered, title, kernel, lowered, options);
            log_view(LogArtifact::assembly, title, kernel, assembly, options);
        }
    }

    /// What Halide shows of a kernel; what it refuses, the compilation is about to say.
    static void log_view(LogArtifact artifact, const std::string& title, const Kernel& kernel, decltype(lowered)& view,
                         const CompileOptions& options) {
        if (!log_enabled(artifact)) return;
        const auto text = view(kernel.group, kernel.schedule, options);
        if (const auto* shown = std::get_if<std::string>(&text)) log_artifact(artifact, title, *shown);
    }

    static CompileResult build(CompiledProgram& program, const Plan& plan, const CompileOptions& compile_options) {
        std::map<std::string, std::shared_ptr<CompiledGroup>> by_key;  // layers and unrolled steps share kernels
        std::vector<std::shared_ptr<CompiledGroup>> compiled;
        for (const Kernel& kernel : plan.kernels) {
            std::shared_ptr<CompiledGroup>& shared = by_key[expr::key(kernel.group, kernel.schedule)];
            if (!shared || !program.limits().apply("share")) {
                log_debug(LogChannel::lowering, kernel.group.name + ": Halide compiles " +
                                                    std::to_string(kernel.group.stages.size()) + " stages");
                auto result = CompiledGroup::compile(kernel.group, kernel.schedule, compile_options);
                if (auto* error = std::get_if<KernelError>(&result))
                    return BackendFailure{.stage = "compile", .op = kernel.group.name, .message = error->message};
                shared = std::move(std::get<std::unique_ptr<CompiledGroup>>(result));
            }
            compiled.push_back(shared);
        }
        return std::make_unique<HalideExecutable>(plan, std::move(compiled));
    }
};

}  // namespace

std::unique_ptr<Backend> make_halide_backend() { return std::make_unique<HalideBackend>(); }

}  // namespace whittle::halide

/// What the registry looks for in this library.
extern "C" whittle::Backend* whittle_make_halide_backend() { return whittle::halide::make_halide_backend().release(); }
