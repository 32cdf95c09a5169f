#include "backends/halide/releases.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "backends/halide/build_info.h"
#include "base/error.h"
#include "base/files.h"
#include "base/kept.h"
#include "base/module.h"
#include "base/subprocess.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"

namespace whittle::halide {
namespace fs = std::filesystem;

namespace {

constexpr const char* kLibrary = "libwhittle-halide.so";

fs::path folder_of_releases() { return kept_folder("releases") / "halide" / "releases"; }

/// This library.
fs::path own_library() {
    Dl_info info{};
    ::dladdr(reinterpret_cast<const void*>(&chosen_release), &info);
    return info.dli_fname ? info.dli_fname : "";
}

/// Whether LD_PRELOAD put this library in the place of Whittle's own. Takes it out of the variable, which the programs
/// that this process starts would inherit.
bool take_from_preload() {
    const char* const given = std::getenv("LD_PRELOAD");
    const std::string own = own_library().string(), text = given ? given : "";
    if (own.empty() || !text.starts_with(own)) return false;
    if (text.size() == own.size())
        ::unsetenv("LD_PRELOAD");
    else if (text[own.size()] == ':')
        ::setenv("LD_PRELOAD", text.c_str() + own.size() + 1, 1);
    else
        return false;
    return true;
}

const bool preloaded = take_from_preload();  // before main(): nobody reads the environment yet

fs::path library_of_build() { return library_folder() / kLibrary; }

std::unique_ptr<Backend> make_worker(const fs::path& library) {
    return std::unique_ptr<Backend>(module_function<MakeWorkerBackend>("onnx", "whittle_make_worker_backend")(
        "halide", "a release of Halide", {(library_folder() / "halide-worker").string(), library.string()}, {}));
}

/// "14" for "Halide 14.0.0".
std::string major_of(const std::string& version) {
    const std::size_t begin = version.find_first_of("0123456789");
    return begin == version.npos ? version : version.substr(begin, version.find('.', begin) - begin);
}

/// The release that Whittle was built with, which options without a release mean. Where it is not this process's, a
/// worker knows it.
const std::string& usual_release() {
    static const std::string release =
        preloaded ? major_of(version_of(*make_worker(library_of_build()))) : std::to_string(major_version());
    return release;
}

/// Numbers between dots count as numbers.
bool older(const std::string& a, const std::string& b) {
    const auto numbers = [](const std::string& text) {
        std::vector<int> parts;
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find('.', at), text.size());
            int number = 0;
            std::from_chars(text.data() + at, text.data() + end, number);
            parts.push_back(number);
            at = end + 1;
        }
        return parts;
    };
    return numbers(a) < numbers(b);
}

}  // namespace

std::vector<std::string> installed_releases() {
    std::vector<std::string> releases = {usual_release()};
    std::error_code failed;
    for (fs::directory_iterator at(folder_of_releases(), failed), end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        std::error_code ignored;
        if (name != usual_release() && fs::exists(at->path() / kLibrary, ignored)) releases.push_back(name);
    }
    std::ranges::sort(releases, older);
    return releases;
}

std::string release_installer(const std::string& release) {
    return (library_folder() / "backends" / "halide" / "install").string() + " " + release;
}

std::string chosen_release(const BackendOptions& options) {
    const auto chosen = options.find("release");
    if (chosen == options.end()) return usual_release();
    const std::vector<std::string> installed = installed_releases();
    if (std::ranges::find(installed, chosen->second) == installed.end())
        throw no_release(chosen->second, installed, release_installer("VERSION"));
    return chosen->second;
}

fs::path library_for(const BackendOptions& options) {
    const std::string release = chosen_release(options);
    if (release == usual_release()) return preloaded ? library_of_build() : fs::path();
    const fs::path library = folder_of_releases() / release / kLibrary;
    std::error_code ignored;
    return fs::equivalent(library, own_library(), ignored) ? fs::path() : library;
}

std::vector<std::string> compile_flags_of(const std::string& release) {
    if (library_for({{"release", release}}).empty()) return compile_flags();  // this process is that release
    const fs::path file = folder_of_releases() / release / "flags";
    std::error_code ignored;
    if (!fs::exists(file, ignored))
        throw Error({file.string(), {}},
                    "found no such file, expected the description of how to build programs with this release",
                    release_installer(release) + " installs the release again");
    return shell_split(read_file(file));
}

Backend* ReleaseWorkers::of(const BackendOptions& options) {
    const fs::path library = library_for(options);
    if (library.empty()) return nullptr;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Backend>& worker = workers_[library];
    if (!worker) worker = make_worker(library);
    return worker.get();
}

BackendOptions without_release(BackendOptions options) {
    options.erase("release");
    return options;
}

}  // namespace whittle::halide
