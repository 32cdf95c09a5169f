// How an execution compiles and runs its graphs.
#define WHITTLE_API_IMPLEMENTATION
#include <chrono>

#include "api/compile_report.h"
#include "api/frame.h"
#include "api/later.h"
#include "api/piecewise.h"
#include "api/stepping.h"
#include "api/uncompiled.h"
#include "backends/registry.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/timeline.h"
#include "base/words.h"
#include "capture/log.h"
#include "compile/program.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/untouched.h"
#include "ops/core/interpreter.h"
#include "ops/core/mode.h"
#include "passes/assertions.h"
#include "passes/no_grad.h"
#include "tensor/compare.h"

namespace whittle::api {

Graph form_to_compile(const Graph& captured) {
    const Graph graph = without_assertions(captured);
    Graph result{.name = graph.name, .dialect = graph.dialect, .subgraphs = graph.subgraphs};
    std::vector<NodeRef> map(graph.nodes.size());
    const auto take = [&](auto wanted) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (!wanted(node)) continue;
            if (node.kind == NodeKind::get_attr)
                map[i] = result.placeholder(node.target, node.meta());
            else
                map[i] = result.add(
                    map_inputs(node, [&](NodeRef ref) { return Arg(map.at(static_cast<std::size_t>(ref.id))); }));
        }
    };
    take([](const Node& n) { return n.kind == NodeKind::placeholder; });
    take([](const Node& n) { return n.kind == NodeKind::get_attr; });
    take([](const Node& n) { return n.kind == NodeKind::call || n.kind == NodeKind::output; });
    return result;
}

/// Where the graph is or will be when it is compiled.
std::shared_ptr<CompiledGraph> Execution::slot(const Recorded& recorded) {
    const std::lock_guard lock(function_.mutex);
    const bool stepped = steps();
    std::shared_ptr<CompiledGraph>& slot = function_.graphs[stepped ? stepped_key(recorded.key) : recorded.key];
    if (!slot) slot = std::make_shared<CompiledGraph>();
    slot->stepped = stepped;
    return slot;
}

std::shared_ptr<CompiledGraph> Execution::find(const Recorded& recorded, const SymbolicGraph* symbolic) {
    const std::shared_ptr<CompiledGraph> compiled = slot(recorded);
    const std::lock_guard lock(compiled->mutex);
    if (compiled->graph.nodes.empty()) {
        compiled_another_ = true;
        compile(*compiled, recorded, at_other_sizes(symbolic).get(), symbolic);
    }
    return compiled;
}

std::string Execution::failure_text(const BackendFailure& failure, const std::string& graph) {
    return "backend " + function_.backend_name + " failed at " + failure.stage + " of graph " + graph + " of " +
           function_.name() + (failure.op.empty() ? "" : ", at " + failure.op) + ": " + failure.message;
}

namespace {

/// What the backend is given: a captured graph, or the forward part of one that has gradients.
const Graph& forward_of(program::CompiledProgram& program, const CompiledGradient* gradient, const Backend& backend) {
    if (gradient && gradient->error.empty()) return gradient->parts.forward;
    const bool as_captured = backend.consumes() == CompileStage::captured;
    return program.graph(as_captured ? program::Stage::captured : program::Stage::functional);
}

void find_updates(CompiledGraph& compiled, program::CompiledProgram& program) {
    const Graph& functional = program.graph(program::Stage::functional);
    const std::vector<NodeId> placeholders = functional.placeholders();
    for (const MemoryUpdate& update : program.updates())
        for (std::size_t i = 0; i < placeholders.size(); ++i)
            if (functional.node({placeholders[i]}).name == update.input)
                compiled.updates.emplace_back(i, update.output);
    compiled.functional = functional;
    compiled.graph = program.graph(program::Stage::captured);
}

}  // namespace

bool Execution::compiled_as(const CompiledGraph& known, CompiledGraph& made, const Graph& forward) {
    const auto differentiates = [](const CompiledGraph& graph) {
        return graph.gradient && graph.gradient->error.empty() && !graph.gradient->backend_failed;
    };
    const bool gradients = differentiates(made);
    if (!known.executable || (known.gradient != nullptr) != (made.gradient != nullptr) ||
        differentiates(known) != gradients)
        return false;
    auto executable =
        whittle::at_other_sizes(known.executable.get(), made.gradient ? without_requires_grad(forward) : forward);
    if (!executable) return false;
    if (gradients) {
        made.gradient->executable = whittle::at_other_sizes(known.gradient->executable.get(),
                                                            without_requires_grad(made.gradient->parts.backward));
        if (!made.gradient->executable) return false;
        made.gradient->words = known.gradient->words;
        made.gradient->verified = known.gradient->verified;
        made.gradient->keep = known.gradient->keep;
    }
    made.executable = std::move(executable);
    return true;
}

