#include "reduce/oracle.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/json.h"
#include "graph/json_text.h"
#include "passes/widen.h"
#include "tensor/safetensors.h"

namespace whittle::reduce {
namespace {

class BackendOracle final : public Oracle {
  public:
    BackendOracle(Backend& backend, BackendOracleOptions options) : backend_(backend), options_(std::move(options)) {
        if (options_.launcher.prefix.empty()) backend_.warm_up();
    }

    Observation observe(const Candidate& candidate) override {
        Outcome outcome = run(candidate);
        if (options_.accuracy && !outcome.failed())
            outcome = judge(std::move(outcome), candidate.expected, options_.how, [&] {
                return evaluate_exactly(candidate.graph, candidate.inputs).value_or(std::vector<Tensor>());
            });
        Observation seen;
        seen.message = outcome.message;
        seen.unresolved = outcome.kind == Outcome::Kind::unsupported;
        seen.failed = outcome.failed() && !seen.unresolved;
        if (seen.failed) seen.signature = signature_of(outcome);
        return seen;
    }

    void describe(Failure& failure) const override {
        failure.backend = options_.backend;
        failure.options = options_.options;
        failure.accuracy = options_.how;
    }

    std::string name() const override { return options_.backend; }

  private:
    Outcome run(const Candidate& candidate) const {
        const BackendOracleOptions& o = options_;
        return o.launcher.prefix.empty()
                   ? run_isolated(candidate.graph, candidate.inputs, backend_, o.options, o.limits)
                   : run_launched(candidate.graph, candidate.inputs, o.backend, o.options, o.limits, o.launcher);
    }

    Backend& backend_;
    BackendOracleOptions options_;
};

bool contains(const std::vector<int>& codes, int code) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

class CommandOracle final : public Oracle {
  public:
    explicit CommandOracle(CommandOracleOptions options) : options_(std::move(options)) {
        if (options_.command.empty()) throw Error("found no oracle command, expected one");
        if (options_.fail_pattern.empty()) return;
        try {
            pattern_.emplace(options_.fail_pattern, std::regex::ECMAScript);
        } catch (const std::regex_error& error) {
            throw Error({"--fail-regex", {}},
                        "found '" + options_.fail_pattern + "', expected a regular expression (" + error.what() + ")");
        }
    }

    Observation observe(const Candidate& candidate) override {
        const TempDir folder("whittle-query");
        const std::filesystem::path file = write_query(candidate, folder.path());
        ProcessOptions process;
        process.timeout = options_.limits.timeout;
        process.cpu_limit = options_.limits.cpu;
        process.memory_limit = options_.limits.memory;
        process.remove_if_killed = folder.path();
        process.environment = {{"WHITTLE_QUERY_DIR", folder.path().string()}};
        return judge(run_process(with_path(file), process));
    }

    void describe(Failure& failure) const override {
        failure.command = options_.command;
        failure.polarity = options_.polarity == CommandOracleOptions::Polarity::test             ? "test"
                           : options_.polarity == CommandOracleOptions::Polarity::test_must_fail ? "test-must-fail"
                                                                                                 : "check";
    }

    std::string name() const override { return shell_quote(options_.command); }

  private:
    std::filesystem::path write_query(const Candidate& candidate, const std::filesystem::path& folder) const {
        const std::filesystem::path file = folder / ("candidate" + options_.extension);
        if (options_.extension == ".onnx") {
            save_onnx(candidate.graph, file);
            save_tensors(folder / "test_data_set_0", "input_", candidate.inputs);
            save_tensors(folder / "test_data_set_0", "output_", candidate.expected);
            return file;
        }
        save_graph(candidate.graph, file);
        std::map<std::string, Tensor> inputs;
        const std::vector<NodeId> placeholders = candidate.graph.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); i++)
            inputs[candidate.graph.nodes[static_cast<std::size_t>(placeholders[i])].name] = candidate.inputs[i];
        save_safetensors(folder / "inputs.safetensors", inputs);
        return file;
    }

    /// The layout of the ONNX backend tests.
    static void save_tensors(const std::filesystem::path& folder, const std::string& prefix,
                             std::span<const Tensor> tensors) {
        for (std::size_t i = 0; i < tensors.size(); i++)
            save_tensor_proto(folder / (prefix + std::to_string(i) + ".pb"), tensors[i]);
    }

