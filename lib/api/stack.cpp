#include "api/stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <unordered_map>

#include "symbolize/symbolizer.h"
#include "symbolize/text.h"

namespace whittle::api {
namespace {

namespace fs = std::filesystem;

/// The program or library that holds an address.
struct LoadedModule {
    std::string file = {};
    std::uintptr_t bias = 0;  ///< what the loader added to the addresses in the file
};

LoadedModule module_of(std::uintptr_t address) {
    Dl_info info{};
    link_map* map = nullptr;
    if (!dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map)
        return {};
    std::error_code error;
    const bool program = !map->l_name || !*map->l_name;
    return {program ? fs::read_symlink("/proc/self/exe", error).string() : map->l_name, map->l_addr};
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return text.starts_with(prefix); });
}

/// The library that holds this code, as the loader names it; "" where it is part of the program.
const std::string& own_library() {
    static const std::string file = [] {
        Dl_info info{};
        link_map* map = nullptr;
        const bool found =
            dladdr1(reinterpret_cast<void*>(&own_library), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
        return found && map && map->l_name ? std::string(map->l_name) : std::string();
    }();
    return file;
}

/// The C library, which starts programs and threads. What of it has names, and lines, depends on the machine.
bool is_c_library(const std::string& file) { return fs::path(file).filename().string().starts_with("libc.so."); }

/// The folder of our sources, as this file's debug information spells it.
const std::string& own_sources() {
    static const std::string folder = fs::path(__FILE__).parent_path().parent_path().string() + "/";
    return folder;
}

/// Of the library or of the standard library; templates carry their return type in front.
bool is_ours(const LineInfo& place) {
    if (place.file.starts_with(own_sources()) || place.file.find("whittle/api/") != std::string::npos) return true;
    if (starts_with_any(place.function, {"whittle::", "std::", "__gnu_cxx::"})) return true;
    if (starts_with_any(place.file, {"/usr/include", "/usr/lib", "/lib/"})) return true;
    const std::string head = place.function.substr(0, place.function.find('('));
    return head.find(" whittle::") != std::string::npos || head.find(" std::") != std::string::npos;
}

/// Debug information may name files relative to the folder of the build: a folder above the program in which there is
/// such a file; "" where there is none.
std::string below_program(const fs::path& file) {
    std::error_code error;
    for (fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path(); folder.has_relative_path();
         folder = folder.parent_path())
        if (fs::exists(folder / file, error)) return (folder / file).lexically_normal().string();
    return {};
}

/// A place as reports tell it.
struct KnownFrame {
    StackFrame frame = {};
    bool ours = false;
    bool unknown = false;  ///< the module has no symbol there
};

/// Of this process. Slow; one thread at a time.
class Places {
  public:
    /// The functions at an address, innermost inlined first; looked up once.
    const std::vector<KnownFrame>& at(std::uintptr_t address) {
        const auto [found, added] = known_.try_emplace(address);
        if (!added) return found->second;
        const LoadedModule module = module_of(address);
        // Stripped, the own one has no names.
        const bool own = is_c_library(module.file) || (!own_library().empty() && module.file == own_library());
        const std::uintptr_t in_file = address - module.bias;
        std::vector<LineInfo> lines = lines_->look_up(module.file, in_file);
        if (lines.empty()) lines.emplace_back();
        for (std::size_t i = 0; i < lines.size(); ++i) {
            KnownFrame entry{.ours = own || is_ours(lines[i]),
                             .unknown = lines[i].function.empty() && lines[i].file.empty()};
            if (!entry.ours) entry.frame = frame(lines[i], module, in_file, i);
            found->second.push_back(std::move(entry));
        }
        return found->second;
    }

    /// The same with the library's own, which nobody asks for twice.
    std::vector<StackFrame> all_at(std::uintptr_t address) {
        const LoadedModule module = module_of(address);
        std::vector<LineInfo> lines = lines_->look_up(module.file, address - module.bias);
        if (lines.empty()) lines.emplace_back();
        std::vector<StackFrame> frames;
        for (std::size_t i = 0; i < lines.size(); ++i)
            frames.push_back(frame(lines[i], module, address - module.bias, i));
        return frames;
    }

  private:
    StackFrame frame(const LineInfo& line, const LoadedModule& module, std::uintptr_t in_file, std::size_t inlined) {
        StackFrame frame{module.file, line.line, 0, readable_function(line.function), {}};
        if (!line.file.empty()) frame.file = source_file(line.file, module, in_file, inlined);
        if (frame.function.empty()) {
            char offset[32];
            std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(in_file));
            frame.function = offset;
        }
        frame.text = texts_.line(frame.file, frame.line);
        return frame;
    }

    std::string source_file(const fs::path& file, const LoadedModule& module, std::uintptr_t in_file,
                            std::size_t inlined) {
        if (file.is_absolute()) return file.lexically_normal().string();
        if (file.has_parent_path())
            if (std::string found = below_program(file); !found.empty()) return found;
        // In the folder of the build, whatever else has that name.
        const std::vector<LineInfo> absolute = absolute_->look_up(module.file, in_file);
        return fs::path(inlined < absolute.size() ? absolute[inlined].file : file.string()).lexically_normal().string();
    }

    const std::unique_ptr<LineSymbolizer> lines_ = make_symbolizer(LineSymbolizer::Paths::as_compiled);
    const std::unique_ptr<LineSymbolizer> absolute_ = make_symbolizer();
    SourceTexts texts_;
    std::unordered_map<std::uintptr_t, std::vector<KnownFrame>> known_;
};

