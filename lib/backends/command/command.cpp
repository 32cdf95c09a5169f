#include "backends/command/command.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "backends/command/exchange.h"
#include "backends/command/repro_code.h"
#include "backends/command/short_programs.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/subprocess.h"
#include "formats/json.h"
#include "frontends/onnx/copy.h"
#include "frontends/onnx/shared_files.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/onnx_file.h"
#include "printers/short_program.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr int kCannotJudge = 125;                 // as in git bisect
constexpr int kCannotRun = 126, kNotFound = 127;  // a shell's words for a broken command
constexpr std::size_t kMaxReport = 1 << 20;

struct Options {
    bool onnx = false;
    ExternalData external_data = ExternalData::automatic;
    std::optional<std::chrono::milliseconds> timeout = {};
};

/// Throws Error for a value that an option cannot have.
Options read_options(const BackendOptions& options, bool onnx) {
    Options result{
        .onnx = wants_onnx(options, onnx),
        .external_data = static_cast<ExternalData>(option_choice(options, "external_data", external_data_words()))};
    if (const auto given = options.find("timeout"); given != options.end()) {
        const std::string& text = given->second;
        const double seconds = number_of<double>(text).value_or(0);
        if (!(seconds > 0 && seconds < 1e9)) throw wrong_option("timeout", text, "a number of seconds above 0");
        result.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
    return result;
}

/// What the command itself wrote down of its failure, over `failure`.
void read_report(const fs::path& file, BackendFailure& failure) {
    if (!fs::exists(file)) return;
    try {
        const nlohmann::json report = parse_json(read_file(file, kMaxReport), "failure.json");
        if (!report.is_object())
            throw Error(std::string("found a JSON ") + report.type_name() + ", expected a JSON object");
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
            failure.message +=
                "; found stage '" + stage + "' in the command's failure.json, expected 'compile' or 'run'";
        if (const auto found = report.find("unsupported"); found != report.end() && found->is_boolean())
            failure.unsupported = found->get<bool>();
    } catch (const Error& error) {
        failure.message += "; the command's failure.json cannot be read: " + error.message();
    }
}

BackendFailure process_failure(const ProcessResult& result, const Options& options, const fs::path& folder) {
    BackendFailure failure{.stage = "run", .message = {}};
    if (result.timed_out)
        failure.message = "no result after " + std::to_string(options.timeout->count()) + " ms";
    else if (result.signal)
        failure.message = "killed by " + signal_name(result.signal);
    else
        failure.message = "exited with " + std::to_string(result.exit_code);
    const bool broken = !result.signal && (result.exit_code == kCannotRun || result.exit_code == kNotFound);
    failure.unsupported = !result.signal && (broken || result.exit_code == kCannotJudge);
    if (broken) failure.message += " (the shell could not run the command)";
    if (const std::string line = own_words(result.err); !line.empty()) failure.message += ": " + line;
    read_report(folder / "failure.json", failure);
    return failure;
}

class CommandExecutable final : public Executable {
  public:
    CommandExecutable(std::vector<std::string> argv, Options options, std::size_t outputs)
        : argv_(with_file(std::move(argv), folder_.path().string())), options_(options), outputs_(outputs) {}

    /// Where the model is expected.
    const fs::path& folder() const { return folder_.path(); }

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
        } catch (const Error& error) {  // it cannot be started
            return BackendFailure{"run", {}, error.what(), true};
        }
        log_debug(LogChannel::backend, "command " + shell_quote(argv_) + " exited with " +
                                           std::to_string(result.exit_code) + "\n" + result.out + result.err);
        if (result.ended_from_outside) throw EndedFromOutside(result);
        if (result.exit_code != 0 || result.signal || result.timed_out)
            return process_failure(result, options_, folder_.path());
        if (!fs::exists(outputs)) return BackendFailure{"run", {}, "succeeded but wrote no outputs.safetensors"};
        return read_outputs(outputs, outputs_);
    }

  private:
    TempDir folder_{"whittle-cmd"};
    std::vector<std::string> argv_;
    Options options_;
    std::size_t outputs_;
};

/// Offers no Support: only the command knows, and it says so by exiting with 125.
class CommandBackend final : public Backend, public Emitter, public Optioned, public TakesOnnxFile, public ForeignOps {
  public:
    explicit CommandBackend(const std::string& line) : line_(line), argv_(shell_split(line)) {
        expect_program("cmd:", line, argv_);
    }
    std::string name() const override { return "cmd:" + line_; }
    std::string description() const override { return "runs " + shell_quote(argv_) + " on each model"; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        const Options read = read_options(options, graph.dialect == "onnx");
        auto made = std::make_unique<CommandExecutable>(argv_, read, graph.outputs().size());
        auto failure = failure_to_write([&] {
            write_model(graph, read.onnx, made->folder(), weights_beside(graph, read.external_data, shared_.weights),
                        &shared_.tensors);
        });
        if (failure) return std::move(*failure);
        return CompileResult(std::move(made));
    }
    bool takes_file(const BackendOptions& options) override { return read_options(options, true).onnx; }
    CompileResult compile_file(const OnnxFile& file, const BackendOptions& options) override {
        auto made = std::make_unique<CommandExecutable>(argv_, read_options(options, true), file.outputs.size());
        auto failure =
            failure_to_write([&] { copy_onnx(file.model, made->folder() / "model.onnx", &shared_.weights); });
        if (failure) return std::move(*failure);
        return CompileResult(std::move(made));
    }
    SuspectCode emit(const EmitRequest& request) override { return command_code(request, argv_); }
    std::optional<ReproProgram> short_program(const ShortRequest& request, std::string& why_not) override {
        const Failure& failure = *request.graph.failure;
        const TempDir folder("whittle-repro");
        if (request.graph.subgraphs.empty())
            write_command_folder(with_short_names(request.graph), failure.options, failure.inputs, folder.path());
        return script_program(request, {.name = name(), .words = argv_, .files = files_of(folder.path())}, why_not);
    }
    std::vector<std::string> option_names(const BackendOptions&) override {
        return {"external_data", "format", "timeout"};
    }
    void check(const BackendOptions& options) override { read_options(options, true); }

  private:
    std::string line_;
    std::vector<std::string> argv_;
    SharedFiles shared_{"whittle-cmd-shared"};
};

}  // namespace

void write_command_folder(const Graph& graph, const BackendOptions& options, std::span<const Tensor> inputs,
                          const fs::path& folder) {
    write_model(graph, read_options(options, graph.dialect == "onnx").onnx, folder);
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
