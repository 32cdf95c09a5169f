#include "backends/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "backends/built_in/built_in.h"
#include "backends/debug/explain.h"
#include "backends/described.h"
#include "backends/plugin/plugin.h"
#include "base/error.h"
#include "base/log.h"
#include "base/module.h"
#include "base/subprocess.h"
#include "base/variables.h"
#include "base/words.h"
#include "formats/json_text.h"
#include "graph/abilities.h"
#include "ops/core/custom.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Backend> find_spec(const std::string& spec) { return find_backend(spec); }

/// Throws Error where its module calls LibTorch, which not every build has.
std::unique_ptr<Backend> make_built_in(const BuiltInBackend& backend) {
    if (backend.needs == "libtorch" && !has_module("libtorch"))
        throw Error(
            "backend '" + std::string(backend.name) + "' needs LibTorch: this Whittle was built without LibTorch",
            "install libtorch-dev and build Whittle again");
    return backend.make(backend, find_spec);
}

/// Those of this process.
struct Added {
    std::mutex mutex;
    std::map<std::string, std::function<std::unique_ptr<Backend>()>> makers;
};
Added& added() {
    static Added backends;
    return backends;
}

std::unique_ptr<Backend> make_command_backend(const std::string& line) {
    return std::unique_ptr<Backend>(
        module_function<Backend*(const std::string&)>("onnx", "whittle_make_command_backend")(line));
}

std::unique_ptr<Backend> make_worker_backend(const std::string& name, const std::string& description,
                                             const std::vector<std::string>& argv,
                                             const std::vector<std::string>& arguments = {}) {
    return std::unique_ptr<Backend>(
        module_function<MakeWorkerBackend>("onnx", "whittle_make_worker_backend")(name, description, argv, arguments));
}

/// What is in the folders, in order of name in each.
std::vector<fs::path> found_in_folders(bool (*wanted)(const fs::path&)) {
    std::vector<fs::path> files;
    for (const fs::path& folder : backend_folders()) {
        std::error_code ignored;
        std::vector<fs::path> here;
        for (const auto& entry : fs::directory_iterator(folder, ignored))
            if (wanted(entry.path())) here.push_back(entry.path());
        std::sort(here.begin(), here.end());
        files.insert(files.end(), here.begin(), here.end());
    }
    return files;
}

std::vector<fs::path> libraries() {
    return found_in_folders([](const fs::path& path) { return path.extension() == ".so"; });
}

std::vector<DescribedBackend> described_backends() {
    std::vector<DescribedBackend> backends;
    for (const fs::path& folder : found_in_folders([](const fs::path& path) {
             std::error_code ignored;
             return fs::exists(path / "backend.json", ignored);
         })) {
        try {
            backends.push_back(read_described_backend(folder));
        } catch (const Error& error) {
            log_warning(LogChannel::backend, error.what());
        }
    }
    return backends;
}

std::optional<DescribedBackend> described(const std::string& name) {
    for (DescribedBackend& backend : described_backends()) {
        if (backend.name == name) return std::move(backend);
        const std::string begin = backend.name + ":";
        if (!backend.variant.empty() && name.starts_with(begin) && name.size() > begin.size())
            return variant_of(std::move(backend), name.substr(begin.size()));
    }
    return std::nullopt;
}

}  // namespace

/// By its module, which is loaded when it is asked for.
std::unique_ptr<Backend> make_from_module(const BuiltInBackend& row, const FindBackend&) {
    const std::string maker = "whittle_make_" + std::string(row.name) + "_backend";
    return std::unique_ptr<Backend>(module_function<Backend*()>(std::string(row.needs), maker.c_str())());
}

std::vector<fs::path> backend_folders() {
    std::vector<fs::path> folders;
    const std::string text = variable("WHITTLE_BACKEND_PATH");
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        if (end > begin) folders.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    folders.push_back(library_folder() / "backends");
    return folders;
}

BackendSpec found_near(const BackendSpec& spec, const fs::path& file) {
    return spec.with_files([&](const std::string& path) {
        std::error_code ignored;
        if (fs::path(path).is_absolute() || fs::exists(path, ignored)) return path;
        fs::path folder = fs::absolute(file).lexically_normal().parent_path();
        for (int up = 0; up < 3; ++up, folder = folder.parent_path())
            if (const fs::path there = folder / path; fs::exists(there, ignored))
                return there.lexically_normal().string();
        throw Error({file.string(), {}},
                    "the backend '" + spec.text() + "' needs the file '" + path +
                        "': found no such file in the current folder, the folder of " + file.filename().string() +
                        ", or the two folders above",
                    "run this command in the folder where you ran the command that wrote " + file.filename().string() +
                        ", or name the backend with --backend");
    });
}

