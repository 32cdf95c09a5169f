#include "debug/write_repro.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "graph/emitter.h"
#include "graph/releases.h"
#include "ops/core/custom.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "program/gradients.h"
#include "program/interpreted.h"
#include "repro/issue.h"
#include "repro/python.h"

namespace whittle::debug {
namespace fs = std::filesystem;

std::optional<Failure> failure_of(const LoadedFrame& frame, const Suspect& suspect) {
    const auto reference = find_backend(kReferenceBackend);
    const bool unknown = suspect.tier == Tier::ends && !opaque_ops(frame.graph).empty();
    const Outcome expected = unknown ? Outcome() : run_in_process(frame.graph, frame.inputs, *reference, {});
    if (expected.failed())
        throw Error({frame.file.string(), {}}, "the reference cannot run it: " + expected.message,
                    "give the model inputs that it can run on: --input, --inputs");
    const auto backend = find_backend(suspect.spec, suspect.options);
    const Outcome seen = query(frame.graph, frame.inputs, expected.outputs, *backend, suspect);
    if (seen.kind == Outcome::Kind::unsupported)
        throw Error({frame.file.string(), {}}, suspect.spec.text() + " does not support it: " + seen.message);
    if (!seen.is_failure()) {
        if (seen.failed()) throw Error({frame.file.string(), {}}, "it was not judged: " + seen.message);
        return std::nullopt;
    }
    Failure failure;
    describe(suspect, failure);
    failure.version = version_of(*backend, suspect.options);
    failure.signature = signature_of(seen);
    failure.message = seen.message;
    failure.inputs = frame.inputs;
    return failure;
}

namespace {

CompileStage part_of(const Failure& failure) {
    return failure.signature.at_gradients() ? CompileStage::backward : CompileStage::forward;
}

/// Another backend, which compiled what failed; nothing where the failure's own did, or interpreted it.
std::optional<Differentiates::Compiler> other_compiler(const Failure& failure, const Backend& backend) {
    const Differentiates* own = offered<Differentiates>(backend);
    return own ? own->compiler_of(part_of(failure), failure.options) : std::nullopt;
}

}  // namespace

std::string compiler_of(const Failure& failure, const Backend& backend) {
    const auto compiler = other_compiler(failure, backend);
    return compiler ? compiler->backend : failure.backend;
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
    if (forward || (own && own->interprets(failing.failure->options)) || offered<OwnGradients>(backend)) return failing;
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

/// What passes made of the graph, where that is wrong: it gives other values, or has other inputs.
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

/// "result # of …" of "graph g_backward, node %_ (aten.mm.default): result # of …": what a program says that has no
/// such graph.
std::string without_place(const std::string& words) {
    constexpr std::string_view kGraph = "graph ", kEnd = "): ";
    const std::size_t end = words.starts_with(kGraph) ? words.find(kEnd) : std::string::npos;
    return end == std::string::npos ? words : words.substr(end + kEnd.size());
}

/// What a backend that interprets makes of the graph, with the failure, where it has a part of a repro for that.
std::optional<Graph> run_by_interpreter(const Backend& backend, const Graph& graph) {
    if (!graph.failure || !offered<Emitter>(backend)) return std::nullopt;
    std::optional<program::Interpreted> run = program::interpreted_by(backend, graph);
    if (!run) return std::nullopt;
    run->instead.failure = run->asked.failure;
    Signature& signature = run->instead.failure->signature;
    signature.detail = without_place(signature.detail);
    return std::move(run->instead);
}

}  // namespace

bool has_repro(const Graph& failing) {
    auto backend = find_backend(failing.failure->backend);
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

repro::Report write_repro(const Graph& graph, const fs::path& file, const repro::Options& options) {
    if (graph.failure && graph.failure->backend.empty())
        throw Error({file.string(), {}}, "a command judged this failure, and a repro needs a backend to compile with",
                    "minify with --backend, or hand the graph itself to the command's owner");
    const std::vector<std::string> unknown = opaque_ops(graph);
    if (graph.failure && graph.failure->signature.kind == name(Outcome::Kind::mismatch) && !unknown.empty())
        throw Error({file.string(), {}},
                    "a repro of wrong results holds what is expected, and Whittle does not know what " + join(unknown) +
                        " computes",
                    "hand the graph itself to the backend's owner");
    const auto backend = find_backend(graph.failure ? graph.failure->backend : std::string());
    if (graph.failure && other_compiler(*graph.failure, *backend))
        return write_repro(as_compiled(graph, *backend), file, options);  // by who compiled it
    if (std::optional<program::Interpreted> run = wrongly_interpreted(*backend, graph)) {
        repro::Options with = options;
        with.instead = std::move(run->instead);
        return repro::write_repro(run->asked, *backend, with);
    }
    if (graph.failure && graph.failure->signature.at_gradients() && offered<OwnGradients>(*backend)) {
        repro::Options with = options;
        with.data = repro::Data::real;  // others would be tried on a graph that says nothing of gradients
        const Graph joint = program::joint_alone(graph, with.gradients.emplace());
        return repro::write_repro(joint, *backend, with);
    }
    if (std::optional<Graph> run = run_by_interpreter(*backend, graph))
        return repro::write_repro(*run, *backend, options);
    Graph compiled = as_compiled(graph, *backend);
    if (compiled.failure) compiled.failure->signature.detail = without_place(compiled.failure->signature.detail);
    return repro::write_repro(compiled, *backend, options);
}

namespace {

std::vector<std::string> head_of(const LoadedFrame& frame, const fs::path& output) {
    std::vector<std::string> head;
    const std::string name = output.filename().string();
    if (const std::optional<Failure>& failure = frame.graph.failure)
        head.push_back(failure->backend + ": " + failure->signature.text());
    head.push_back("python3 " + name + ": exit 0, PyTorch computes what is expected; 1, it does not.");
    head.push_back("python3 " + name + " ts: the same, traced and optimized by TorchScript.");
    head.push_back("python3 " + name + " inductor: the same under torch.compile (PyTorch 2), by any of its backends.");
    return head;
}

/// The last line of what a process said.
std::string last_line(const ProcessResult& result) {
    std::string text = result.err.empty() ? result.out : result.err;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

/// Whether it is PyTorch itself that fails, so that the script shows the failure.
bool fails_in_pytorch(const Graph& graph) {
    if (!graph.failure || graph.failure->backend.empty()) return false;
    const auto backend = find_backend(graph.failure->backend);
    const Emitter* emitter = offered<Emitter>(*backend);
    return emitter && emitter->is_pytorch();
}

/// Runs the script where PyTorch is installed.
void run_python(PythonRepro& repro, bool fails) {
    ProcessOptions options;
    options.folder = fs::absolute(repro.output).parent_path();
    options.timeout = std::chrono::seconds(300);
    constexpr const char* kAsk = "import torch; print(torch.__version__); hasattr(torch, 'compile') or print('old')";
    const auto has_it = [](const ProcessResult& found) { return found.exit_code == 0 && !found.timed_out; };
    ProcessResult found = run_process({repro.python, "-c", kAsk}, options);
    constexpr const char* kSystems = "/usr/bin/python3";  // has it where another one in PATH has not
    if (!has_it(found) && fs::exists(kSystems)) {
        found = run_process({kSystems, "-c", kAsk}, options);
        if (has_it(found)) repro.python = kSystems;
    }
    if (!has_it(found)) {
        repro.message = "python3 has no PyTorch (scripts/setup --with python installs Debian's)";
        return;
    }
    if (found.out.find("\nold\n") != std::string::npos) repro.mode = "ts";
    const ProcessResult result = run_process({repro.python, repro.output.filename().string()}, options);
    const std::string version = "PyTorch " + found.out.substr(0, found.out.find_first_of("\n"));
    const bool ended = !result.timed_out && !result.signal;
    if (fails) {
        repro.verified = ended && result.exit_code == 1 && result.err.starts_with("BUG: ");
        repro.message = repro.verified ? version + " does not compute what the reference does" : last_line(result);
        return;
    }
    repro.verified = ended && result.exit_code == 0;
    repro.message = repro.verified ? version + " computes what the reference does" : last_line(result);
}

}  // namespace

PythonRepro write_python(const LoadedFrame& frame, const fs::path& output, bool verify) {
    const auto reference = find_backend(kReferenceBackend);
    const Outcome expected = run_in_process(frame.graph, frame.inputs, *reference, {});
    if (expected.failed())
        throw Error({frame.file.string(), {}}, "the reference cannot run it: " + expected.message,
                    "give the model inputs that it can run on: --input, --inputs");
    const repro::PythonScript script = repro::python_script(frame.graph, frame.inputs, expected.outputs,
                                                            head_of(frame, output), output.stem().string());
    PythonRepro repro{.output = output, .sidecars = {}, .message = {}};
    for (const repro::Sidecar& sidecar : script.sidecars) {
        repro.sidecars.push_back(output.parent_path() / sidecar.file);
        write_file(repro.sidecars.back(), sidecar.bytes);
    }
    write_file(output, script.text);
    if (verify) run_python(repro, fails_in_pytorch(frame.graph));
    return repro;
}

std::string to_text(const PythonRepro& repro) {
    std::string text = "written:  " + repro.output.string() + "\n";
    for (const fs::path& sidecar : repro.sidecars) text += "          " + sidecar.string() + "\n";
    if (!repro.message.empty()) text += (repro.verified ? "verified: " : "NOT verified: ") + repro.message + "\n";
    return text + "next:     " + shell_quote({repro.python, repro.output.string(), repro.mode}) + "\n";
}

nlohmann::json to_json(const PythonRepro& repro) {
    return {{"output", repro.output.string()}, {"verified", repro.verified}, {"message", repro.message}};
}

namespace {

/// Lines behind a label of ten columns.
std::string labelled(const std::string& label, const std::string& lines) {
    std::string text = label;
    for (std::size_t i = 0; i < lines.size(); i++)
        text +=
            lines[i] == '\n' && i + 1 < lines.size() ? "\n" + std::string(label.size(), ' ') : std::string(1, lines[i]);
    return text;
}

std::string verified_text(const repro::Report& report) {
    if (!report.verified) return "NOT verified: " + report.message + "\n";
    std::string lines;
    for (const repro::OtherReport& other : report.others) lines += "          " + other.message + "\n";
    return "verified: " + std::to_string(report.runs) + " of " + std::to_string(report.of) + " runs fail" +
           (report.control.empty() ? "" : ", and the control passes (" + report.control + ")") + "\n" +
           (report.message.empty() ? "" : "          " + report.message + "\n") + lines;
}

}  // namespace

std::string to_text(const repro::Report& report, const Failure& failure, const repro::Options& options) {
    std::string text = "failure:  " + failure.signature.text() + "\n          " + failure.message + "\n";
    if (report.tried) {
        text += "reduced:  to one kernel of Halide's\n";
    } else {
        text += "data:     " + std::string(name(report.data));
        for (std::size_t i = 0; i < report.passing.size(); i++)
            text += (i ? ", " : " (it does not fail with ") + std::string(name(report.passing[i])) +
                    (i + 1 == report.passing.size() ? ")" : "");
        text += "\n";
    }
    text += "written:  " + report.output.string() +
            (report.short_program ? " (" + plural(report.lines, "line") + ")\n" : "\n");
    for (const fs::path& sidecar : report.sidecars) text += "          " + sidecar.string() + "\n";
    if (report.replaced) {
        text += "names:    renamed, with made-up values in " + plural(*report.replaced, "tensor");
        for (std::size_t i = 0; i < report.kept.size(); i++)
            text += (i ? ", " : "; the failure needs those of ") + report.kept[i];
        text += "\n";
    }
    if (!report.not_short.empty()) text += "          no short program: " + report.not_short + "\n";
    if (options.verify) text += verified_text(report);
    if (!report.also.text.empty()) text += "releases: " + report.also.text + "\n";
    if (options.issue || options.bundle) text += labelled("to check: ", repro::before_sending(options, report));
    const fs::path folder = report.output.parent_path();
    if (options.bundle) return text + "next:     sh " + shell_quote({(folder / "run.sh").string()}) + "\n";
    std::string next = folder.empty() ? "" : "cd " + shell_quote({folder.string()}) + " && ";
    for (const std::string& step : {report.get, report.compile_command})
        if (!step.empty()) next += step + " && ";
    return text + "next:     " + next + report.run_command + "\n";
}

nlohmann::json to_json(const repro::Report& report) {
    return {{"output", report.output.string()},
            {"verified", report.verified},
            {"runs", report.runs},
            {"control", report.control},
            {"compile_command", report.compile_command},
            {"run_command", report.run_command},
            {"form", report.short_program ? "short" : "harness"},
            {"lines", report.lines},
            {"data", name(report.data)},
            {"also", report.also.text},
            {"message", report.message}};
}

}  // namespace whittle::debug
