#include "cli/environment.h"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "backends/halide/build_info.h"
#include "backends/registry.h"
#include "backends/spec.h"
#include "base/error.h"
#include "base/files.h"
#include "base/pattern.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/abilities.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// The value of the first line "KEY<separator>VALUE" of a file such as /proc/cpuinfo, without quotes and blanks.
std::string value_in(const char* file, std::string_view key, char separator) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto at = line.find(separator);
        if (!line.starts_with(key) || at == std::string::npos) continue;
        const auto first = line.find_first_not_of(" \t\"", at + 1), last = line.find_last_not_of(" \t\"");
        return first == std::string::npos ? std::string() : line.substr(first, last - first + 1);
    }
    return {};
}

/// Packages put it there.
bool is_of_the_system(const std::string& program) {
    const auto path = program.find('/') == program.npos ? program_path(program) : std::nullopt;
    std::error_code error;
    const std::string real = path ? std::filesystem::canonical(*path, error).string() : std::string();
    return real.starts_with("/usr/") || real.starts_with("/opt/");
}

/// The first line of what the program prints with --version; empty where it is not there.
std::string version_line(const std::string& program) {
    if (!program_path(program)) return {};
    const ProcessResult ran = run_process({program, "--version"}, {.timeout = std::chrono::seconds(10)});
    return ran.good() ? ran.out.substr(0, ran.out.find('\n')) : "";
}

}  // namespace

// The macros are set for this file in lib/CMakeLists.txt.

std::string version_number() { return WHITTLE_VERSION; }

std::string version_text(const std::string& program) {
    const std::string without = WHITTLE_BUILT_WITHOUT;
    return program +
           " (Whittle " WHITTLE_VERSION ")\nbuilt by " WHITTLE_COMPILER ", " WHITTLE_BUILD_TYPE
           "\nwith " WHITTLE_BUILT_WITH "\n" +
           (without.empty() ? "" : "without " + without + "\n");
}

std::map<std::string, std::string> environment() {
    std::map<std::string, std::string> found = {{"whittle", WHITTLE_VERSION " (" WHITTLE_BUILD_TYPE ")"},
                                                {"compiler", WHITTLE_COMPILER},
                                                {"libraries", WHITTLE_BUILT_WITH}};
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty()) found[key] = value;
    };
    add("os", value_in("/etc/os-release", "PRETTY_NAME", '='));
    utsname kernel{};
    if (::uname(&kernel) == 0) add("kernel", std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine);
    add("cpu", value_in("/proc/cpuinfo", "model name", ':'));
    if (const long cores = ::sysconf(_SC_NPROCESSORS_ONLN); cores > 0) add("cores", std::to_string(cores));
    add("memory", value_in("/proc/meminfo", "MemTotal", ':'));
    return found;
}

std::map<std::string, std::string> environment(const BackendSpec& spec, const BackendOptions& options) {
    std::map<std::string, std::string> found = environment();
    const auto backend = find_backend(spec, options);
    if (const std::string version = version_of(*backend, options); !version.empty())
        found["backend"] = backend->name() + " " + version;
    return found;
}

std::string command_version(const std::string& backend) {
    const BackendSpec spec(backend);
    const auto* command = std::get_if<CommandBackendSpec>(&spec.value());
    if (!command || command->worker) return {};
    const std::string program = shell_split(command->line).at(0);
    const std::string version = is_of_the_system(program) ? version_line(program) : "";
    return version.empty() ? "" : program + ": " + version;
}

namespace {

/// Names that are nobody's business, and what stands for them; the longest first.
class Private {
  public:
    Private() {
        if (const char* home = std::getenv("HOME")) hide_folder(home);
        if (const ::passwd* user = ::getpwuid(::getuid())) {
            hide_folder(user->pw_dir);
            if (std::string_view(user->pw_name) != "root") words_[user->pw_name] = "USER";
        }
        if (const std::string host = host_name(); !host.empty()) words_[host] = "HOST";
    }

