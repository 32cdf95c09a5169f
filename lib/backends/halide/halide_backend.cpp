#include "backends/halide/halide_backend.h"

#include <mutex>

#include "backends/built_in/built_in.h"
#include "backends/halide/abilities.h"
#include "backends/halide/build_info.h"
#include "backends/halide/compile_kernels.h"
#include "backends/halide/definitions.h"
#include "backends/halide/executable.h"
#include "backends/halide/halide_text.h"
#include "backends/halide/pipeline.h"
#include "backends/halide/plain_text.h"
#include "backends/halide/planned.h"
#include "backends/halide/releases.h"
#include "base/error.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/thread_work.h"
#include "compile/compile.h"
#include "compile/observer.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/text.h"
#include "ops/core/not_implemented.h"

namespace whittle::halide {
namespace {

using program::CompiledProgram;
using program::Kernel;
using program::Plan;

/// Throws Error, by name, for values of HL_JIT_TARGET and HL_NUM_THREADS that Halide and our threads could not take:
/// later they would fail inside of a compilation or a kernel.
void check_environment() {
    default_target();
    kernel_threads();
}

/// asserts=off.
CompileOptions options_from(const BackendOptions& options) {
    CompileOptions compile;
    if (option_choice(options, "asserts", {"on", "off"}) == 1) compile.target = default_target() + "-no_asserts";
    return compile;
}

class HalideBackend final : public Backend,
                            public Switchable,
                            public Emitter,
                            public program::KernelPrograms,
                            public program::RunsKernels,
                            public WarmUp,
                            public Support,
                            public Lacking,
                            public Optioned,
                            public Tiered,
                            public Tracked,
                            public program::PlanCompiler,
                            public Releases,
                            public Apart {
  public:
    std::string name() const override { return "halide"; }
    std::string description() const override { return std::string(find_built_in(name())->description); }
    std::vector<std::string> unsupported(const Graph& graph) const override { return program::not_lowered(graph); }
    std::string lacks(const Graph& graph, const Node& call) const override { return program::lacking(graph, call); }

    /// One kernel on one thread: the code generator and the JIT's run-time library are started, but no thread is, which
    /// a copy of this process would not have.
    void warm_up() override {
        check_environment();
        static std::once_flag once;
        std::call_once(once, [] {
            const Graph graph = parse(
                "graph warm_up {\n  %x = placeholder[\"x\"] : f32[8]\n"
                "  %y = aten.neg.default(%x) : f32[8]\n  return (%y)\n}\n");
            const ArtifactPause nobody_asked;
            const program::Observing nobody_looks(nullptr);
            CompiledProgram program(graph);
            const auto plan = halide::planned(program);
            if (!std::holds_alternative<const Plan*>(plan)) return;  // the query that follows says why
            CompileResult compiled = build(program, *std::get<const Plan*>(plan), {});
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
        if (Backend* const worker = workers_.of(options)) return compile_on(*worker, program, options);
        check_environment();
        const Graph& graph = program.graph(CompileStage::captured);
        if (program::has_control_flow(graph))
            return compile_control_flow(graph, [&](const Graph& piece) { return compile(piece, options); });
        const CompileOptions compile_options = options_from(options);
        LogStep step(LogStep::Kind::lowering, summary(graph), graph.name);
        CompileResult result = lower(program, compile_options);
        if (std::holds_alternative<BackendFailure>(result)) step.failed();
        return result;
    }

    std::vector<std::string> option_names(const BackendOptions&) override {
        return {"asserts", "disable", "functions", "pass-limit", "release", "rules"};
    }
    void check(const BackendOptions& options) override {
        options_from(options);
        program::PassLimits{options};
        rule_use(options);
        functions_choice(options);
        chosen_release(options);
    }

    std::vector<std::string> releases() override { return installed_releases(); }
    std::string installer() override { return release_installer("VERSION"); }
    std::string release_of(const BackendOptions& options) override { return chosen_release(options); }
    BackendOptions in_release(BackendOptions options, const std::string& release) const override {
        options["release"] = release;
        return options;
    }
    /// Of a release that somebody chose: of Whittle's own every report says it anyway.
    std::string version_in(const BackendOptions& options) override {
        if (!options.contains("release")) return "";
        Backend* const worker = workers_.of(options);
        return worker ? version_of(*worker) : version();
    }
    std::filesystem::path library_for(const BackendOptions& options) override { return halide::library_for(options); }

    bool takes(const BackendOptions& options) override { return workers_.of(options) != nullptr; }
    std::unique_ptr<Query> query(const BackendOptions& options, const ProcessOptions& limits) override {
        return offered<Apart>(*workers_.of(options))->query(without_release(options), limits);
    }

    /// Without rules: the plain loops take a third of the time to compile.
    BackendOptions quick(BackendOptions options) const override {
        options.try_emplace("rules", "plain");
        return options;
    }

    std::unique_ptr<Inspection> inspect(const Graph& graph, const BackendOptions& options) override {
        return halide::inspect(graph, options);
    }

    SuspectCode emit(const EmitRequest& request) override {
        expect_own_release(request.graph.failure->options);
        return halide_code(request);
    }
    std::variant<const Plan*, BackendFailure> planned(CompiledProgram& program) override {
        expect_own_release(program.options());
        return halide::planned(program);
    }
    std::variant<std::unique_ptr<program::KernelCompilation>, BackendFailure> kernels(
        const Graph& graph, const BackendOptions& options) override {
        if (!halide::library_for(options).empty())
            return no_kernels("release " + chosen_release(options) + " of Halide runs in another process");
        if (program::has_control_flow(graph)) return no_kernels("the graph has control flow");
        check_environment();
        return single_kernels(graph, options, options_from(options));
    }
    std::vector<std::string> targets() const override { return short_targets(); }
    CompileResult compile(const PlainKernel& kernel) override { return halide::compile(kernel); }
    void warm_up_kernels() override {
        static const bool once = (warm_up_plain(), true);
        static_cast<void>(once);
    }
    std::optional<ReproProgram> program(const program::KernelRequest& request) override {
        return short_program_of(request);
    }
    std::optional<Tracker> tracker() override { return Tracker{"Halide", "https://github.com/halide/Halide/issues"}; }

  private:
    static CompileResult compile_on(Backend& worker, CompiledProgram& program, const BackendOptions& options) {
        try {
            return worker.compile(program.graph(worker.consumes()), without_release(options));
        } catch (const NotImplemented& error) {
            return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
        }
    }

    static BackendFailure no_kernels(const std::string& why) {
        return {.stage = "compile", .message = "kernels cannot be run one by one: " + why, .unsupported = true};
    }

    /// Programs for Halide depend on its release, and so does what a kernel computes here.
    static void expect_own_release(const BackendOptions& options) {
        if (!halide::library_for(options).empty())
            throw Error("a process of " + version() + " cannot write a program for release " + chosen_release(options) +
                            " of Halide",
                        "run repro on the minimized graph");
    }

    static CompileResult lower(CompiledProgram& program, const CompileOptions& compile_options) {
        auto result = halide::planned(program);
        if (auto* failure = std::get_if<BackendFailure>(&result)) return std::move(*failure);
        const Plan& plan = *std::get<const Plan*>(result);
        log_unfused(program);
        log_plan(plan, compile_options);
        return build(program, plan, compile_options);
    }

    /// What `fuse` and `inline` begin with: a kernel for each call that is none but a view.
    static void log_unfused(CompiledProgram& program) {
        if (!log_enabled(LogArtifact::ir_unfused)) return;
        program::PassLimits limits(BackendOptions{{"disable", "fuse;inline"}});
        const Plan plan =
            program::plan(program.graph(program::Stage::core), limits, [](expr::Group&) { return expr::Schedule(); });
        std::string text;
        for (const Kernel& kernel : plan.kernels) text += (text.empty() ? "" : "\n") + print(plan, kernel);
        log_artifact(LogArtifact::ir_unfused, plan.graph.name, text);
    }

    static void log_plan(const Plan& plan, const CompileOptions& options) {
        for (const Kernel& kernel : plan.kernels) {
            const std::string title = plan.graph.name + "." + kernel.group.name;
            if (log_enabled(LogArtifact::ir)) log_artifact(LogArtifact::ir, title, print(plan, kernel));
            if (log_enabled(LogArtifact::schedule)) {
                std::string text;
                for (const expr::Directive* directive : expr::active(kernel.schedule))
                    text += expr::print(*directive) + "\n";
                log_artifact(LogArtifact::schedule, title, text);
            }
            if (log_enabled(LogArtifact::output_code))
                log_artifact(LogArtifact::output_code, title,
                             halide_file_cpp(kernel.group, kernel.schedule, options.target));
            if (program::observer())
                program::observer()->generated(
                    kernel, to_halide_cpp(kernel.group, kernel.schedule, kernel.group.name, options.target));
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
        auto compiled = compile_kernels(program, plan, compile_options);
        if (auto* failure = std::get_if<BackendFailure>(&compiled)) return std::move(*failure);
        return make_executable(plan, std::get<std::vector<CompiledKernel>>(std::move(compiled)));
    }

    ReleaseWorkers workers_;
};

}  // namespace

std::unique_ptr<Backend> make_halide_backend() { return std::make_unique<HalideBackend>(); }

}  // namespace whittle::halide

/// What the registry looks for in this library.
extern "C" whittle::Backend* whittle_make_halide_backend() { return whittle::halide::make_halide_backend().release(); }

/// What tools/halide_worker.cpp says of it: "Halide 14.0.0".
extern "C" const char* whittle_halide_version() {
    static const std::string version = whittle::halide::version();
    return version.c_str();
}