/// "s0 = L['x'].size(0), here 4", a line each, and in which sizes they are.
static std::string varying_sizes(const SymbolicGraph& symbolic) {
    std::string text;
    for (std::size_t i = 0; i < symbolic.symbols.size(); ++i)
        text += symbolic.symbols[i].name + " = " + symbolic.symbols[i].place() + ", here " +
                std::to_string(symbolic.values[i]) + "\n";
    if (text.empty()) return text;
    return text + "inputs: " + join(symbolic.inputs) + "\noutputs: " + join(symbolic.outputs) + "\n";
}

void Execution::compile(CompiledGraph& compiled, const Recorded& recorded, const CompiledGraph* known,
                        const SymbolicGraph* symbolic) {
    const WithoutModes not_seen;  // what passes compute
    const std::string& name = function_.name();
    const Graph& graph = recorded.captured.graph;
    const std::string title = graph.name + " " + id_.text();
    const DebugSection files(title);
    std::optional<ThreadSpans> times;
    if (log_enabled(LogArtifact::times)) times.emplace();
    std::optional<SpansOf> spans;
    if (trace_ && Timeline::current())
        for (const std::string& of : trace_->graph_names(name, {recorded.key})) spans.emplace(of);
    program::CompiledProgram program(form_to_compile(graph));
    CompiledGraph made;
    capture_step(verbose(), [&] { find_updates(made, program); });
    capture::log_graph(graph, name, id_.text(), symbolic ? varying_sizes(*symbolic) : std::string());
    if (trace_ && function_.backend_name != kReferenceBackend) trace_->save();  // a backend may crash
    std::optional<CompileReport> report;
    if (has_compile_hooks()) report.emplace();
    const auto begin = std::chrono::steady_clock::now();
    bool as_known = false;
    {
        const std::lock_guard lock(function_.compiling);
        const Backend& backend = function_.the_backend();
        made.gradient =
            gradient_of(made.graph, backend, function_.backend_options, known ? known->gradient.get() : nullptr);
        const Graph& forward = forward_of(program, made.gradient.get(), backend);
        const program::Observing observing(report ? &*report : nullptr);
        CodeStepper stepper;
        const Stepping stepping(log_enabled(LogArtifact::step) ? &stepper : nullptr);
        as_known = known && compiled_as(*known, made, forward);
        if (!as_known) compile_parts(made, forward, graph, report ? &*report : nullptr);
    }
    compiled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (times) log_artifact(LogArtifact::times, title, table(times->spans()));
    compiled.executable = std::move(made.executable);
    compiled.gradient = std::move(made.gradient);
    compiled.updates = std::move(made.updates);
    compiled.functional = std::move(made.functional);
    compiled.graph = std::move(made.graph);
    if (as_known) return;
    {
        const std::lock_guard lock(function_.mutex);
        ++function_.counts.graphs;
        function_.counts.compile_seconds += compiled.seconds;
        function_.counts.ops += op_count(graph);
    }
    if (trace_) trace_->compiled(name, recorded.key, compiled.seconds);
    call_compile_hooks(function_, entry_, graph, compiled, report ? &*report : nullptr);
}

void Execution::compile_parts(CompiledGraph& made, const Graph& forward, const Graph& captured, CompileReport* report) {
    const bool in_parts = made.gradient && made.gradient->error.empty();
    if (report) report->begin_part(in_parts ? "forward" : "");
    made.executable = compile_part(made.gradient ? without_requires_grad(forward) : forward,
                                   in_parts ? std::optional(CompileStage::forward) : std::nullopt, captured);
    if (report) report->begin_part("backward");
    if (made.gradient) compile_backward(*made.gradient, captured);
}

std::unique_ptr<Executable> Execution::compile_part(const Graph& part, std::optional<CompileStage> stage,
                                                    const Graph& captured) {
    const std::string& name = function_.name();
    LogStep step(LogStep::Kind::backend, function_.backend_name + ": " + summary(part) + " of " + title(),
                 captured.name);
    std::vector<capture::GraphBreak> requested;
    const auto asked = [&](const Graph&, const Node& node, const std::string& reason) {
        requested.push_back({.kind = capture::BreakKind::backend_request,
                             .reason = "backend " + function_.backend_name + " requested a graph break: " + reason,
                             .op = node.target,
                             .stack = node.stack});
    };
    CompileResult result = compile_with_breaks(function_.the_backend(), function_.backend_options, part, stage, asked);
    if (const auto* failure = std::get_if<BackendFailure>(&result))  // which ends the step as failed
        throw BackendError(failure_text(*failure, captured.name));
    if (const auto* skip = std::get_if<SkipRequest>(&result)) {
        function_.skip = true;
        if (trace_)
            trace_->note(name + " runs eagerly, because backend " + function_.backend_name +
                         " asked to skip the function: " + skip->reason);
    }
    for (const capture::GraphBreak& why : requested) {
        broke(why, {});
        ended_by_.reset();  // of the pieces, not of the graph
    }
    step.done();
    auto* const executable = std::get_if<std::unique_ptr<Executable>>(&result);
    return executable ? std::move(*executable) : nullptr;
}

