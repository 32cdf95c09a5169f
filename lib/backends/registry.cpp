#include "backends/registry.h"

#include <algorithm>
#include <cstdlib>

#include "backends/command/command.h"
#include "backends/eager/eager.h"
#include "backends/halide/halide_backend.h"
#include "backends/plugin/plugin.h"
#include "base/error.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "base/variables.h"

#ifndef WHITTLE_BACKEND_DIR_FROM_BIN
#error "lib/CMakeLists.txt defines where libraries lie, seen from the programs"
#endif

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCommand = "cmd:";

using Make = std::unique_ptr<Backend> (*)();
constexpr Make kBuiltIn[] = {make_eager_backend, halide::make_halide_backend};

std::vector<fs::path> libraries() {
    std::vector<fs::path> files;
    for (const fs::path& folder : backend_folders()) {
        std::error_code ignored;
        std::vector<fs::path> here;
        for (const auto& entry : fs::directory_iterator(folder, ignored))
            if (entry.path().extension() == ".so") here.push_back(entry.path());
        std::sort(here.begin(), here.end());
        files.insert(files.end(), here.begin(), here.end());
    }
    return files;
}

}  // namespace

std::optional<LibrarySpec> library_of(const std::string& spec) {
    if (spec.starts_with(kCommand)) return std::nullopt;
    if (const std::size_t suffix = spec.rfind(".so:"); suffix != std::string::npos)
        return LibrarySpec{spec.substr(0, suffix + 3), spec.substr(suffix + 4)};
    if (spec.find('/') == std::string::npos && fs::path(spec).extension() != ".so") return std::nullopt;
    return LibrarySpec{spec, {}};
}

std::vector<fs::path> backend_folders() {
    std::vector<fs::path> folders;
    const std::string text = variable("WHITTLE_BACKEND_PATH");
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        if (end > begin) folders.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    if (!failed) folders.push_back((program.parent_path() / WHITTLE_BACKEND_DIR_FROM_BIN).lexically_normal());
    return folders;
}

std::string found_near(const std::string& spec, const fs::path& file) {
    const auto find = [&](const std::string& path) {
        std::error_code ignored;
        if (fs::path(path).is_absolute() || fs::exists(path, ignored)) return path;
        fs::path folder = fs::absolute(file).lexically_normal().parent_path();
        for (int up = 0; up < 3; ++up, folder = folder.parent_path())
            if (const fs::path there = folder / path; fs::exists(there, ignored))
                return there.lexically_normal().string();
        throw Error({file.string(), {}},
                    "found the backend '" + spec + "', but no file '" + path + "' here or beside the file",
                    "run it in the folder where the file was made, or name the backend with --backend");
    };
    if (const auto in = library_of(spec)) return find(in->library.string()) + (in->name.empty() ? "" : ":" + in->name);
    if (!spec.starts_with(kCommand)) return spec;
    std::vector<std::string> words = shell_split(std::string_view(spec).substr(kCommand.size()));
    for (std::string& word : words)
        if (word.starts_with("./") || word.starts_with("../")) word = find(word);
    return std::string(kCommand) + shell_quote(words);
}

std::vector<BackendInfo> list_backends() {
    std::vector<BackendInfo> backends;
    for (const Make make : kBuiltIn) {
        const std::unique_ptr<Backend> backend = make();
        backends.push_back({backend->name(), backend->description(), "built in"});
    }
    for (const fs::path& library : libraries()) {
        try {
            for (const PluginInfo& info : plugin_backends(library))
                backends.push_back({info.name, info.description, library.string()});
        } catch (const Error& error) {
            log_warning("backend", error.what());
        }
    }
    return backends;
}

std::unique_ptr<Backend> find_backend(const std::string& spec) {
    if (spec.starts_with(kCommand)) return make_command_backend(spec.substr(kCommand.size()));
    if (const auto in = library_of(spec)) return load_plugin(in->library, in->name);
    for (const Make make : kBuiltIn)
        if (std::unique_ptr<Backend> backend = make(); backend->name() == spec) return backend;
    std::vector<std::string> names;
    for (const BackendInfo& info : list_backends()) {
        if (info.name == spec) return load_plugin(info.from, spec);
        names.push_back(info.name);
    }
    std::string hint = did_you_mean(spec, names);
    if (hint.empty()) hint = "a shared library is named by its path, a command as 'cmd:PROGRAM ARGS'";
    throw Error({"backend '" + spec + "'", {}}, "found no such backend, expected one of " + join(names), hint);
}

}  // namespace whittle
