#include "reduce/oracle.h"

#include <algorithm>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/number_text.h"
#include "base/pattern.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/json.h"
#include "formats/json_text.h"
#include "formats/shared_fields.h"
#include "formats/sidecar.h"
#include "frontends/onnx/copy.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/shared_files.h"
#include "frontends/onnx/tensor_proto.h"
#include "judge/suspect.h"
#include "tensor/safetensors.h"

namespace whittle::reduce {
namespace fs = std::filesystem;
namespace {

std::string text_of(const Limits& limits) {
    return "\nwithin " + std::to_string(limits.timeout.count()) + " ms, " + std::to_string(limits.memory) + " bytes, " +
           (limits.cpu ? std::to_string(limits.cpu->count()) : "any") + " s of processor time";
}

std::string contents_of(const std::vector<fs::path>& files) {
    std::string text;
    for (const fs::path& file : files) text += "\nfile " + file.string() + ' ' + fingerprint(file);
    return text;
}

constexpr double kClear = 2;  // times kLeastRun: so much above it, the next run has an answer, too

class BackendOracle final : public Oracle {
  public:
    BackendOracle(Backend& backend, Suspect suspect) : backend_(backend), suspect_(std::move(suspect)) {}

    Observation observe(const Case& candidate) override {
        const auto& [graph, inputs, expected, file, nodes] = candidate;
        if (file && file->values.size() != file->inputs.size()) return {.unresolved = true};
        Outcome outcome = query({graph, inputs, {expected}, suspect_, file.get()}, backend_);
        if (!outcome.is_failure() || file) return observation_of(outcome);
        if (const auto found = excuse(graph, inputs, outcome, expected, suspect_))
            return {.unresolved = found->verdict != Verdict::right, .message = found->why};
        Observation seen = observation_of(outcome);
        if (suspect_.optimized_only && outcome.kind == Outcome::Kind::mismatch &&
            !right_unoptimized(graph, inputs, expected, backend_, suspect_).value_or(true)) {
            seen.unresolved = true;
            seen.message += "; the candidate also fails without optimization, unlike the original";
        }
        return seen;
    }

    void describe(Failure& failure) const override { whittle::describe(suspect_, failure); }
    std::string name() const override { return suspect_.spec.text(); }

    std::string question() const override {
        std::vector<fs::path> files = backend_files(suspect_.spec);
        const std::vector<fs::path> carriers = files_named(suspect_.launcher.prefix);
        append(files, carriers);
        return Oracle::question() + (suspect_.tier == Tier::computes ? "\nresults count" : "") +
               (suspect_.optimized_only ? "\nright without optimization" : "") +
               (suspect_.beyond_rounding ? "\nbeyond rounding" : "") + paced() + text_of(suspect_.limits) +
               "\nlauncher " + shell_quote(suspect_.launcher.prefix) + contents_of(files);
    }

  private:
    /// What it must not be slower than.
    std::string paced() const {
        if (!suspect_.slower) return {};
        const Pace& pace = *suspect_.slower;
        return "\nslower " + shortest(pace.factor) + " than " + pace.text() +
               (pace.than.empty() ? "" : contents_of(backend_files(pace.than)));
    }

    Backend& backend_;
    Suspect suspect_;
};

ExternalData external_data_of(const std::string& word) {
    const std::vector<std::string>& words = external_data_words();
    return static_cast<ExternalData>(std::ranges::find(words, word) - words.begin());
}

bool contains(const std::vector<std::int64_t>& codes, int code) {
    return std::ranges::find(codes, code) != codes.end();
}

class CommandOracle final : public Oracle {
  public:
    explicit CommandOracle(CommandOracleOptions options) : options_(std::move(options)) {
        if (options_.command.empty()) throw Error("found no command, expected a command that judges candidates");
        if (!options_.fail_pattern.empty()) pattern_.emplace("--fail-regex", options_.fail_pattern);
    }

    Observation observe(const Case& candidate) override {
        const TempDir folder("whittle-query");
        const std::filesystem::path file = written(candidate, folder.path());
        ProcessOptions process = options_.limits.process();
        process.remove_if_killed = folder.path();
        process.environment = {{"WHITTLE_QUERY_DIR", folder.path().string()}};
        return judge(run_process(command_line(options_, file), process));
    }

    void describe(Failure& failure) const override {
        failure.command = options_.command;
        failure.polarity = options_.polarity;
    }

    std::string name() const override { return shell_quote(options_.command); }

    std::string question() const override {
        std::vector<std::string> argv = options_.launcher;
        append(argv, options_.command);
        std::vector<fs::path> files = files_named(argv);
        if (!options_.launcher.empty()) {  // the command's own program
            const std::vector<fs::path> own = files_named(options_.command);
            append(files, own);
        }
        std::string text = Oracle::question() + "\nas " + options_.extension + ' ' + options_.external_data +
                           text_of(options_.limits) + "\nlauncher " + shell_quote(options_.launcher);
        for (const std::int64_t code : options_.fail_codes) text += "\nfails with " + std::to_string(code);
        for (const std::int64_t code : options_.ignore_codes) text += "\npasses with " + std::to_string(code);
        return text + "\nfails with words " + options_.fail_pattern + contents_of(files);
    }

  private:
    std::filesystem::path written(const Case& candidate, const std::filesystem::path& folder) {
        try {
            return write_query(candidate, folder);
        } catch (const Error& error) {
            throw NotWritten(error);
        }
    }

