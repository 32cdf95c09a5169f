#include "run/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

namespace whittle {
namespace {

/// The value of the first line "KEY<separator>VALUE" of a file, without quotes and blanks; empty when there is none.
std::string value_in(const char* file, std::string_view key, char separator) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const std::size_t at = line.find(separator);
        if (!line.starts_with(key) || at == std::string::npos) continue;
        const std::size_t first = line.find_first_not_of(" \t\"", at + 1), last = line.find_last_not_of(" \t\"");
        return first == std::string::npos ? std::string() : line.substr(first, last - first + 1);
    }
    return {};
}

std::string compiler() {
#if defined(__clang__)
    return std::string("clang ") + __clang_version__;
#else
    return std::string("g++ ") + __VERSION__;
#endif
}

}  // namespace

std::map<std::string, std::string> environment() {
    std::map<std::string, std::string> found;
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty()) found[key] = value;
    };
    add("os", value_in("/etc/os-release", "PRETTY_NAME", '='));
    struct utsname kernel {};
    if (::uname(&kernel) == 0) add("kernel", std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine);
    add("cpu", value_in("/proc/cpuinfo", "model name", ':'));
    if (const long cores = ::sysconf(_SC_NPROCESSORS_ONLN); cores > 0) add("cores", std::to_string(cores));
    add("memory", value_in("/proc/meminfo", "MemTotal", ':'));
    add("compiler", compiler());
    return found;
}

}  // namespace whittle
