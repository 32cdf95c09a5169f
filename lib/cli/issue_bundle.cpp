#include "cli/issue_bundle.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "backends/halide/build_info.h"
#include "base/error.h"
#include "base/files.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "cli/environment.h"
#include "cli/usage.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// What the processor has of what compilers make use of.
std::string vector_features() {
    static const std::set<std::string> wanted = {"sse4_1",   "sse4_2",      "avx",         "avx2",        "fma",
                                                 "f16c",     "avx512f",     "avx512bw",    "avx512dq",    "avx512vl",
                                                 "amx_tile", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni",
                                                 "asimd",    "asimddp",     "sve",         "sve2",        "bf16"};
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
        std::istringstream words(line.substr(line.find(':') + 1));
        std::string found;
        for (std::string word; words >> word;)
            if (wanted.contains(word)) found += (found.empty() ? "" : " ") + word;
        return found;
    }
    return {};
}

std::string environment_text() {
    std::map<std::string, std::string> found = environment();
    found["halide"] = halide::description();
    if (const std::string features = vector_features(); !features.empty()) found["cpu features"] = features;
    for (const char* compiler : {"g++", "clang++"})
        if (const std::string version = version_line(compiler); !version.empty()) found[compiler] = version;
    std::string text;
    for (const auto& [name, value] : found) text += name + ": " + value + "\n";
    for (const auto& [name, value] : reported_variables()) text += name + ": " + value + "\n";
    return text;
}

/// What the command printed, under the log of components.
std::string log_of(const std::vector<std::string>& command) {
    const char* const set = std::getenv("WHITTLE_LOGS");
    const std::string logs = (set && *set ? std::string(set) + "," : std::string()) + "all";
    const ProcessResult ran = run_process(command, {.environment = {{"WHITTLE_LOGS", logs}}, .inherit_errors = false});
    return "$ " + shell_quote(command) + "\n" + ran.out + (ran.err.empty() ? "" : "stderr:\n" + ran.err) + "it " +
           ending_of(ran) + "\n";
}

}  // namespace

void IssueBundleOptions::declare(Tool& tool) {
    tool.option("--bundle", folder, "DIR",
                "Write a folder to attach to an issue: versions, processor, compilers, environment variables and a "
                "list of what is left out. If COMMAND is given, also write COMMAND and its log.");
    tool.after_dashes(command, "With --bundle: failing command, which is run.");
}

void write_issue_bundle(const Tool& tool, const IssueBundleOptions& options) {
    if (fs::exists(options.folder) && !(fs::is_directory(options.folder) && fs::is_empty(options.folder)))
        throw Error({options.folder.string(), {}}, "it exists, expected an empty folder or a new name");
    std::vector<std::string> files;
    const auto write = [&](const char* name, const std::string& text) {
        write_file(options.folder / name, without_private(text));
        files.push_back((options.folder / name).string());
    };
    // Before anything is written: the command may not be one that can be run.
    const std::string log = options.command.empty() ? std::string() : log_of(options.command);
    write("environment.txt", environment_text());
    if (!options.command.empty()) {
        write("command.txt", shell_quote(options.command) + "\n");
        write("log.txt", log);
    }
    write("left_out.txt", fill_template("left_out.txt", {}));
    if (tool.shared().json) return print_json({{"files", files}});
    for (const std::string& file : files) std::cout << "written: " << file << "\n";
}

}  // namespace whittle::cli