namespace {

/// What libraries say of themselves, asked in a copy of this process: opening one runs its constructors, whatever they
/// do. Throws Error for a library that cannot be loaded.
std::vector<PluginInfo> plugins_of(const fs::path& library) {
    constexpr std::chrono::seconds kLongest{30};
    const ForkedAnswer asked = ask_forked(
        [&] {
            nlohmann::json answer;
            try {
                for (const PluginInfo& info : plugin_backends(library))
                    answer["backends"].push_back({as_utf8(info.name), as_utf8(info.description)});
            } catch (const Error& error) {
                answer["error"] = {as_utf8(error.message()), as_utf8(error.hint())};
            }
            return answer.dump();
        },
        {.timeout = kLongest});
    const nlohmann::json answer = nlohmann::json::parse(asked.answer, nullptr, false);
    const Location where{library.string(), {}};
    if (!asked.process.good() || !answer.is_object())
        throw Error(where, "the process that loaded the library " + ending_of(asked.process));
    if (answer.contains("error")) throw Error(where, answer["error"][0], answer["error"][1]);
    std::vector<PluginInfo> backends;
    for (const nlohmann::json& backend : answer["backends"]) backends.push_back({backend[0], backend[1]});
    return backends;
}

BackendPurpose purpose_of(const std::string& name, const BuiltInBackend* row = nullptr) {
    if (name.ends_with("_TESTING_ONLY")) return BackendPurpose::test;
    return row && row->needs.empty() ? BackendPurpose::debug : BackendPurpose::compiler;  // another project's library
}

}  // namespace

std::vector<BackendInfo> list_backends() {
    std::vector<BackendInfo> backends;
    for (const BuiltInBackend& known : built_in_backends()) {
        const std::string name(known.name);
        backends.push_back({name, std::string(known.description), "built in", purpose_of(name, &known)});
    }
    {
        const std::lock_guard lock(added().mutex);
        for (const auto& [name, make] : added().makers)
            backends.push_back({name, make()->description(), "this program"});
    }
    for (const fs::path& library : libraries()) {
        try {
            for (const PluginInfo& info : plugins_of(library))
                backends.push_back({info.name, info.description, library.string(), purpose_of(info.name)});
        } catch (const Error& error) {
            log_warning(LogChannel::backend, error.what());
        }
    }
    for (const DescribedBackend& described : described_backends()) {
        BackendInfo info{described.name, described.description, described.file.string()};
        if (!described.missing.empty())
            info.missing = "not installed: found no " + join(described.missing, ", no ") + "; run " + described.install;
        backends.push_back(std::move(info));
    }
    return backends;
}

static BackendReleases releases_of(const std::string& name) {
    BackendReleases found{name};
    try {
        const auto backend = find_backend(name);
        if (Releases* const releases = offered<Releases>(*backend)) {
            found.names = releases->releases();
            if (!found.names.empty()) found.installer = releases->installer();
        }
    } catch (const Error& error) {
        found.problem = error.message() + (error.hint().empty() ? "" : "; " + error.hint());
    }
    return found;
}

std::vector<BackendReleases> list_releases() {
    std::vector<BackendReleases> all;
    for (const BuiltInBackend& known : built_in_backends())
        if (!known.needs.empty())
            if (BackendReleases found = releases_of(std::string(known.name)); !found.names.empty())
                all.push_back(std::move(found));
    for (const DescribedBackend& known : described_backends())
        if (BackendReleases found = releases_of(known.name); !found.names.empty() || !found.problem.empty())
            all.push_back(std::move(found));
    return all;
}

namespace {

/// The library that exports the backend of this name; nothing where none does. Adds the names that it looked at.
std::optional<fs::path> library_of(const std::string& name, std::vector<std::string>* names = nullptr) {
    for (const BackendInfo& info : list_backends()) {
        if (info.name == name) return info.from;
        if (names) names->push_back(info.name);
    }
    return std::nullopt;
}

/// The same. Throws Error when there is none.
fs::path named_library(const std::string& name) {
    std::vector<std::string> names;
    if (const auto library = library_of(name, &names)) return *library;
    std::string hint = did_you_mean(name, names);
    if (hint.empty())
        hint =
            "to list the backends: explain list backends; for a backend of your own, give the path of a shared "
            "library, 'cmd:PROGRAM ARGS' or 'worker:PROGRAM ARGS'";
    throw Error("unknown backend '" + name + "'", hint);
}

}  // namespace

