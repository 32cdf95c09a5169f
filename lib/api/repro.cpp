#define WHITTLE_API_IMPLEMENTATION
#include "api/repro.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/log.h"
#include "base/module.h"
#include "base/subprocess.h"
#include "base/variables.h"
#include "base/words.h"
#include "compile/program.h"
#include "graph/backend_options.h"
#include "judge/suspect.h"
#include "ops/core/mode.h"
#include "trace/record.h"

namespace whittle::api {
namespace {

constexpr const char* kDefaultFolder = "whittle_debug";

/// The option, else the variable; and which of them it was, for errors.
std::string setting(const std::string& option, const char* option_name, const char* variable_name, std::string& from) {
    from = option.empty() ? variable_name : option_name;
    return option.empty() ? variable(variable_name) : option;
}

std::filesystem::path minimized_file(std::filesystem::path record) { return record.replace_extension(".min.json"); }

/// "minimized from 7 to 1 op"
std::string counts(const nlohmann::json& result) {
    return "minimized from " + std::to_string(result.value("calls_before", 0)) + " to " +
           plural(result.value("calls_after", 0), "op");
}

/// The same of a backend that no other process knows: in forked children of this one.
std::string minified_here(const Graph& graph, const FailingGraph& failing, const std::filesystem::path& record,
                          bool wrong_results) {
    using Minimize = std::string*(const Graph&, std::span<const whittle::Tensor>, Backend&, const Suspect&,
                                  const std::filesystem::path&);
    const std::filesystem::path output = minimized_file(record);
    const Suspect suspect{.spec = failing.backend,
                          .options = failing.backend_options,
                          .tier = wrong_results ? Tier::computes : Tier::ends};
    try {
        const std::unique_ptr<Backend> backend = find_backend(failing.backend);
        const std::unique_ptr<std::string> answer(module_function<Minimize>("search", "whittle_minimize_here")(
            graph, failing.inputs, *backend, suspect, output));
        const nlohmann::json result = nlohmann::json::parse(*answer);
        const std::string ending = result.value("result", "");
        return ending == "minimized" ? counts(result) + ": " + output.string()
                                     : "the graph was not minimized (" + ending + ")";
    } catch (const Error& error) {
        return "the graph was not minimized: " + std::string(error.what());
    }
}

/// minify's result as a line for the log.
std::string minified(const std::filesystem::path& record, std::vector<std::string> command) {
    const std::filesystem::path output = minimized_file(record);
    command.insert(command.end(), {"-o", output.string()});
    const std::string by_hand = "; next: " + shell_quote(command);
    command.insert(command.end(), {"--json", "-q"});
    ProcessResult run;
    try {
        run = run_process(command);
    } catch (const Error& error) {
        return "minify did not run: " + std::string(error.what()) + by_hand;
    }
    const nlohmann::json result = nlohmann::json::parse(run.out, nullptr, false);
    if (run.exit_code != 0 || !result.is_object())
        return "minify did not minimize the graph (" +
               (result.is_object() ? result.value("result", "") : "exit status " + std::to_string(run.exit_code)) +
               ")" + by_hand;
    return counts(result) + "; next: " + shell_quote(program_words("repro", {output.string()}));
}

}  // namespace

ReproOptions ReproOptions::from(const CompileOptions& options) {
    ReproOptions result;
    std::string where;
    const std::string after = setting(options.repro_after, ".repro_after", "WHITTLE_REPRO_AFTER", where);
    if (after == "capture")
        result.after = After::capture;
    else if (after == "aot")
        result.after = After::aot;
    else if (!after.empty())
        throw Error({where, {}}, "found '" + after + "', expected 'capture' or 'aot'");
    const std::string level = setting(options.repro_level ? std::to_string(options.repro_level) : "", ".repro_level",
                                      "WHITTLE_REPRO_LEVEL", where);
    if (!level.empty() && (level.size() != 1 || level[0] < '1' || level[0] > '4'))
        throw Error({where, {}}, "found '" + level + "', expected 1 to 4");
    if (!level.empty()) result.level = level[0] - '0';
    result.folder = setting(options.base_dir, ".base_dir", "WHITTLE_BASE_DIR", where);
    if (result.folder.empty()) result.folder = kDefaultFolder;
    return result;
}

void keep_for_minify(const FailingGraph& failing, const ReproOptions& options, bool wrong_results) {
    const WithoutModes not_seen;
    const bool aot = options.after == ReproOptions::After::aot;
    const Graph graph =
        program::CompiledProgram(failing.graph).graph(aot ? program::Stage::decomposed : program::Stage::functional);
    const std::filesystem::path file = save_record(options.folder, graph,
                                                   {.name = graph.name,
                                                    .frame = failing.frame,
                                                    .backend = failing.backend,
                                                    .backend_options = failing.backend_options,
                                                    .inputs = failing.inputs,
                                                    .expected = failing.expected});
    if (options.before_compiling())
        return log_info(LogChannel::capture, "the graph was saved before compilation: " + file.string());
    if (made_here(failing.backend)) {
        const std::string next =
            options.level == 1
                ? "minify cannot run on the graph, because only this process has the backend " + failing.backend
                : minified_here(graph, failing, file, wrong_results);
        return log_error(LogChannel::capture, "the failing graph is kept in " + file.string() + "; " + next);
    }
    std::vector<std::string> minify = program_words("minify", {file.string(), "--backend", failing.backend});
    const std::vector<std::string> more = option_words(failing.backend_options);
    minify.insert(minify.end(), more.begin(), more.end());
    if (wrong_results) minify.push_back("--accuracy");
    const std::string next = options.level == 1 ? "next: " + shell_quote(minify) : minified(file, minify);
    log_error(LogChannel::capture, "the failing graph is kept in " + file.string() + "; " + next);
}

}  // namespace whittle::api
