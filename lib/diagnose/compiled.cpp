#include "diagnose/compiled.h"

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "compile/gradients.h"
#include "graph/emitter.h"
#include "judge/outcome.h"
#include "ops/core/custom.h"
#include "ops/core/interpreter.h"

namespace whittle::diagnose {
namespace fs = std::filesystem;

namespace {

CompileStage part_of(const Failure& failure) {
    return failure.signature.at_gradients() ? CompileStage::backward : CompileStage::forward;
}

}  // namespace

std::optional<Differentiates::Compiler> other_compiler(const Failure& failure, const Backend& backend) {
    const Differentiates* own = offered<Differentiates>(backend);
    return own ? own->compiler_of(part_of(failure), failure.options) : std::nullopt;
}

Graph as_compiled(const Graph& failing, const Backend& backend) {
    if (!failing.failure) return failing;
    const bool forward = part_of(*failing.failure) == CompileStage::forward;
    if (auto compiler = other_compiler(*failing.failure, backend)) {
        Graph part = forward ? program::forward_alone(failing, backend) : program::backward_alone(failing, backend);
        part.failure->backend = std::move(compiler->backend);
        part.failure->options = std::move(compiler->options);
        return part;
    }
    const Differentiates* own = offered<Differentiates>(backend);
    if (forward || (own && own->interprets(failing.failure->options)) ||
        own_gradients(backend, failing.failure->options))
        return failing;
    return program::backward_alone(failing, backend);
}

namespace {

/// What the backend runs in place of the graph, where that computes something else; the failure is then that.
std::optional<program::Interpreted> wrongly_rewritten(const Backend& backend, const Graph& graph) {
    std::optional<program::Interpreted> run = program::interpreted_by(backend, graph);
    if (!run) return std::nullopt;
    Failure& failure = *run->asked.failure;
    try {
        std::vector<Tensor> expected = evaluate(graph, failure.inputs);
        expected.resize(graph.outputs().size());  // behind them is what it writes of what it is given
        const Outcome seen =
            judge(Outcome{.outputs = evaluate(run->instead, failure.inputs)}, expected, failure.accuracy);
        if (!seen.failed()) return std::nullopt;
        failure.signature = signature_of(seen);
        failure.message = seen.message;
    } catch (const Error&) {  // it cannot be run
        return std::nullopt;
    }
    return run;
}

}  // namespace

std::optional<program::Interpreted> wrongly_interpreted(const Backend& backend, const Graph& graph) {
    if (!graph.failure) return std::nullopt;
    if (offered<Rewriting>(backend)) return wrongly_rewritten(backend, graph);
    const std::string& kind = graph.failure->signature.kind;
    if (kind != name(Outcome::Kind::mismatch) && kind != name(Outcome::Kind::exception)) return std::nullopt;
    std::optional<program::Interpreted> run = program::interpreted_by(backend, graph);
    if (kind == name(Outcome::Kind::mismatch) || !run) return run;
    const bool refused = run->asked.placeholders().size() != run->instead.placeholders().size();
    return refused ? std::move(run) : std::nullopt;
}

std::string without_place(const std::string& words) {
    constexpr std::string_view kGraph = "graph ", kEnd = "): ";
    const std::size_t end = words.starts_with(kGraph) ? words.find(kEnd) : std::string::npos;
    return end == std::string::npos ? words : words.substr(end + kEnd.size());
}

std::optional<Graph> run_by_interpreter(const Backend& backend, const Graph& graph) {
    if (!graph.failure || !offered<Emitter>(backend)) return std::nullopt;
    std::optional<program::Interpreted> run = program::interpreted_by(backend, graph);
    if (!run) return std::nullopt;
    run->instead.failure = run->asked.failure;
    Signature& signature = run->instead.failure->signature;
    signature.detail = without_place(signature.detail);
    return std::move(run->instead);
}

bool has_repro(const Graph& failing) {
    auto backend = find_backend(failing.failure->backend);
    if (failing.failure->slower) return offered<AsksByLine>(*backend) != nullptr;  // others' programs show no times
    if (const auto compiler = other_compiler(*failing.failure, *backend)) backend = find_backend(compiler->backend);
    return offered<Emitter>(*backend) || wrongly_interpreted(*backend, failing);
}

std::vector<std::string> op_library_words() {
    std::vector<std::string> words;
    for (const std::string& library : op_libraries()) words.insert(words.end(), {"--op-library", library});
    return words;
}

std::vector<std::string> repro_words(const fs::path& file) {
    std::vector<std::string> words = op_library_words();
    words.insert(words.begin(), file.string());
    return program_words("repro", std::move(words));
}

}  // namespace whittle::diagnose