std::vector<fs::path> backend_files(const BackendSpec& spec) {
    if (const auto* command = std::get_if<CommandBackendSpec>(&spec.value()))
        return files_named(shell_split(command->line));
    if (const auto* in = std::get_if<LibraryBackend>(&spec.value())) return {in->library};
    if (const auto* wrapped = std::get_if<WrappedBackend>(&spec.value())) return backend_files(wrapped->inner);
    const std::string& name = std::get<NamedBackend>(spec.value()).name;
    if (const auto found = described(name)) {
        std::vector<std::string> words = found->worker;  // what is needed has the compiler's version in it
        words.insert(words.end(), found->needs.begin(), found->needs.end());
        std::vector<fs::path> files = files_named(words);
        files.insert(files.begin(), found->file);
        return files;
    }
    if (!find_built_in(name) && !made_here(name))  // else made by this program, so that nobody finds it by name
        if (const auto library = library_of(name)) return {*library};
    std::vector<fs::path> files = {"/proc/self/exe"};
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(library_folder(), ignored))
        if (entry.path().filename().string().starts_with("libwhittle")) files.push_back(entry.path());
    for (const std::string& file : op_libraries()) files.emplace_back(file);
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> earlier_backends(const BackendSpec& spec) {
    const auto* const named = std::get_if<NamedBackend>(&spec.value());
    if (!named || find_built_in(named->name) || made_here(named->name)) return {};
    const std::optional<DescribedBackend> found = described(named->name);
    return found ? found->earlier : std::vector<std::string>();
}

void load_op_library(const fs::path& file) {
    if (!has_module("libtorch"))
        throw Error({file.string(), {}},
                    "the ops in this library need LibTorch, but this Whittle was built without LibTorch");
    module_function<void(const fs::path&)>("libtorch", "whittle_load_op_library")(file);
}

std::unique_ptr<Backend> find_backend(const BackendSpec& spec) {
    if (const auto* command = std::get_if<CommandBackendSpec>(&spec.value()))
        return command->worker
                   ? make_worker_backend(spec.text(), "a worker: " + command->line, shell_split(command->line))
                   : make_command_backend(command->line);
    if (const auto* in = std::get_if<LibraryBackend>(&spec.value())) return load_plugin(in->library, in->name);
    if (const auto* wrapped = std::get_if<WrappedBackend>(&spec.value()))
        return make_explain_backend(find_backend(wrapped->inner));
    const std::string& name = std::get<NamedBackend>(spec.value()).name;
    if (const BuiltInBackend* known = find_built_in(name)) return make_built_in(*known);
    {
        const std::lock_guard lock(added().mutex);
        if (const auto found = added().makers.find(name); found != added().makers.end()) return found->second();
    }
    if (const auto found = described(name)) {
        expect_installed(*found);
        return make_worker_backend(name, found->description, found->worker, found->arguments);
    }
    return load_plugin(named_library(name), name);
}

void add_backend(const std::string& name, std::function<std::unique_ptr<Backend>()> make) {
    if (name.empty() || !std::holds_alternative<NamedBackend>(BackendSpec(name).value()))
        throw Error("found the backend name '" + name + "', expected a name that is neither a path nor a command");
    if (find_built_in(name))
        throw Error("cannot add a backend '" + name + "': a built-in backend has this name", "choose another name");
    const std::lock_guard lock(added().mutex);
    added().makers.insert_or_assign(name, std::move(make));
}

bool made_here(const std::string& name) {
    const std::lock_guard lock(added().mutex);
    return added().makers.contains(name);
}

void check_options(Backend& backend, const BackendOptions& options) {
    Optioned* const optioned = offered<Optioned>(backend);
    if (!optioned || options.empty()) return;
    optioned->check(options);
    static std::mutex mutex;
    static std::set<std::pair<std::string, std::string>> warned;
    const std::vector<std::string> names = optioned->option_names(options);
    for (const auto& [key, value] : options) {
        if (std::find(names.begin(), names.end(), key) != names.end()) continue;
        const std::lock_guard lock(mutex);
        if (!warned.emplace(backend.name(), key).second) continue;
        const std::string hint = did_you_mean(key, names);
        log_warning(LogChannel::backend,
                    backend.name() + ": unknown option '" + key + "' is ignored; " +
                        (names.empty() ? "the backend has no options" : "the backend's options are " + join(names)) +
                        (hint.empty() ? "" : "; hint: " + hint));
    }
}

std::unique_ptr<Backend> find_backend(const BackendSpec& spec, const BackendOptions& options) {
    std::unique_ptr<Backend> backend = find_backend(spec);
    check_options(*backend, options);
    return backend;
}

}  // namespace whittle
