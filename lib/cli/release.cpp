#include "cli/release.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "graph/releases.h"

namespace whittle::cli {

namespace {

constexpr const char* kPreload = "LD_PRELOAD";

/// What the system was given to start this process.
std::vector<std::string> arguments() {
    const std::string text = read_file("/proc/self/cmdline");
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1)
        words.push_back(text.substr(at, text.find('\0', at) - at));
    return words;
}

}  // namespace

void continue_in_release(const BackendSpec& spec, const BackendOptions& options) {
    if (spec.text().empty() || options.empty()) return;  // nobody has chosen one
    const auto backend = find_backend(spec);
    Releases* const releases = offered<Releases>(*backend);
    if (!releases) return;
    const std::string library = releases->library_for(options).string();
    if (library.empty()) return;
    const char* const given = std::getenv(kPreload);
    const std::string others = given ? given : "";
    // A library that was loaded takes itself out of the variable.
    if (others.starts_with(library))
        throw Error({library, {}}, std::string("the system's loader did not load the library that ") + kPreload +
                                       " names, expected a path without blanks and colons");
    const std::string version = releases->version_in(options);  // which a broken one cannot say
    log_info(LogChannel::backend, "continuing as " + version);
    ::setenv(kPreload, (others.empty() ? library : library + ":" + others).c_str(), 1);
    std::vector<std::string> words = arguments();
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::fflush(nullptr);
    ::execv("/proc/self/exe", argv.data());
    throw Error({library, {}}, std::string("cannot start the program again: ") + std::strerror(errno));
}

}  // namespace whittle::cli