    std::vector<std::string> with_path(const std::filesystem::path& file) const {
        std::vector<std::string> argv = options_.launcher;
        argv.insert(argv.end(), options_.command.begin(), options_.command.end());
        bool placed = false;
        for (std::string& word : argv)
            for (std::size_t at = 0; (at = word.find("{}", at)) != std::string::npos; at += file.string().size()) {
                word.replace(at, 2, file.string());
                placed = true;
            }
        if (!placed) argv.push_back(file.string());
        return argv;
    }

    Observation judge(const ProcessResult& process) const {
        if (process.signal == 0 && process.exit_code == 127)
            throw Error({options_.command.front(), {}},
                        "the oracle command exited with 127 (command not found), which ends the search",
                        "run the command by hand on the original model first");
        Observation seen;
        seen.message = first_line(process);
        if (process.timed_out || process.cpu_exceeded) return limited("timeout", late(process), std::move(seen));
        if (process.out_of_memory)
            return limited("out_of_memory", "killed by SIGKILL, as the kernel does when memory runs out",
                           std::move(seen));
        if (process.signal == 0 && process.exit_code == 125) {
            seen.unresolved = true;
            if (seen.message.empty()) seen.message = "it exited with 125";
            return seen;
        }
        // Not the bug, however the command ends then: Python exits with 1, C++ dies of SIGABRT.
        if ((process.signal != 0 || process.exit_code != 0) && says_out_of_memory(process.err))
            return limited("out_of_memory", seen.message, std::move(seen));
        if (options_.polarity == CommandOracleOptions::Polarity::check) return checked(process, std::move(seen));
        const bool zero = process.signal == 0 && process.exit_code == 0;
        seen.failed = options_.polarity == CommandOracleOptions::Polarity::test ? zero : !zero;
        if (seen.failed) seen.signature = {"check", "", zero ? "exit 0" : "exit not 0"};
        return seen;
    }

    std::string late(const ProcessResult& process) const {
        return process.cpu_exceeded
                   ? "no answer after " + std::to_string(options_.limits.cpu->count()) + " s of processor time"
                   : "no answer after " + std::to_string(options_.limits.timeout.count()) + " ms";
    }

    static Observation limited(const char* kind, std::string message, Observation seen) {
        seen.failed = true;
        seen.message = std::move(message);
        seen.signature = {kind, "", ""};
        return seen;
    }

    /// Polygraphy's rules: which exits and which output count as the failure.
    Observation checked(const ProcessResult& process, Observation seen) const {
        if (process.signal != 0) {
            seen.failed = true;
            seen.signature = {"crash", "", signal_name(process.signal)};
            return seen;
        }
        const int code = process.exit_code;
        const auto passes = [&](const char* why) {
            seen.message = "exits with " + std::to_string(code) + why;
            return seen;
        };
        if (code == 0) return passes("");
        if (contains(options_.ignore_codes, code)) return passes(", which --ignore-fail-code excludes");
        if (!options_.fail_codes.empty() && !contains(options_.fail_codes, code))
            return passes(", which is no --fail-code");
        if (pattern_ && !std::regex_search(process.out, *pattern_) && !std::regex_search(process.err, *pattern_))
            return passes(", and what it prints does not match --fail-regex");
        seen.failed = true;
        // Without a list of codes the original's own code is the failure; another code is another failure.
        seen.signature = {"check", "",
                          options_.fail_codes.empty() ? "exit " + std::to_string(code) : "listed exit code"};
        return seen;
    }

    static std::string first_line(const ProcessResult& process) {
        const std::string& text = process.err.empty() ? process.out : process.err;
        return as_line(std::string_view(text).substr(0, text.find('\n')));
    }

    CommandOracleOptions options_;
    std::optional<std::regex> pattern_;
};

}  // namespace

std::unique_ptr<Oracle> backend_oracle(Backend& backend, BackendOracleOptions options) {
    return std::make_unique<BackendOracle>(backend, std::move(options));
}

std::unique_ptr<Oracle> command_oracle(CommandOracleOptions options) {
    return std::make_unique<CommandOracle>(std::move(options));
}

}  // namespace whittle::reduce
