// Where the functions are that ours hide.
#include "frontends/libtorch/capture/stub.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

// All functions that we hide: the linker gathers them.
extern "C" __attribute__((visibility("hidden"))) const whittle::libtorch::Hook __start_whittle_hooks[];
extern "C" __attribute__((visibility("hidden"))) const whittle::libtorch::Hook __stop_whittle_hooks[];

namespace whittle::libtorch {

namespace {

bool is_ours(const void* function) {
    Dl_info info{}, own{};
    return dladdr(function, &info) && dladdr(&hooks, &own) && info.dli_fbase == own.dli_fbase;
}

/// As the library that `address` lies in would find it, in itself and in what it is linked with.
void* find_from(const void* address, const char* name) {
    Dl_info info{};
    link_map* library = nullptr;
    if (!dladdr1(address, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) || !library) return nullptr;
    if (!library->l_name || !strchr(library->l_name, '/')) return nullptr;  // the program, the kernel's own
    // glibc takes a link_map for a handle, but has the list of what it is linked with only of those that dlopen() gave.
    void* const handle = plain_dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return nullptr;
    void* const found = dlsym(handle, name);
    dlclose(handle);
    return found && !is_ours(found) ? found : nullptr;
}

/// An address in each library.
struct Libraries {
    const void* code[1024];
    size_t count;
};
int collect_library(dl_phdr_info* info, size_t, void* data) {
    auto& libraries = *static_cast<Libraries*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
        libraries.code[libraries.count++] = reinterpret_cast<const void*>(info->dlpi_addr + segment.p_vaddr);
        break;
    }
    return libraries.count == sizeof libraries.code / sizeof *libraries.code;
}

constexpr size_t kMostHooks = 512;
void* found_early[kMostHooks];  ///< per symbol that we hide

/// Calls f(hook, place in found_early) for each of them, until it says true.
template <class F>
void for_each_hook(F f) {
    size_t i = 0;
    for (const Hook* hook = __start_whittle_hooks; hook != __stop_whittle_hooks && i < kMostHooks; ++hook)
        if (f(*hook, found_early[i++])) return;
}

void* found_at_start(const char* name) {
    void* result = nullptr;
    for_each_hook([&](const Hook& hook, void* found) {
        if (strcmp(hook.symbol, name) != 0) return false;
        result = found;
        return true;
    });
    return result;
}

}  // namespace

void find_at_start() {
    for_each_hook([](const Hook& hook, void*& found) {
        found = dlsym(RTLD_NEXT, hook.symbol);
        return false;
    });
}

/// RTLD_NEXT does not see libraries that came by dlopen with RTLD_LOCAL. A call in the last place of a function leaves
/// the address of another caller, so every library is asked in the end.
void* find_hidden(const char* name, const void* caller) {
    if (void* found = found_at_start(name)) return found;
    if (void* found = dlsym(RTLD_NEXT, name)) return found;
    if (void* found = caller ? find_from(caller, name) : nullptr) return found;
    Libraries libraries;
    libraries.count = 0;
    dl_iterate_phdr(collect_library, &libraries);
    for (size_t i = 0; i < libraries.count; ++i)
        if (void* found = find_from(libraries.code[i], name)) return found;
    return nullptr;
}

/// Of these libraries glibc keeps what was loaded once, as they have symbols that must be unique in the process.
bool is_lasting(const char* name, const void* found) {
    if (found_at_start(name) == found || dlsym(RTLD_NEXT, name) == found) return true;
    Dl_info info{};
    if (!dladdr(found, &info) || !info.dli_fname) return false;
    const char* const kept[] = {"/libstdc++.so", "/libtorch", "/libc10"};
    for (const char* library : kept)
        if (strstr(info.dli_fname, library)) return true;
    return false;
}

namespace {

/// Functions of a std::string have another name per ABI; we stand before both.
bool is_of_other_abi(const char* name, const TorchFacts& torch) {
    if (strstr(name, "NSt7__cxx11")) return torch.abi[0] == '0';
    return strstr(name, "ESs") != nullptr && torch.abi[0] != '0';
}

/// 206 of "2.6.0+cpu"; 0 where the version is unknown.
int release_of(const char* version) {
    const char* const dot = strchr(version, '.');
    if (version[0] < '0' || version[0] > '9' || !dot) return 0;
    return 100 * atoi(version) + atoi(dot + 1);
}

}  // namespace

/// A function that is spelled otherwise in this LibTorch or this libstdc++ is one that we do not stand before.
void find_missing_hooks(const TorchFacts& torch, char* text, size_t size) {
    const int release = release_of(torch.version);
    size_t used = 0;
    for_each_hook([&](const Hook& hook, void*) {
        if (release < hook.since || release >= hook.before || is_of_other_abi(hook.symbol, torch) ||
            find_hidden(hook.symbol, nullptr))
            return false;
        const int added = snprintf(text + used, size - used, "\n%s", hook.symbol);
        if (added < 0 || used + static_cast<size_t>(added) >= size) return true;
        used += static_cast<size_t>(added);
        return false;
    });
}

}  // namespace whittle::libtorch
