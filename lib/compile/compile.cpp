#include "compile/compile.h"

#include "base/error.h"
#include "compile/assertions.h"
#include "graph/abilities.h"
#include "graph/onnx_file.h"
#include "graph/placement.h"
#include "ops/core/assertions.h"
#include "ops/core/not_implemented.h"
#include "passes/no_grad.h"

namespace whittle::program {
namespace {

CompileResult compile_stage(Backend& backend, const Graph& captured, const BackendOptions& options) {
    if (offered<IgnoresGraph>(backend)) return backend.compile(captured, options);
    if (const auto value = misplaced_value(captured))
        return BackendFailure{
            .stage = "compile", .op = {}, .message = "no backend supports the value " + *value, .unsupported = true};
    const Stage stage = backend.consumes();
    if (stage == Stage::captured) return backend.compile(captured, options);
    if (stage == Stage::plan) {
        PlanCompiler* compiler = offered<PlanCompiler>(backend);
        WHITTLE_CHECK(compiler != nullptr, "backend " + backend.name() + " consumes plans and compiles none");
        CompiledProgram program(captured, options);
        return compiler->compile(program, options);
    }
    CompiledProgram program(captured);  // switches of passes are options of those that plan
    const Graph* graph = nullptr;
    try {
        graph = &program.graph(stage);
    } catch (const NotImplemented& error) {
        return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
    }
    return backend.compile(*graph, options);
}

/// The reference refuses what a graph refuses where it does; of others that is asked when they have run.
CompileResult asserting(const Backend& backend, const Graph& graph,
                        const std::function<CompileResult(const Graph&)>& compile) {
    if (offered<Reference>(backend) || !has_assertions(graph)) return compile(graph);
    return compile_asserting(graph, compile);
}

}  // namespace

CompileResult compile(Backend& backend, const Graph& captured, const BackendOptions& options) {
    return asserting(backend, captured, [&](const Graph& graph) { return compile_stage(backend, graph, options); });
}

CompiledProgram differentiable(const Backend& backend, Graph captured, const BackendOptions& options) {
    const Differentiates* own = offered<Differentiates>(backend);
    if (!own) return CompiledProgram(std::move(captured));
    return CompiledProgram(std::move(captured), own->cut(options),
                           [own, options](const Graph& joint) { return own->not_taken(joint, options); });
}

CompileResult compile_part(Backend& backend, Stage part, const Graph& graph, const BackendOptions& options) {
    const Graph plain = without_requires_grad(graph);
    Differentiates* const own = offered<Differentiates>(backend);
    if (!own) return compile(backend, plain, options);
    return asserting(backend, plain, [&](const Graph& of) { return own->compile_part(part, of, options); });
}

}  // namespace whittle::program
