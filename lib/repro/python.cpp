#include "repro/steps.h"

#include <map>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/files.h"
#include "base/number_text.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "graph/abilities.h"
#include "printers/torch_python.h"
#include "repro/verify.h"
#include "tensor/expanded.h"

namespace whittle::repro {
namespace fs = std::filesystem;

using printers::python_list, printers::python_sizes, printers::python_variable, printers::python_wrapped,
    printers::torch_dtype;

namespace {

constexpr std::int64_t kLargestList = 64;  ///< elements that are written one by one
constexpr std::size_t kLargestHex = 2048;  ///< bytes that are written as hexadecimal digits
constexpr std::size_t kLine = 100;

class Script {
  public:
    Script(const Graph& graph, std::string stem) : graph_(graph), stem_(std::move(stem)) {}

    ReproProgram write(std::span<const Tensor> inputs, std::span<const Tensor> expected,
                       const std::vector<std::string>& about) {
        const std::string function = this->function();
        std::string head, values;
        for (const std::string& line : about) head += "# " + line + "\n";
        for (std::size_t i = 0; i < inputs.size(); ++i)
            values += define(names_.at(graph_.placeholders().at(i)), inputs[i]);
        for (const auto& [name, attribute] : attributes_) values += define(name, graph_.attributes.at(attribute));
        std::vector<std::string> results;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string name = "expected" + std::to_string(i);
            values += define(name, expected[i]);
            const DTypeInfo& info = info_of(expected[i].dtype());
            results.push_back("(" + name + ", " + shortest(info.rtol, false) + ", " + shortest(info.atol, false) + ")");
        }
        const std::string call = "graph" + parameters();
        return {
            .text = fill_template(
                "repro_calls.py",
                {{"ABOUT", head},
                 {"PATHS", sidecars_.empty() ? "" : "from pathlib import Path\n"},
                 {"FUNCTION", function},
                 {"VALUES", values},
                 {"TRACE",
                  python_wrapped("    graph = torch.jit.trace(graph, " + python_list(arguments_, '(', ')') + ")")},
                 {"WARM_UP", python_wrapped("    " + call + ", " + call)},  // it optimizes once it has seen two runs
                 {"RUN", python_wrapped("results = " + call)},
                 {"EXPECTED", python_wrapped("expected = " + python_list(results, '[', ']'))}}),
            .files = std::move(sidecars_)};
    }

  private:
    std::string function() {
        std::string calls;
        const auto of = [&](NodeId id) { return names_.at(id); };
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            if (node.kind == NodeKind::output) {
                std::vector<std::string> words;
                for (const Arg& arg : node.args) words.push_back(printers::torch_argument(arg, of));
                calls += python_wrapped("    return " + python_list(words, '(', ')')) + "\n";
                break;
            }
            const std::string& name = names_[static_cast<NodeId>(i)] = python_variable(node.name);
            if (node.kind == NodeKind::call)
                calls +=
                    python_wrapped("    " + name + " = " + printers::torch_call(node, printers::Overload::named, of)) +
                    "\n";
            else
                arguments_.push_back(name);
            if (node.kind == NodeKind::get_attr) attributes_.emplace_back(name, node.target);
        }
        return python_wrapped("def graph" + parameters()) + ":\n" + calls;
    }

    std::string parameters() const { return "(" + join(arguments_) + ")"; }

    std::string define(const std::string& name, const Tensor& value) {
        return python_wrapped(name + " = " + tensor(value)) + "\n";
    }

    std::string tensor(const Tensor& tensor) {
        if (const Tensor once = unexpanded(tensor); once.sizes() != tensor.sizes())
            return this->tensor(once) + ".expand(" + python_sizes(tensor.sizes()) + ")";
        const std::string dtype = torch_dtype(tensor.dtype());
        const std::string text = contiguous(tensor.contiguous(), dtype);
        if (tensor.strides() == contiguous_strides(tensor.sizes())) return text;
        return "torch.empty_strided(" + python_sizes(tensor.sizes()) + ", " + python_sizes(tensor.strides()) +
               ", dtype=" + dtype + ").copy_(" + text + ")";
    }

    std::string contiguous(const Tensor& tensor, const std::string& dtype) {
        const auto bytes = tensor.contiguous_bytes();
        const std::string reshaped = ".reshape(" + python_sizes(tensor.sizes()) + ")";
        if (tensor.numel() <= kLargestList) {
            std::vector<std::string> words;
            for (std::int64_t i = 0; i < tensor.numel(); ++i) words.push_back(printers::python_element(tensor, i));
            const std::string plain = "torch.tensor(" + python_list(words, '[', ']') + ", dtype=" + dtype + ")";
            return tensor.sizes() == Sizes{tensor.numel()} ? plain : plain + reshaped;
        }
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        std::string source;
        if (bytes.size() <= kLargestHex) {
            std::string digits;
            for (const unsigned char c : text)
                digits += "0123456789abcdef"[c >> 4], digits += "0123456789abcdef"[c & 15];
            source = "bytes.fromhex(";
            for (std::size_t i = 0; i < digits.size(); i += kLine - 8)
                source += "\n    '" + digits.substr(i, kLine - 8) + "'";
            source += ")";
        } else {
            ReproProgram::File sidecar{stem_ + "." + std::to_string(sidecars_.size()) + ".bin", std::string(text)};
            source = "(Path(__file__).parent / " + python_text(sidecar.name) + ").read_bytes()";
            sidecars_.push_back(std::move(sidecar));
        }
        return "torch.frombuffer(bytearray(" + source + "), dtype=" + dtype + ")" + reshaped;
    }

    const Graph& graph_;
    const std::string stem_;
    std::map<NodeId, std::string> names_;
    std::vector<std::string> arguments_;
    std::vector<std::pair<std::string, std::string>> attributes_;  ///< variable, name in the graph
    std::vector<ReproProgram::File> sidecars_;
};

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
    repro.verified = ended && (fails ? result.exit_code == 1 && result.err.starts_with("BUG: ") : !result.exit_code);
    repro.message = repro.verified ? version + (fails ? " does not compute" : " computes") + " what the reference does"
                                   : last_line(result.err.empty() ? result.out : result.err);
}

}  // namespace

ReproProgram python_script(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                           const std::vector<std::string>& about, const std::string& stem) {
    return Script(graph, stem).write(inputs, expected, about);
}

PythonRepro write_python(const LoadedFrame& frame, const Options& options) {
    PythonRepro repro{.output = options.file()};
    const std::vector<Tensor> expected = reference_outputs(frame);
    const ReproProgram script =
        python_script(frame.graph, frame.inputs, expected, head_of(frame, repro.output), options.stem());
    for (const ReproProgram::File& sidecar : script.files) {
        repro.sidecars.push_back(repro.output.parent_path() / sidecar.name);
        write_file(repro.sidecars.back(), sidecar.text);
    }
    write_file(repro.output, script.text);
    if (!options.no_verify) run_python(repro, fails_in_pytorch(frame.graph));
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

}  // namespace whittle::repro
