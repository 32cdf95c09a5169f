#include "cli/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/registry.h"
#include "backends/spec.h"
#include "base/subprocess.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "graph/releases.h"

namespace whittle::cli {

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

}  // namespace

std::map<std::string, std::string> environment() {
    std::map<std::string, std::string> found = build_info();
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

std::string version_line(const std::string& program) {
    if (!program_path(program)) return {};
    const ProcessResult ran = run_process({program, "--version"}, {.timeout = std::chrono::seconds(10)});
    return ran.good() ? ran.out.substr(0, ran.out.find('\n')) : "";
}

void print_environment(const Tool& tool) {
    const std::map<std::string, std::string> found = environment();
    if (tool.shared().json) return print_json(found);
    for (const auto& [name, value] : found) std::printf("%s: %s\n", name.c_str(), value.c_str());
}

}  // namespace whittle::cli
