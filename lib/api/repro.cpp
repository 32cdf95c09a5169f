#define WHITTLE_API_IMPLEMENTATION
#include "api/repro.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/variables.h"
#include "base/words.h"
#include "program/program.h"
#include "trace/record.h"

namespace whittle::api {

namespace {

constexpr const char* kDefaultFolder = "whittle_debug";

/// The option, else the variable; and which of them it was, for errors.
std::string setting(const std::string& option, const char* option_name, const char* variable_name, std::string& from) {
    from = option.empty() ? variable_name : option_name;
    return option.empty() ? variable(variable_name) : option;
}

/// minify's result as a line for the log.
std::string minified(const std::filesystem::path& record, std::vector<std::string> command) {
    std::filesystem::path output = record;
    output.replace_extension(".min.json");
    command.insert(command.end(), {"-o", output.string()});
    const std::string by_hand = "; next: " + shell_quote(command);
    command.insert(command.end(), {"--json", "-q"});
    ProcessResult run;
    try {
        run = run_process(command);
    } catch (const Error& error) {
        return "minify was not run: " + std::string(error.what()) + by_hand;
    }
    const nlohmann::json result = nlohmann::json::parse(run.out, nullptr, false);
    if (run.exit_code != 0 || !result.is_object())
        return "minify did not minimize it (" +
               (result.is_object() ? result.value("verdict", "") : "exit status " + std::to_string(run.exit_code)) +
               ")" + by_hand;
    return "minimized from " + std::to_string(result.value("calls_before", 0)) + " to " +
           plural(result.value("calls_after", 0), "op") + "; next: repro " + shell_quote({output.string()});
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
        throw Error({where, {}}, "found '" + after + "', expected capture or aot");
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
        return log_info(LogChannel::capture, "kept before it is compiled: " + file.string());
    if (made_here(failing.backend))
        return log_error(LogChannel::capture, "the failing graph is kept in " + file.string() + "; its backend " +
                                                  failing.backend +
                                                  " is a function of this program, which minify "
                                                  "cannot run");
    std::vector<std::string> minify = {"minify", file.string(), "--backend", failing.backend};
    for (const auto& [key, value] : failing.backend_options)
        minify.insert(minify.end(), {"--backend-option", key + "=" + value});
    if (wrong_results) minify.push_back("--accuracy");
    const std::string next = options.level == 1 ? "next: " + shell_quote(minify) : minified(file, minify);
    log_error(LogChannel::capture, "the failing graph is kept in " + file.string() + "; " + next);
}

}  // namespace whittle::api
