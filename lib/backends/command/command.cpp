#include "backends/command/command.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "backends/command/repro_code.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "frontends/onnx/save.h"
#include "graph/json.h"
#include "tensor/safetensors.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr int kCannotJudge = 125;                 // as in git bisect
constexpr int kCannotRun = 126, kNotFound = 127;  // a shell's words for a broken command
constexpr std::size_t kMaxReport = 1 << 20;

struct Options {
    bool onnx = false;
    std::optional<std::chrono::milliseconds> timeout = {};
};

/// Throws Error for a value that an option cannot have; an unknown option is a warning.
Options read_options(const BackendOptions& options, const Graph& graph) {
    Options result;
    result.onnx = graph.dialect == "onnx";
    for (const auto& [key, value] : options) {
        if (key == "format") {
            if (value != "auto" && value != "onnx" && value != "json")
                throw Error({"backend option format", {}}, "found '" + value + "', expected auto, onnx or json");
            if (value != "auto") result.onnx = value == "onnx";
        } else if (key == "timeout") {
            double seconds = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
            if (error != std::errc() || end != value.data() + value.size() || !(seconds > 0 && seconds < 1e9))
                throw Error({"backend option timeout", {}},
                            "found '" + value + "', expected a number of seconds above 0");
            result.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
        } else {
            log_warning(LogChannel::backend, "cmd: unknown option '" + key + "' is ignored; known are format, timeout");
        }
    }
    return result;
}

/// The line of standard error that tells failures apart: the first that says error:, or else the last. Compilers end
/// with words that all their errors share ("1 error generated.").
std::string own_words(const std::string& said) {
    constexpr std::string_view kErrors[] = {"error:", "fatal:", "exception:", "assertion", "panicked at"};
    std::istringstream lines(said);
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        line.erase(line.find_last_not_of(" \t\r") + 1);  // npos + 1 is 0
        std::string lower = line;
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
        for (const std::string_view word : kErrors)
            if (lower.find(word) != std::string::npos) return line;
        if (!line.empty()) last = line;
    }
    return last;
}

/// What the command itself wrote down of its failure, over `failure`.
void read_report(const fs::path& file, BackendFailure& failure) {
    if (!fs::exists(file)) return;
    try {
        const nlohmann::json report = parse_json(read_file(file, kMaxReport), "failure.json");
        if (!report.is_object()) throw Error("found no object");
        const auto text = [&](const char* key, std::string& to) {
            if (const auto found = report.find(key); found != report.end() && found->is_string())
                to = found->get<std::string>();
        };
        text("message", failure.message);
        text("op", failure.op);
        std::string stage = failure.stage;
        text("stage", stage);
        if (stage == "compile" || stage == "run")
            failure.stage = stage;
        else
            failure.message += "; its failure.json says stage '" + stage + "', expected compile or run";
        if (const auto found = report.find("unsupported"); found != report.end() && found->is_boolean())
            failure.unsupported = found->get<bool>();
    } catch (const Error& error) {
        failure.message += "; its failure.json cannot be read: " + error.message();
    }
}

BackendFailure failure_of(const ProcessResult& result, const Options& options, const fs::path& folder) {
    BackendFailure failure{.stage = "run", .message = {}};
    if (result.timed_out)
        failure.message = "no result after " + std::to_string(options.timeout->count()) + " ms";
    else if (result.signal)
        failure.message = "killed by " + signal_name(result.signal);
    else
        failure.message = "exited with " + std::to_string(result.exit_code);
    const bool broken = !result.signal && (result.exit_code == kCannotRun || result.exit_code == kNotFound);
    failure.unsupported = !result.signal && (broken || result.exit_code == kCannotJudge);
    if (broken) failure.message += ", which says that the command itself cannot run";
    if (const std::string line = own_words(result.err); !line.empty()) failure.message += ": " + line;
    read_report(folder / "failure.json", failure);
    return failure;
}

/// The tensors "0" to "count-1", all of them and no others. Throws Error.
Values read_outputs(const fs::path& file, std::size_t count) {
    std::map<std::string, Tensor> tensors = load_safetensors(file);
    Values outputs;
    for (std::size_t i = 0; i < count; ++i) {
        const auto found = tensors.find(std::to_string(i));
        if (found == tensors.end())
            throw Error("found no tensor '" + std::to_string(i) + "', expected '0' to '" + std::to_string(count - 1) +
                        "'");
        outputs.push_back(found->second);
    }
    if (tensors.size() != count)
        throw Error("found " + std::to_string(tensors.size()) + " tensors, expected " + std::to_string(count));
    return outputs;
}

void write_model(const Graph& graph, bool onnx, const fs::path& folder) {
    Graph plain = graph;
    plain.failure.reset();
    if (onnx)
        save_onnx(plain, folder / "model.onnx");
    else
        save_graph(plain, folder / "graph.json");
}

