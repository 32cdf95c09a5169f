#include "api/stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

// GCC's libbacktrace, whose header clang does not find.
extern "C" {
struct backtrace_state;
using backtrace_error_callback = void (*)(void*, const char*, int);
using backtrace_full_callback = int (*)(void*, std::uintptr_t, const char*, int, const char*);
using backtrace_syminfo_callback = void (*)(void*, std::uintptr_t, const char*, std::uintptr_t, std::uintptr_t);
backtrace_state* backtrace_create_state(const char*, int, backtrace_error_callback, void*);
int backtrace_pcinfo(backtrace_state*, std::uintptr_t, backtrace_full_callback, backtrace_error_callback, void*);
int backtrace_syminfo(backtrace_state*, std::uintptr_t, backtrace_syminfo_callback, backtrace_error_callback, void*);
}

namespace whittle::api {

namespace {

void ignore_error(void*, const char*, int) {}

backtrace_state* state() {
    static backtrace_state* const instance = backtrace_create_state(nullptr, 1, &ignore_error, nullptr);
    return instance;
}

std::string demangled(const char* name) {
    if (!name) return {};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && text ? text.get() : name;
}

/// "f(whittle::api::Tensor const&)" -> "f": parameter lists and what follows them go, templates' stay.
std::string without_parameters(const std::string& function) {
    int angle = 0;
    for (std::size_t i = 0; i < function.size(); ++i) {
        if (function.compare(i, 8, "operator") == 0) i += 8;  // its own < and ( are no brackets
        if (i >= function.size()) break;
        if (function[i] == '<') ++angle;
        if (function[i] == '>') --angle;
        if (function[i] == '(' && angle == 0 && i != 0 && function.compare(i, 11, "(anonymous ") != 0)
            return function.substr(0, i);
    }
    return function;
}

struct Place {
    std::string file, function;
    int line = 0;
};

int add_place(void* data, std::uintptr_t, const char* file, int line, const char* function) {
    auto& places = *static_cast<std::vector<Place>*>(data);
    if (!file && !function) return 0;
    places.push_back({file ? file : "", demangled(function), line});
    return 0;
}

void set_symbol(void* data, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
    *static_cast<std::string*>(data) = demangled(name);
}

/// The functions at an address, innermost inlined first.
const std::vector<Place>& places_at(std::uintptr_t address) {
    static std::map<std::uintptr_t, std::vector<Place>> known;
    const auto [found, added] = known.try_emplace(address);
    if (!added) return found->second;
    std::vector<Place>& places = found->second;
    backtrace_pcinfo(state(), address, &add_place, &ignore_error, &places);
    if (places.empty()) {
        std::string symbol;
        backtrace_syminfo(state(), address, &set_symbol, &ignore_error, &symbol);
        Dl_info module{};
        dladdr(reinterpret_cast<void*>(address), &module);
        if (symbol.empty() && module.dli_sname) symbol = demangled(module.dli_sname);
        places.push_back({module.dli_fname ? module.dli_fname : "", symbol, 0});
    }
    return places;
}

std::string source_text(const std::string& file, int line) {
    static std::map<std::string, std::vector<std::string>> files;
    const auto [found, added] = files.try_emplace(file);
    if (added) {
        std::ifstream in(file);
        for (std::string text; std::getline(in, text);) found->second.push_back(text);
    }
    if (line < 1 || static_cast<std::size_t>(line) > found->second.size()) return {};
    const std::string& text = found->second[static_cast<std::size_t>(line) - 1];
    const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
    for (const char* prefix : prefixes)
        if (text.rfind(prefix, 0) == 0) return true;
    return false;
}

/// The folder of our sources, as this file's debug information spells it.
const std::string& own_sources() {
    static const std::string folder = std::filesystem::path(__FILE__).parent_path().parent_path().string() + "/";
    return folder;
}

bool is_run_frame(const Place& place) {
    if (place.function.find("whittle::api::run_frame") != std::string::npos) return true;
    return place.function == "run_frame" && place.file == own_sources() + "api/compile.cpp";
}

/// Of the library or of the standard library; templates carry their return type in front.
bool is_ours(const Place& place) {
    if (place.file.starts_with(own_sources()) || place.file.find("whittle/api/") != std::string::npos) return true;
    if (starts_with_any(place.function, {"whittle::", "std::", "__gnu_cxx::"})) return true;
    if (starts_with_any(place.file, {"/usr/include", "/usr/lib", "/lib/"})) return true;
    const std::size_t parenthesis = place.function.find('(');
    const std::string head = place.function.substr(0, parenthesis);
    return head.find(" whittle::") != std::string::npos || head.find(" std::") != std::string::npos;
}

/// Debug information may name files relative to the folder of the build, which it is not asked for here: a folder
/// above the program in which there is such a file.
std::string found_file(const std::string& file) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (file.empty() || fs::path(file).is_absolute() || fs::exists(file, error))
        return fs::path(file).lexically_normal().string();
    for (fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path(); folder.has_relative_path();
         folder = folder.parent_path())
        if (fs::exists(folder / file, error)) return (folder / file).lexically_normal().string();
    return fs::path(file).lexically_normal().string();
}

std::mutex symbolizing;

}  // namespace

std::vector<void*> capture_stack(std::size_t limit) {
    std::vector<void*> addresses(limit);
    const int count = backtrace(addresses.data(), static_cast<int>(limit));
    addresses.resize(static_cast<std::size_t>(count));
    return addresses;
}

namespace {

/// A place as reports tell it.
struct KnownFrame {
    StackFrame frame = {};
    bool runs_frame = false, ours = false;
};

/// The functions at an address, innermost inlined first; looked up once. The caller holds `symbolizing`.
const std::vector<KnownFrame>& frames_at(std::uintptr_t address) {
    static std::unordered_map<std::uintptr_t, std::vector<KnownFrame>> known;
    const auto [found, added] = known.try_emplace(address);
    if (!added) return found->second;
    for (const Place& place : places_at(address)) {
        KnownFrame entry{.runs_frame = is_run_frame(place), .ours = is_ours(place)};
        if (!entry.ours) {
            const std::string file = found_file(place.file);
            entry.frame = {file, place.line, 0, without_parameters(place.function), source_text(file, place.line)};
        }
        found->second.push_back(std::move(entry));
    }
    return found->second;
}

/// The user's frames within the compiled function, or (outside) those that called it.
std::vector<StackFrame> frames_of(const std::vector<void*>& addresses, bool outside) {
    const std::lock_guard lock(symbolizing);
    std::vector<StackFrame> stack;
    bool skipping = outside;
    for (void* const address : addresses) {
        if (!address) continue;
        for (const KnownFrame& known : frames_at(reinterpret_cast<std::uintptr_t>(address) - 1)) {
            if (known.runs_frame) {
                if (!skipping) return stack;
                skipping = false;
            }
            if (skipping || known.ours) continue;
            stack.push_back(known.frame);
            if (known.frame.function == "main") return stack;
        }
    }
    return stack;
}

}  // namespace

std::vector<StackFrame> user_stack(const std::vector<void*>& addresses) { return frames_of(addresses, false); }
std::vector<StackFrame> caller_stack(const std::vector<void*>& addresses) { return frames_of(addresses, true); }

StackFrame function_at(const void* address) {
    const std::lock_guard lock(symbolizing);
    const std::vector<Place>& places = places_at(reinterpret_cast<std::uintptr_t>(address));
    if (places.empty()) return {};
    const Place& place = places.back();
    const std::string file = found_file(place.file);
    return {file, place.line, 0, without_parameters(place.function), source_text(file, place.line)};
}

}  // namespace whittle::api
