#include "repro/steps.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "graph/abilities.h"
#include "judge/frames.h"
#include "printers/python_script.h"
#include "repro/verify.h"

namespace whittle::repro {
namespace fs = std::filesystem;

namespace {

std::vector<std::string> head_of(const LoadedFrame& frame, const fs::path& output) {
    std::vector<std::string> head;
    const std::string name = output.filename().string();
    if (const std::optional<Failure>& failure = frame.graph.failure)
        head.push_back(failure->backend + ": " + failure->text());
    if (const std::string interpreter = interpreter_of(frame); !interpreter.empty())
        head.push_back("The program was traced in " + interpreter + ".");
    head.push_back("python3 " + name + ": exit 0 if PyTorch computes the expected results, else 1.");
    head.push_back("python3 " + name + " ts: the same computation, traced and optimized by TorchScript.");
    head.push_back(
        "python3 " + name +
        " BACKEND: the same computation under torch.compile (PyTorch 2) with this backend, for example inductor.");
    return head;
}

/// Whether it is PyTorch itself that fails, so that the script shows the failure.
bool fails_in_pytorch(const Graph& graph) {
    if (!graph.failure || graph.failure->backend.empty()) return false;
    const auto backend = find_backend(graph.failure->backend, graph.failure->options);
    const Emitter* emitter = offered<Emitter>(*backend);
    return emitter && emitter->is_pytorch();
}

/// Runs the script in the interpreter that ran the program, which has its PyTorch; where none is known, in one that has
/// PyTorch. `graph`: what the script computes; a failure of another backend is none of the script.
void run_python(PythonRepro& repro, const Graph& graph) {
    const bool fails = fails_in_pytorch(graph);
    const bool traced = repro.python != kPython;
    ProcessOptions options;
    options.folder = fs::absolute(repro.output).parent_path();
    options.timeout = std::chrono::seconds(300);
    constexpr const char* kAsk = "import torch; print(torch.__version__); hasattr(torch, 'compile') or print('old')";
    const auto has_it = [](const ProcessResult& found) { return found.exit_code == 0 && !found.timed_out; };
    if (traced && !fs::exists(repro.python)) {
        repro.message = repro.python + ", the Python interpreter that ran the traced program, does not exist";
        return;
    }
    ProcessResult found = run_process({repro.python, "-c", kAsk}, options);
    constexpr const char* kSystems = "/usr/bin/python3";  // has it where another one in PATH has not
    if (!traced && !has_it(found) && fs::exists(kSystems)) {
        found = run_process({kSystems, "-c", kAsk}, options);
        if (has_it(found)) repro.python = kSystems;
    }
    if (!has_it(found)) {
        repro.message =
            repro.python + (traced ? ", the Python interpreter that ran the traced program, has no PyTorch"
                                   : " has no PyTorch; to install PyTorch, run scripts/setup --with python");
        return;
    }
    if (found.out.find("\nold\n") != std::string::npos) repro.mode = "ts";
    const ProcessResult result = run_process({repro.python, repro.output.filename().string()}, options);
    const std::string version = "PyTorch " + found.out.substr(0, found.out.find_first_of("\n"));
    const bool ended = !result.timed_out && !result.signal;
    repro.verified = ended && (fails ? result.exit_code == 1 && result.err.starts_with("BUG: ") : !result.exit_code);
    repro.message = last_line(result.err.empty() ? result.out : result.err);
    if (!repro.verified) return;
    repro.message = version + (fails ? " does not compute" : " computes") + " the results of the reference";
    if (!fails && graph.failure && !graph.failure->backend.empty())
        repro.message += "; this run does not use " + graph.failure->backend + ", which fails";
}

}  // namespace

PythonRepro write_python(const LoadedFrame& frame, const Options& options) {
    PythonRepro repro{.output = options.file()};
    if (std::string interpreter = interpreter_of(frame); !interpreter.empty()) repro.python = std::move(interpreter);
    const std::vector<Tensor> expected = reference_outputs(frame);
    const ReproProgram script =
        printers::python_script(frame.graph, frame.inputs, expected, head_of(frame, repro.output), options.stem());
    for (const ReproProgram::File& sidecar : script.files) {
        repro.sidecars.push_back(repro.output.parent_path() / sidecar.name);
        write_file(repro.sidecars.back(), sidecar.text);
    }
    write_file(repro.output, script.text);
    fs::permissions(repro.output, fs::perms::owner_exec, fs::perm_options::add);
    if (options.runs > 0) run_python(repro, frame.graph);
    return repro;
}

std::string to_text(const PythonRepro& repro, const Options& options) {
    std::string text = "written:  " + repro.output.string() + "\n";
    for (const fs::path& sidecar : repro.sidecars) text += "          " + sidecar.string() + "\n";
    if (!repro.message.empty()) text += (repro.verified ? "verified: " : "NOT verified: ") + repro.message + "\n";
    return text + next_line(shell_quote({repro.python, repro.output.string(), repro.mode}), repro.verified, options);
}

nlohmann::json to_json(const PythonRepro& repro) {
    return {{"output", repro.output.string()}, {"verified", repro.verified}, {"message", repro.message}};
}

}  // namespace whittle::repro