    std::filesystem::path write_query(const Case& candidate, const std::filesystem::path& folder) {
        const std::string extension = candidate.file ? ".onnx" : options_.extension;
        const std::filesystem::path file = folder / ("candidate" + extension);
        if (extension == ".onnx") {
            if (candidate.file)
                copy_onnx(candidate.file->model, file, &shared_.weights);
            else
                save_onnx(candidate.graph, file,
                          weights_beside(candidate.graph, external_data_of(options_.external_data), shared_.weights));
            save_test_data_set(folder / "test_data_set_0", candidate.inputs, candidate.expected);
            return file;
        }
        save_graph(candidate.graph, file, shared_.tensors);
        std::map<std::string, Tensor> inputs;
        const std::vector<NodeId> placeholders = candidate.graph.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); i++)
            inputs[candidate.graph.node({placeholders[i]}).name] = candidate.inputs[i];
        save_safetensors(folder / "inputs.safetensors", inputs);
        return file;
    }

    Observation judge(const ProcessResult& process) const {
        const int code = process.exit_code;
        const bool exited = process.signal == 0;
        if (exited && (code == 126 || code == 127))  // as shells have it
            throw Error({options_.command.front(), {}},
                        "the command exited with " + std::to_string(code) + " (command not " +
                            (code == 127 ? "found" : "executable") + "), which ends the search",
                        "run the command by hand on the original model first");
        if (process.timed_out || process.cpu_exceeded) return fails({"timeout"}, late(process));
        if (process.out_of_memory)
            return fails({"out_of_memory"}, "the command used more than " +
                                                std::to_string(options_.limits.memory >> 20) + " MB (--memory-limit)");
        if (process.ended_from_outside && !contains(options_.fail_codes, code))
            return {.unresolved = true,
                    .message = "the command " + std::string(EndedFromOutside(process).what()),
                    .lost = true};
        std::string said = first_line(process);
        if (exited && code == 125)
            return {.unresolved = true, .message = said.empty() ? "the command exited with 125" : said};
        if (!process.good()) hint_at_memory(process.err);
        if (options_.polarity == "check") return checked(process, std::move(said));
        const bool zero = exited && code == 0;
        if (zero != (options_.polarity == "test")) return {.message = std::move(said)};
        return fails({"check", "", zero ? "exit 0" : "exit not 0"}, std::move(said));
    }

    std::string late(const ProcessResult& process) const {
        return "no answer after " + (process.cpu_exceeded
                                         ? std::to_string(options_.limits.cpu->count()) + " s of processor time"
                                         : std::to_string(options_.limits.timeout.count()) + " ms");
    }

    static Observation fails(Signature signature, std::string message) {
        return {.failed = true, .signature = std::move(signature), .message = std::move(message)};
    }

    /// Polygraphy's rules: which exits and which output count as the failure.
    Observation checked(const ProcessResult& process, std::string said) const {
        if (process.signal != 0) return fails({"crash", "", signal_name(process.signal)}, std::move(said));
        const int code = process.exit_code;
        const bool matches =
            !pattern_ || pattern_->found_in(as_utf8(process.out)) || pattern_->found_in(as_utf8(process.err));
        const char* const passes = code == 0                               ? ""
                                   : contains(options_.ignore_codes, code) ? ", which --ignore-fail-code excludes"
                                   : !options_.fail_codes.empty() && !contains(options_.fail_codes, code)
                                       ? ", which is not a --fail-code"
                                   : matches ? nullptr
                                             : ", but the output of the command does not match --fail-regex";
        if (passes) return {.message = "exits with " + std::to_string(code) + passes};
        // Without a list of codes the original's own code is the failure; another code is another failure.
        return fails({"check", "", options_.fail_codes.empty() ? "exit " + std::to_string(code) : "listed exit code"},
                     std::move(said));
    }

    static std::string first_line(const ProcessResult& process) {
        const std::string& text = process.err.empty() ? process.out : process.err;
        return as_line(std::string_view(text).substr(0, text.find('\n')));
    }

    CommandOracleOptions options_;
    std::optional<Pattern> pattern_;
    SharedFiles shared_{"whittle-tensors"};
};

}  // namespace

std::string Oracle::question() const {
    Failure failure;
    describe(failure);
    std::string text = name() + '\n' + failure.backend + ' ' + failure.polarity + ' ' + failure.reference;
    for (const auto& [key, value] : failure.options) text += '\n' + key + '=' + value;
    for (const std::string& word : failure.command) text += '\n' + word;
    return text + '\n' + (failure.accuracy == Accuracy{} ? "" : json_of(failure.accuracy));
}

std::vector<std::string> command_line(const CommandOracleOptions& options, const std::filesystem::path& candidate) {
    std::vector<std::string> argv = options.launcher;
    append(argv, options.command);
    return with_file(std::move(argv), candidate.string());
}

Observation observation_of(const Outcome& outcome) {
    const bool failed = outcome.is_failure();
    return {.failed = failed,
            .unresolved = outcome.failed() && !failed,
            .signature = failed ? signature_of(outcome) : Signature(),
            .message = outcome.message,
            .marginal = outcome.kind == Outcome::Kind::slow && outcome.run_seconds < kClear * kLeastRun,
            .lost = outcome.kind == Outcome::Kind::unresolved};
}

std::unique_ptr<Oracle> backend_oracle(Backend& backend, Suspect suspect) {
    return std::make_unique<BackendOracle>(backend, std::move(suspect));
}

std::unique_ptr<Oracle> command_oracle(CommandOracleOptions options) {
    return std::make_unique<CommandOracle>(std::move(options));
}

Judging::Judging(const Judge& judge) {
    if (const Suspect* suspect = std::get_if<Suspect>(&judge)) {
        backend = find_backend(suspect->spec, suspect->options);
        oracle = backend_oracle(*backend, *suspect);
    } else {
        oracle = command_oracle(std::get<CommandOracleOptions>(judge));
    }
}

}  // namespace whittle::reduce
