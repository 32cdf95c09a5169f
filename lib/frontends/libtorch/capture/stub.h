// What the parts of libwhittle_capture.so share: how a function of ours stands before the one of the same name that the
// program would call without us. No part may need LibTorch or libstdc++, nor a function that a signal handler may not
// call where its comment says so.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>

#include "frontends/libtorch/capture/choice.h"
#include "frontends/libtorch/events.h"

namespace whittle::libtorch {

/// Filled in by the capture library.
extern Hooks hooks;

/// dlopen() as libc has it: that of this file looks at what it loads.
void* plain_dlopen(const char* file, int mode);

/// What is there at the start, found then: dlsym() later would take the text away that the program just has from
/// dlerror() and is about to print.
void find_at_start();
/// The function that ours hides, as the caller would have found it without us; null where no library has it.
void* find_hidden(const char* name, const void* caller);
/// It stays where it is, no dlclose() takes it away.
bool is_lasting(const char* name, const void* found);
/// Writes "\n" and the symbol of each function that we hide, that a LibTorch like this one should have, and that no
/// library has.
void find_missing_hooks(const TorchFacts& torch, char* text, size_t size);

/// Of the libtorch_cpu that is loaded from there.
void find_facts(const char* path, TorchFacts& facts);

/// The capture library is loaded if the program has LibTorch now, and had not before.
void activate_if_torch();

/// A program that takes this one's place, or that this one starts, is captured in its turn: its environment. `space`
/// has room for environment_size(given) pointers, and `entries` for those that are made; both are the caller's, as this
/// may be called between fork and exec, on a thread with a small stack of its own.
struct ExecEntries {
    char preload[2 * 4096], users[4096 + 64];
};
size_t environment_size(char* const* given);
char* const* environment_for_exec(const char* program, char* const* given, char** space, ExecEntries& entries);

/// Whether programs that this one starts are to be captured in their turn.
bool hands_on();
/// The entry is one of those that environment_for_exec() adds and that are not in `entries`.
bool is_setting(const char* entry);

/// Of the functions that signal handlers call and that may not look for libc's own then.
void find_process_functions();

/// A function that we hide, and which programs have it.
struct Hook {
    const char* symbol;
    short since, before;  ///< releases of LibTorch, 206 is 2.6
};
constexpr short kLater = 0x7fff;

template <class F>
struct Next {
    const char* name;
    F function;  ///< once it is known for good
    /// Null, with a word on stderr, where no library has it: the program cannot have meant to call it.
    F get(const void* caller = nullptr) {
        if (function) return function;
        void* const found = find_hidden(name, caller);
        if (!found) fprintf(stderr, "whittle: the program calls %s, which no library has\n", name);
        if (found && is_lasting(name, found)) function = reinterpret_cast<F>(found);
        return reinterpret_cast<F>(found);
    }
};

}  // namespace whittle::libtorch

// A function of ours under the mangled name of the one it hides. Arguments of class type go by address.
#define HIDES(result, id, mangled, parameters) HIDES_FROM(0, kLater, result, id, mangled, parameters)
// One that only releases of LibTorch from one on, and before another, have: 206 is 2.6.
#define HIDES_FROM(since, before, result, id, mangled, parameters)                                          \
    __attribute__((section("whittle_hooks"), used)) static const Hook hook_##id = {mangled, since, before}; \
    extern "C" __attribute__((visibility("default"))) result id parameters __asm__(mangled);                \
    result id parameters
// Inside one: the function that it hides, as its caller knows it.
#define NEXT_OF(mangled, ...)                                   \
    static Next<__VA_ARGS__> hidden_function{mangled, nullptr}; \
    const auto next = hidden_function.get(__builtin_return_address(0))
