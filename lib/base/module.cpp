#include "base/module.h"

#include <dlfcn.h>
#include <link.h>

#include "base/error.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr const char* kBuildId = "whittle_build_id";  // in each of our shared libraries, see lib/images.cmake

/// The module that finds its own libraries before those of the program; see backends/libtorch/flags.cmake.
#ifdef WHITTLE_DEEP_MODULE
constexpr const char* kDeepModule = WHITTLE_DEEP_MODULE;
#else
constexpr const char* kDeepModule = "";
#endif

std::string module_name(const std::string& name) { return "libwhittle-" + name + ".so"; }

using BuildId = const char*();

/// Of the library `handle`, looked for in it before what it links; null when it says nothing.
const char* build_id(void* handle) {
    auto* const id = reinterpret_cast<BuildId*>(::dlsym(handle, kBuildId));
    return id ? id() : nullptr;
}

fs::path file_of(const void* address) {
    Dl_info info{};
    if (!::dladdr(address, &info) || !info.dli_fname) return {};
    std::error_code failed;
    fs::path file = fs::canonical(info.dli_fname, failed);
    return failed ? fs::path(info.dli_fname) : file;
}

const fs::path& own_file() {
    static const fs::path file = file_of(reinterpret_cast<const void*>(&library_folder));
    return file;
}

}  // namespace

const fs::path& library_folder() {
    static const fs::path folder = own_file().parent_path();
    return folder;
}

void* module_symbol_in(const fs::path& file, const char* symbol) {
    // Local: what it links must not come before what the program has linked itself. Never unloaded: its threads and
    // the objects that it made may outlive every use.
    const int deep = file.filename() == module_name(kDeepModule) ? RTLD_DEEPBIND : 0;
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | deep);
    if (!handle) {
        const char* const why = ::dlerror();
        std::error_code ignored;
        if (!fs::exists(file, ignored))
            throw Error({file.string(), {}},
                        "found no such file, expected the file in the folder of " + own_file().string(),
                        "install Whittle completely, or build the CMake target of this library");
        throw Error({file.string(), {}}, std::string("cannot load the library: ") + (why ? why : "no reason given"));
    }
    void* const self = ::dlopen(own_file().c_str(), RTLD_NOW | RTLD_NOLOAD);
    const char* const ours = self ? build_id(self) : nullptr;
    const char* const theirs = build_id(handle);
    if (!theirs) throw Error({file.string(), {}}, "found no build id, expected a library that belongs to Whittle");
    if (ours && std::string_view(ours) != theirs)
        throw Error({file.string(), {}},
                    "found a library of another build than " + own_file().string() + ", expected one of the same build",
                    "build both files again, or install both again");
    void* const found = ::dlsym(handle, symbol);
    if (!found) throw Error({file.string(), {}}, "found no symbol '" + std::string(symbol) + "'");
    return found;
}

namespace {

/// That of the library which this process has already: LD_PRELOAD may have put one in the place of ours.
fs::path module_file(const std::string& name) {
    const std::string file = module_name(name);
    if (void* const handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
        link_map* loaded = nullptr;
        const fs::path path = ::dlinfo(handle, RTLD_DI_LINKMAP, &loaded) == 0 ? loaded->l_name : "";
        ::dlclose(handle);  // it stays: somebody else has it, too
        if (!path.empty()) return path;
    }
    return library_folder() / file;
}

}  // namespace

bool has_module(const std::string& name) {
    std::error_code ignored;
    return fs::exists(module_file(name), ignored);
}

void* module_symbol(const std::string& name, const char* symbol) { return module_symbol_in(module_file(name), symbol); }

}  // namespace whittle