std::mutex symbolizing;
/// This thread holds the mutex: what the symbolizer itself throws and prints is nobody's place (see thrown.cpp).
thread_local bool looking = false;
struct Looking {
    Looking() : lock(symbolizing) { looking = true; }
    ~Looking() { looking = false; }
    std::lock_guard<std::mutex> lock;
};
/// Never destroyed: programs end with graphs that are still to be told.
Places& places() {
    static auto* const instance = new Places;
    return *instance;
}

}  // namespace

std::vector<void*> capture_stack(const void* from, const void* until) {
    constexpr std::size_t kMost = 64;
    std::vector<void*> addresses(kMost);
    addresses.resize(static_cast<std::size_t>(backtrace(addresses.data(), static_cast<int>(kMost))));
    if (const auto end = std::find(addresses.begin(), addresses.end(), until); until && end != addresses.begin())
        addresses.erase(end, addresses.end());
    if (const auto begin = std::find(addresses.begin(), addresses.end(), from); begin != addresses.end())
        addresses.erase(addresses.begin(), begin);
    return addresses;
}

std::vector<StackFrame> user_stack(const std::vector<void*>& addresses) {
    if (looking) return {};
    const Looking lock;
    std::vector<StackFrame> stack;
    for (void* const address : addresses) {
        if (!address) continue;
        for (const KnownFrame& known : places().at(reinterpret_cast<std::uintptr_t>(address) - 1)) {
            // Without symbols the user's functions cannot be told from ours: the innermost has to do.
            if (known.ours || (known.unknown && address != addresses.front())) continue;
            stack.push_back(known.frame);
            if (known.frame.function == "main") return stack;
        }
    }
    return stack;
}

std::vector<StackFrame> whole_stack(const std::vector<void*>& addresses) {
    if (looking) return {};
    const Looking lock;
    std::vector<StackFrame> stack;
    for (void* const address : addresses)
        if (address)
            for (StackFrame& frame : places().all_at(reinterpret_cast<std::uintptr_t>(address) - 1))
                stack.push_back(std::move(frame));
    return stack;
}

std::string function_at(const void* address) {
    if (looking) return {};
    const Looking lock;
    const KnownFrame& known = places().at(reinterpret_cast<std::uintptr_t>(address)).back();
    return known.unknown ? "function_at_0x" + known.frame.function.substr(3) : known.frame.function;
}

std::string text_of(const std::vector<void*>& addresses) {
    std::string text;
    for (const void* const address : addresses) text += std::to_string(reinterpret_cast<std::uintptr_t>(address)) + " ";
    return text;
}

}  // namespace whittle::api