    /// Whole words only.
    std::string without(std::string text) const {
        for (const auto& [word, instead] : words_)
            for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at)) {
                const bool whole = (at == 0 || !is_part(text[at - 1])) &&
                                   (at + word.size() == text.size() || !is_part(text[at + word.size()]));
                if (whole) text.replace(at, word.size(), instead);
                at += whole ? instead.size() : word.size();
            }
        return text;
    }

  private:
    struct Longer {
        bool operator()(const std::string& a, const std::string& b) const {
            return a.size() != b.size() ? a.size() > b.size() : a < b;
        }
    };
    static bool is_part(char c) { return std::isalnum(static_cast<unsigned char>(c)); }

    void hide_folder(std::string folder) {
        while (folder.ends_with('/')) folder.pop_back();
        if (!folder.empty()) words_[folder] = "~";
    }

    std::map<std::string, std::string, Longer> words_;
};

/// A variable whose name says that its value is a secret.
bool is_secret(std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    constexpr std::string_view kWords[] = {"TOKEN",      "KEY",  "SECRET", "PASS",   "PWD",
                                           "CREDENTIAL", "AUTH", "COOKIE", "BEARER", "SIGNATURE"};
    return name.ends_with("_PAT") ||  // a personal access token
           std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != name.npos; });
}

/// Without "user:password@" of addresses.
std::string without_passwords(const std::string& text) {
    static const Pattern user("://[^/@\\s]+@");
    return user.replaced(text, "://(left out)@");
}

}  // namespace

std::string without_private(const std::string& text) {
    static const Private names;
    return names.without(without_passwords(text));
}

std::map<std::string, std::string> reported_variables() {
    constexpr std::string_view kPrefixes[] = {"WHITTLE_", "HL_", "OMP_", "MKL_", "TORCH_", "PYTORCH_", "ATEN_"};
    constexpr std::string_view kNames[] = {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_PATH"};
    std::map<std::string, std::string> found;
    for (char** variable = ::environ; *variable; ++variable) {
        const std::string_view setting = *variable;
        const std::size_t equals = setting.find('=');
        if (equals == setting.npos) continue;
        const std::string name(setting.substr(0, equals));
        if (std::ranges::count(kNames, name) ||
            std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }))
            found.emplace("$" + name, is_secret(name) ? "(set)" : setting.substr(equals + 1));
    }
    return found;
}

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
    return "$ " + shell_quote(command) + "\n" + ran.out + (ran.err.empty() ? "" : "stderr:\n" + ran.err) +
           "the command " + ending_of(ran) + "\n";
}

void write_bundle(const Tool& tool, const EnvironmentOptions& options) {
    if (fs::exists(options.bundle) && !(fs::is_directory(options.bundle) && fs::is_empty(options.bundle)))
        throw Error({options.bundle.string(), {}}, "the folder is not empty, expected an empty folder or a new name");
    std::vector<std::string> files;
    const auto write = [&](const char* name, const std::string& text) {
        write_file(options.bundle / name, without_private(text));
        files.push_back((options.bundle / name).string());
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

}  // namespace

void EnvironmentOptions::declare(Tool& tool) {
    tool.option("--bundle", bundle, "DIR",
                "Write a folder to attach to an issue. The folder contains the software versions, the processor, the "
                "compilers, "
                "the environment variables, and a list of everything that is left out. If COMMAND is given, the folder "
                "also contains the command and its log.");
    tool.after_dashes(
        command, "With --bundle: a command that fails. repro env runs this command, and adds its log to the folder.");
}

void print_environment(const Tool& tool, const EnvironmentOptions& options) {
    require_with(!options.command.empty(), "a command", !options.bundle.empty(), "--bundle");
    if (!options.bundle.empty()) return write_bundle(tool, options);
    const std::map<std::string, std::string> found = environment();
    if (tool.shared().json) return print_json(found);
    for (const auto& [name, value] : found) std::printf("%s: %s\n", name.c_str(), value.c_str());
}

}  // namespace whittle::cli
