#include "program/compile.h"

#include "base/error.h"
#include "graph/abilities.h"

namespace whittle::program {

CompileResult compile(Backend& backend, const Graph& captured, const BackendOptions& options) {
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
    } catch (const Error& error) {
        return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
    }
    return backend.compile(*graph, options);
}

}  // namespace whittle::program
