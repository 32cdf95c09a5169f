#include "frontends/halide/capture/where.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "frontends/halide/capture/lines.h"

namespace whittle::halide_capture {
namespace {

template <class Function>
Function in_process(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

/// The line of Python that runs, by the interpreter's functions; nothing where none does.
std::optional<std::pair<std::string, int>> python_line() {
    using Object = void*;
    static const auto holds_lock = in_process<int (*)()>("PyGILState_Check");
    static const auto frame_of = in_process<Object (*)()>("PyEval_GetFrame");
    static const auto line_of = in_process<int (*)(Object)>("PyFrame_GetLineNumber");
    static const auto code_of = in_process<Object (*)(Object)>("PyFrame_GetCode");
    static const auto attribute = in_process<Object (*)(Object, const char*)>("PyObject_GetAttrString");
    static const auto utf8 = in_process<const char* (*)(Object)>("PyUnicode_AsUTF8");
    static const auto release = in_process<void (*)(Object)>("Py_DecRef");
    if (!holds_lock || !frame_of || !line_of || !code_of || !attribute || !utf8 || !release || !holds_lock())
        return std::nullopt;
    const Object frame = frame_of();
    if (!frame) return std::nullopt;
    const Object code = code_of(frame), name = attribute(code, "co_filename");
    const char* const file = name ? utf8(name) : nullptr;
    const std::pair<std::string, int> place(file ? file : "?", line_of(frame));
    release(name);
    release(code);
    return place;
}

std::uint64_t mix(std::uint64_t hash, const std::string& text) {  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

/// The program itself has no name among the modules, and its first argument may be anything.
std::string path_of(const link_map& module) {
    if (*module.l_name) return module.l_name;
    static const std::string program = [] {
        char path[PATH_MAX];
        const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
        return std::string(path, size > 0 ? static_cast<std::size_t>(size) : 0);
    }();
    return program;
}

constexpr int kMostFrames = 24, kKept = 8, kKeyed = 3;
/// The first backtrace() loads a library: not while the program holds a lock.
[[maybe_unused]] const int loaded = [] {
    void* frame[1];
    return ::backtrace(frame, 1);
}();

}  // namespace

Where where(void* address) {
    std::uint64_t hash = 0xcbf29ce484222325;
    Where found;
    if (const auto place = python_line()) {
        found.json = "\"file\": " + quote(place->first) + ", \"line\": " + std::to_string(place->second);
        hash = mix(hash, place->first + ":" + std::to_string(place->second));
    } else {
        void* stack[kMostFrames];
        const int count = ::backtrace(stack, kMostFrames);
        int first = 0;
        while (first < count && stack[first] != address) ++first;
        if (first == count) first = 0;
        std::string frames;
        for (int i = first, kept = 0; i < count && kept < kKept; ++i) {
            Dl_info info;
            link_map* module = nullptr;
            if (!::dladdr1(stack[i], &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) || !module) continue;
            char offset[32];
            std::snprintf(
                offset, sizeof offset, "+0x%llx",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stack[i]) - 1 - module->l_addr));
            const std::string file = path_of(*module);
            frames += (kept ? ", " : "") + quote(file + offset);
            if (kept++ < kKeyed) hash = mix(hash, file.substr(file.rfind('/') + 1) + offset);
        }
        found.json = "\"pc\": [" + frames + "]";
    }
    char text[24];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    found.key = text;
    return found;
}

bool is_ours(void* address) {
    Dl_info info;
    if (!::dladdr(address, &info) || !info.dli_fname) return false;
    const char* const slash = std::strrchr(info.dli_fname, '/');
    return std::strncmp(slash ? slash + 1 : info.dli_fname, "libwhittle-", 11) == 0;
}

}  // namespace whittle::halide_capture