void write_inputs(std::span<const Tensor> inputs, const fs::path& folder) {
    std::map<std::string, Tensor> named;
    for (std::size_t i = 0; i < inputs.size(); ++i) named.emplace(std::to_string(i), inputs[i]);
    save_safetensors(folder / "inputs.safetensors", named);
}

class CommandExecutable final : public Executable {
  public:
    /// Writes the model; throws Error when it has no spelling in that format.
    CommandExecutable(std::vector<std::string> argv, const Graph& graph, Options options)
        : argv_(std::move(argv)), options_(options), outputs_(graph.outputs().size()) {
        bool placed = false;
        for (std::string& word : argv_)
            for (std::size_t at = word.find("{}"); at != std::string::npos; at = word.find("{}", at)) {
                word.replace(at, 2, folder_.path().string());
                at += folder_.path().string().size();
                placed = true;
            }
        if (!placed) argv_.push_back(folder_.path().string());
        write_model(graph, options_.onnx, folder_.path());
    }

    RunResult run(std::span<const Tensor> inputs) override {
        const fs::path outputs = folder_.path() / "outputs.safetensors";
        for (const char* leftover : {"outputs.safetensors", "failure.json"}) fs::remove(folder_.path() / leftover);
        write_inputs(inputs, folder_.path());

        ProcessOptions process;
        // Whoever isolates us by a process group ends the command with us; only a timeout of our own needs a group.
        process.own_group = options_.timeout.has_value();
        process.timeout = options_.timeout;
        ProcessResult result;
        try {
            result = run_process(argv_, process);
        } catch (const Error& error) {
            return BackendFailure{"run", {}, error.what()};
        }
        log_debug(LogChannel::backend, "command " + shell_quote(argv_) + " exited with " +
                                           std::to_string(result.exit_code) + "\n" + result.out + result.err);
        if (result.ended_from_outside) throw EndedFromOutside(result);
        if (result.exit_code != 0 || result.signal || result.timed_out)
            return failure_of(result, options_, folder_.path());
        if (!fs::exists(outputs)) return BackendFailure{"run", {}, "succeeded but wrote no outputs.safetensors"};
        try {
            return read_outputs(outputs, outputs_);
        } catch (const Error& error) {  // without the path, which is another one in every run
            return BackendFailure{"run",
                                  {},
                                  "wrote a bad outputs.safetensors: " + error.where().position +
                                      (error.where().position.empty() ? "" : ": ") + error.message()};
        }
    }

  private:
    TempDir folder_{"whittle-cmd"};
    std::vector<std::string> argv_;
    Options options_;
    std::size_t outputs_;
};

/// True where execvp() would find a program.
bool is_program(const std::string& name) {
    const auto runs = [](const fs::path& file) {
        std::error_code ignored;
        return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos) return runs(name);
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (runs(fs::path(folder) / name)) return true;
    return false;
}

/// Offers no Support: only the command knows, and it says so by exiting with 125.
class CommandBackend final : public Backend, public Emitter {
  public:
    explicit CommandBackend(const std::string& line) : line_(line), argv_(shell_split(line)) {
        if (argv_.empty())
            throw Error({"backend 'cmd:" + line + "'", {}}, "the command is missing, expected cmd:PROGRAM ARGS");
        if (!is_program(argv_[0]))  // or that would pass for the backend's failure
            throw Error({"backend 'cmd:" + line + "'", {}},
                        "there is no program '" + argv_[0] + "', neither in PATH nor by this path");
    }
    std::string name() const override { return "cmd:" + line_; }
    std::string description() const override { return "runs " + shell_quote(argv_) + " on a folder"; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        const Options read = read_options(options, graph);
        try {
            return std::make_unique<CommandExecutable>(argv_, graph, read);
        } catch (const Error& error) {
            return BackendFailure{"compile", {}, "cannot write the model: " + error.message(), true};
        }
    }
    SuspectCode emit(const EmitRequest& request) override { return command_code(request, argv_); }

  private:
    std::string line_;
    std::vector<std::string> argv_;
};

}  // namespace

void write_command_folder(const Graph& graph, const BackendOptions& options, std::span<const Tensor> inputs,
                          const fs::path& folder) {
    write_model(graph, read_options(options, graph).onnx, folder);
    write_inputs(inputs, folder);
}

std::unique_ptr<Backend> make_command_backend(const std::string& line) {
    return std::make_unique<CommandBackend>(line);
}

}  // namespace whittle

/// What the registry looks for in this library.
extern "C" whittle::Backend* whittle_make_command_backend(const std::string& line) {
    return whittle::make_command_backend(line).release();
}