/// Whoever never asks for gradients is not told that the backend has none.
void Execution::compile_backward(CompiledGradient& gradient, const Graph& captured) {
    gradient.verified = verifies();
    if (!gradient.error.empty()) return;
    if (function_.repro.on_failure())
        gradient.keep = [frame = function_.name(), backend = function_.backend_name,
                         options = function_.backend_options, repro = function_.repro](
                            const Graph& part, const Values& inputs, const std::exception& error) {
            try {
                const WithoutModes not_seen;
                keep_for_minify({part, frame, backend, options, inputs, evaluate(part, inputs)}, repro,
                                dynamic_cast<const VerifyError*>(&error) != nullptr);
            } catch (const std::exception& second) {
                log_warning(LogChannel::capture, std::string("the failing graph could not be saved: ") + second.what());
            }
        };
    const std::string graph = captured.name + ", backward";
    gradient.words = [backend = function_.backend_name, graph](const BackendFailure& failure) {
        return "backend " + backend + " failed at " + failure.stage + " of graph " + graph +
               (failure.op.empty() ? "" : ", at " + failure.op) + ": " + failure.message;
    };
    try {
        gradient.executable = compile_part(gradient.parts.backward, CompileStage::backward, gradient.parts.backward);
    } catch (const BackendError&) {
        gradient.backend_failed = std::current_exception();
    }
}

namespace {

/// Why a body of `graph` refused a value, and where, as CheckError says it. Checks of the graph itself are the frame's
/// (print_queue.h).
std::optional<std::string> refused_in_body(const Graph& graph, const Refusal& refusal) {
    for (const auto& [name, body] : graph.subgraphs) {
        const Node* const check = body->name == refusal.graph ? body->find(refusal.node) : nullptr;
        if (check)
            return "check failed: " + refusal.why + (check->stack.empty() ? "" : "\n" + whittle::print(check->stack));
        if (auto nested = refused_in_body(*body, refusal)) return nested;
    }
    return std::nullopt;
}

}  // namespace

std::vector<whittle::Tensor> Execution::execute(CompiledGraph& compiled, const Recorded& recorded,
                                                const std::vector<whittle::Tensor>& inputs) {
    const bool differentiated = compiled.gradient && compiled.gradient->error.empty();
    if (!compiled.executable)
        return evaluate(differentiated ? compiled.gradient->parts.forward : compiled.graph, inputs);
    std::optional<Untouched> given;
    if (verifies()) given.emplace(compiled.graph, inputs);
    const std::lock_guard lock(compiled.mutex);
    RunResult result = compiled.executable->run(inputs);
    if (given)
        if (const auto written = given->restore())
            throw VerifyError("graph " + compiled.graph.name + " of " + function_.name() + ": backend " +
                              function_.backend_name + " " + written->message);
    if (const auto* failure = std::get_if<BackendFailure>(&result)) {
        if (failure->refusal)
            if (const auto refused = refused_in_body(recorded.captured.graph, *failure->refusal))
                throw CheckError(*refused);
        throw BackendError(failure_text(*failure, recorded.captured.graph.name));
    }
    return std::get<Values>(std::move(result));
}

std::vector<whittle::Tensor> run_compiled(CompiledGraph& compiled, const std::vector<whittle::Tensor>& inputs) {
    if (!compiled.executable) return evaluate(compiled.graph, inputs);
    const std::lock_guard lock(compiled.mutex);
    RunResult result = compiled.executable->run(inputs);
    if (const auto* failure = std::get_if<BackendFailure>(&result))
        throw BackendError("the backend failed at " + failure->stage + " of graph " + compiled.graph.name + ": " +
                           failure->message);
    return std::get<Values>(std::move(result));
}

void Execution::verify(const CompiledGraph& compiled, const std::vector<whittle::Tensor>& inputs,
                       const std::vector<whittle::Tensor>& outputs) {
    const WithoutModes not_seen;
    const std::vector<whittle::Tensor> expected = evaluate(compiled.graph, inputs);
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (const auto difference = compare(outputs.at(i), expected[i], Accuracy{}))
            throw VerifyError("backend " + function_.backend_name + " gives wrong results for graph " +
                              compiled.graph.name + " of " + function_.name() + ": output " + std::to_string(i) + " " +
                              difference->description);
}

}  // namespace whittle::api
