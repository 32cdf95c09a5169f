// libwhittle_capture.so, preloaded into the program that is captured. It links neither LibTorch nor libstdc++, so that
// a program without LibTorch hardly notices it: it takes its own traces out of the environment (children are not
// captured), and stands before a few functions of LibTorch, libstdc++ and libc. Only if the program brought LibTorch
// along it loads the capture library, which fills in `hooks`; until then each function here just calls the one it
// hides.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontends/libtorch/events.h"
#include "probe/probe.h"

using namespace whittle::libtorch;

// The symbols of all functions that we hide: the linker gathers them.
extern "C" __attribute__((visibility("hidden"))) const char* const __start_whittle_hooks[];
extern "C" __attribute__((visibility("hidden"))) const char* const __stop_whittle_hooks[];

namespace {

Hooks hooks;
char status_file[4096];
bool active;
char not_found[16384];  ///< a line for each function that we hide and that no library has: "\n" and its symbol

/// What became of the capture, for the program that started us: one line about it, then those of `not_found`.
void tell(const char* text, const char* more = "") {
    if (!status_file[0]) return;
    const int file = open(status_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    const char* const parts[] = {text, more, not_found};
    for (const char* part : parts)
        if (write(file, part, strlen(part)) < 0) break;
    close(file);
}

void find_process_functions();

/// The path of the libtorch_cpu that is mapped, or an empty text.
struct Mapped {
    char path[4096];
};
int find_torch(dl_phdr_info* info, size_t, void* data) {
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libtorch_cpu.so")) return 0;
    strncpy(static_cast<Mapped*>(data)->path, info->dlpi_name, sizeof(Mapped::path) - 1);
    return 1;
}

/// Takes NAME out of the environment in place, so that the order of the other variables stays.
void remove_variable(const char* name) {
    const size_t length = strlen(name);
    for (char** entry = environ; entry && *entry;) {
        if (strncmp(*entry, name, length) != 0 || (*entry)[length] != '=') {
            ++entry;
            continue;
        }
        for (char** next = entry; (*next = next[1]) != nullptr; ++next) {
        }
    }
}

/// The program, and the children it starts, see the LD_PRELOAD that the user gave.
void restore_preload(const char* users) {
    if (!users) return remove_variable("LD_PRELOAD");
    static char entry[8192];
    if (snprintf(entry, sizeof entry, "LD_PRELOAD=%s", users) >= static_cast<int>(sizeof entry))
        return remove_variable("LD_PRELOAD");
    for (char** place = environ; place && *place; ++place)
        if (!strncmp(*place, "LD_PRELOAD=", 11)) *place = entry;
}

struct Settings {
    const char *file, *library, *soname, *preload, *limits;
};

void check_hooks();

void activate(const Settings& settings) {
    static Mapped torch;
    dl_iterate_phdr(find_torch, &torch);
    if (!torch.path[0]) return tell("no-torch");
    if (!settings.library || !settings.soname) return tell("not-built ", torch.path);
    // A second LibTorch of another version in one process would end badly.
    const char* name = strrchr(torch.path, '/') ? strrchr(torch.path, '/') + 1 : torch.path;
    if (strcmp(name, settings.soname) != 0) return tell("other-torch ", torch.path);
    unsigned long long bytes = 0;
    double seconds = 0;
    int with_data = 0;
    if (!settings.limits || sscanf(settings.limits, "%llu %lf %d", &bytes, &seconds, &with_data) != 3) return;
    check_hooks();
    void* library = dlopen(settings.library, RTLD_NOW | RTLD_LOCAL);
    if (!library) return tell("not-loaded ", dlerror());
    const auto start = reinterpret_cast<StartFunction>(dlsym(library, "whittle_capture_start"));
    if (!start || start(&hooks, settings.file, bytes, seconds, with_data) != 0)
        return tell("not-loaded ", "the capture library could not start");
    active = true;
    tell("active ", torch.path);
}

__attribute__((constructor)) void enter() {
    const Settings settings = {getenv(kFileVariable), getenv(kLibraryVariable), getenv(kSonameVariable),
                               getenv(kPreloadVariable), getenv(kLimitsVariable)};
    if (!settings.file) return;
    const int saved_errno = errno;
    restore_preload(settings.preload);
    const char* const ours[] = {kFileVariable, kLibraryVariable, kSonameVariable, kPreloadVariable, kLimitsVariable};
    for (const char* name : ours) remove_variable(name);
    find_process_functions();
    snprintf(status_file, sizeof status_file, "%s.status", settings.file);
    activate(settings);
    errno = saved_errno;
}

/// LibTorch that came in by dlopen is not captured; say so.
__attribute__((destructor)) void leave() {
    static Mapped torch;
    if (active || !status_file[0]) return;
    dl_iterate_phdr(find_torch, &torch);
    if (torch.path[0] && access(status_file, F_OK) == 0) {
        char first[16] = {};
        const int file = open(status_file, O_RDONLY | O_CLOEXEC);
        if (file >= 0 && read(file, first, sizeof first - 1) >= 0 && !strcmp(first, "no-torch"))
            tell("late-torch ", torch.path);
        if (file >= 0) close(file);
    }
}

// ---- The functions that ours hide

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
    void* const handle = dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
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

/// The function that ours hides, as the caller would have found it without us: RTLD_NEXT does not see libraries that
/// came by dlopen with RTLD_LOCAL. A call in the last place of a function leaves the address of another caller, so
/// every library is asked in the end. Null where none has it.
void* find_hidden(const char* name, const void* caller) {
    if (void* found = dlsym(RTLD_NEXT, name)) return found;
    if (void* found = caller ? find_from(caller, name) : nullptr) return found;
    Libraries libraries;
    libraries.count = 0;
    dl_iterate_phdr(collect_library, &libraries);
    for (size_t i = 0; i < libraries.count; ++i)
        if (void* found = find_from(libraries.code[i], name)) return found;
    return nullptr;
}

/// It stays where it is, no dlclose() takes it away: of these libraries glibc keeps what was loaded once, as they have
/// symbols that must be unique in the process.
bool is_lasting(const char* name, const void* found) {
    if (dlsym(RTLD_NEXT, name) == found) return true;
    Dl_info info{};
    if (!dladdr(found, &info) || !info.dli_fname) return false;
    const char* const kept[] = {"/libstdc++.so", "/libtorch", "/libc10"};
    for (const char* library : kept)
        if (strstr(info.dli_fname, library)) return true;
    return false;
}

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

/// A function that is spelled otherwise in this LibTorch or this libstdc++ is one that we do not stand before.
void check_hooks() {
    size_t used = 0;
    for (const char* const* name = __start_whittle_hooks; name != __stop_whittle_hooks; ++name) {
        if (find_hidden(*name, nullptr)) continue;
        const int added = snprintf(not_found + used, sizeof not_found - used, "\n%s", *name);
        if (added < 0 || used + static_cast<size_t>(added) >= sizeof not_found) break;
        used += static_cast<size_t>(added);
    }
}

}  // namespace

// A function of this file under the mangled name of the one it hides. Arguments of class type go by address.
#define HIDES(result, id, mangled, parameters)                                                    \
    __attribute__((section("whittle_hooks"), used)) static const char* const name_##id = mangled; \
    extern "C" __attribute__((visibility("default"))) result id parameters __asm__(mangled);      \
    result id parameters
// Inside one: the function that it hides, as its caller knows it.
#define NEXT_OF(mangled, ...)                                   \
    static Next<__VA_ARGS__> hidden_function{mangled, nullptr}; \
    const auto next = hidden_function.get(__builtin_return_address(0))
#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

// torch::nn::Module: construction and registration, for the names of parameters and buffers.
#define MODULE "_ZN5torch2nn6Module"
HIDES(void, module_c2, MODULE "C2Ev", (void* self)) {
    NEXT_OF(MODULE "C2Ev", void (*)(void*));
    if (!next) return;
    next(self);
    if (hooks.module_made) hooks.module_made(self);
}
HIDES(void, module_c1, MODULE "C1Ev", (void* self)) { module_c2(self); }
HIDES(void, module_named_c2, MODULE "C2E" STRING, (void* self, void* name)) {
    NEXT_OF(MODULE "C2E" STRING, void (*)(void*, void*));
    if (!next) return;
    next(self, name);
    if (hooks.module_made) hooks.module_made(self);
}
HIDES(void, module_named_c1, MODULE "C1E" STRING, (void* self, void* name)) { module_named_c2(self, name); }
HIDES(void*, register_parameter, MODULE "18register_parameterE" STRING "N2at6TensorEb",
      (void* self, const char** name, void* tensor, bool requires_grad)) {
    NEXT_OF(MODULE "18register_parameterE" STRING "N2at6TensorEb", void* (*)(void*, const char**, void*, bool));
    if (!next) return nullptr;
    char copy[256] = {};
    if (hooks.registered) strncpy(copy, *name, sizeof copy - 1);  // a std::string begins with its pointer
    void* registered = next(self, name, tensor, requires_grad);
    if (hooks.registered) hooks.registered(self, registered, copy, 0);
    return registered;
}
HIDES(void*, register_buffer, MODULE "15register_bufferE" STRING "N2at6TensorE",
      (void* self, const char** name, void* tensor)) {
    NEXT_OF(MODULE "15register_bufferE" STRING "N2at6TensorE", void* (*)(void*, const char**, void*));
    if (!next) return nullptr;
    char copy[256] = {};
    if (hooks.registered) strncpy(copy, *name, sizeof copy - 1);
    void* registered = next(self, name, tensor);
    if (hooks.registered) hooks.registered(self, registered, copy, 1);
    return registered;
}

// Typed data pointers pass the dispatcher by.
#define DATA_PTR(id, code, type)                                                                     \
    HIDES(void*, data_ptr_##id, "_ZNK2at10TensorBase8data_ptrI" code "EEPT_v", (const void* self)) { \
        NEXT_OF("_ZNK2at10TensorBase8data_ptrI" code "EEPT_v", void* (*)(const void*));              \
        if (!next) return nullptr;                                                                   \
        if (hooks.data_ptr) hooks.data_ptr(self, type, __builtin_return_address(0));                 \
        return next(self);                                                                           \
    }
DATA_PTR(f32, "f", "float")
DATA_PTR(f64, "d", "double")
DATA_PTR(i64, "l", "int64_t")
DATA_PTR(i32, "i", "int")
DATA_PTR(i16, "s", "int16_t")
DATA_PTR(i8, "a", "int8_t")
DATA_PTR(u8, "h", "uint8_t")
DATA_PTR(boolean, "b", "bool")
DATA_PTR(f16, "N3c104HalfE", "at::Half")
DATA_PTR(bf16, "N3c108BFloat16E", "at::BFloat16")

HIDES(void*, from_blob, "_ZN2at11TensorMaker11make_tensorEv", (void* result, void* self)) {
    NEXT_OF("_ZN2at11TensorMaker11make_tensorEv", void* (*)(void*, void*));
    if (!next) return nullptr;
    if (hooks.from_blob) hooks.from_blob(__builtin_return_address(0));
    return next(result, self);
}
HIDES(void*, print_tensor, "_ZN2at5printERSoRKNS_6TensorEl", (void* stream, const void* tensor, long width)) {
    NEXT_OF("_ZN2at5printERSoRKNS_6TensorEl", PrintFunction);
    if (!next) return stream;
    return hooks.print ? hooks.print(next, stream, tensor, width) : next(stream, tensor, width);
}

// Output through std::ostream: the functions of libstdc++ that its headers do not inline.
#define STREAM(id, mangled, what, parameters, types, arguments)            \
    HIDES(void*, stream_##id, mangled, parameters) {                       \
        NEXT_OF(mangled, void*(*)types);                                   \
        if (!next) return stream;                                          \
        if (hooks.io) hooks.io(what, stream, __builtin_return_address(0)); \
        return next arguments;                                             \
    }
#define STREAM_VALUE(id, mangled, type) \
    STREAM(id, mangled, "operator<<", (void* stream, type value), (void*, type), (stream, value))
#define CHARS "St11char_traitsIcE"
STREAM(insert, "_ZSt16__ostream_insertIc" CHARS "ERSt13basic_ostreamIT_T0_ES6_PKS3_l", "operator<<",
       (void* stream, const char* text, long length), (void*, const char*, long), (stream, text, length))
STREAM_VALUE(text, "_ZStlsI" CHARS "ERSt13basic_ostreamIcT_ES5_PKc", const char*)
STREAM_VALUE(character, "_ZStlsI" CHARS "ERSt13basic_ostreamIcT_ES5_c", char)
STREAM_VALUE(manipulator, "_ZNSolsEPFRSoS_E", void*)
STREAM_VALUE(integer, "_ZNSolsEi", int)
STREAM_VALUE(unsigned_integer, "_ZNSolsEj", unsigned)
STREAM_VALUE(short_integer, "_ZNSolsEs", short)
STREAM_VALUE(real, "_ZNSolsEf", float)
STREAM_VALUE(real64, "_ZNSolsEd", double)
STREAM_VALUE(integer64, "_ZNSolsEl", long)
STREAM_VALUE(unsigned64, "_ZNSolsEm", unsigned long)
STREAM_VALUE(boolean, "_ZNSolsEb", bool)
STREAM_VALUE(insert_real, "_ZNSo9_M_insertIdEERSoT_", double)
STREAM_VALUE(insert_integer, "_ZNSo9_M_insertIlEERSoT_", long)
STREAM_VALUE(insert_unsigned, "_ZNSo9_M_insertImEERSoT_", unsigned long)
STREAM_VALUE(insert_bool, "_ZNSo9_M_insertIbEERSoT_", bool)
STREAM_VALUE(insert_pointer, "_ZNSo9_M_insertIPKvEERSoT_", const void*)
STREAM(put, "_ZNSo3putEc", "put", (void* stream, char value), (void*, char), (stream, value))
STREAM(write, "_ZNSo5writeEPKcl", "write", (void* stream, const char* text, long length), (void*, const char*, long),
       (stream, text, length))

// Output through stdio.
#define STDIO(result, id, parameters, types, arguments)                    \
    HIDES(result, stdio_##id, #id, parameters) {                           \
        NEXT_OF(#id, result(*) types);                                     \
        if (hooks.io) hooks.io(#id, nullptr, __builtin_return_address(0)); \
        return next arguments;                                             \
    }
STDIO(int, puts, (const char* text), (const char*), (text))
STDIO(int, putchar, (int value), (int), (value))
STDIO(int, putc, (int value, FILE* file), (int, FILE*), (value, file))
STDIO(int, fputc, (int value, FILE* file), (int, FILE*), (value, file))
STDIO(int, fputs, (const char* text, FILE* file), (const char*, FILE*), (text, file))
STDIO(size_t, fwrite, (const void* data, size_t size, size_t count, FILE* file), (const void*, size_t, size_t, FILE*),
      (data, size, count, file))
STDIO(int, vprintf, (const char* format, va_list list), (const char*, va_list), (format, list))
STDIO(int, vfprintf, (FILE * file, const char* format, va_list list), (FILE*, const char*, va_list),
      (file, format, list))
// Those that take `...` end in the v form, which is what libc's own do.
#define PRINTS(id, parameters, last, call)                                 \
    HIDES(int, stdio_##id, #id, parameters) {                              \
        if (hooks.io) hooks.io(#id, nullptr, __builtin_return_address(0)); \
        va_list list;                                                      \
        va_start(list, last);                                              \
        const int result = call;                                           \
        va_end(list);                                                      \
        return result;                                                     \
    }
static int libc_vfprintf(FILE* file, const char* format, va_list list) {
    NEXT_OF("vfprintf", int (*)(FILE*, const char*, va_list));
    return next(file, format, list);
}
extern "C" int __vfprintf_chk(FILE* file, int flag, const char* format, va_list list);
PRINTS(printf, (const char* format, ...), format, libc_vfprintf(stdout, format, list))
PRINTS(fprintf, (FILE * file, const char* format, ...), format, libc_vfprintf(file, format, list))
PRINTS(__printf_chk, (int flag, const char* format, ...), format, __vfprintf_chk(stdout, flag, format, list))
PRINTS(__fprintf_chk, (FILE * file, int flag, const char* format, ...), format,
       __vfprintf_chk(file, flag, format, list))

// How the program ends, and what other programs it starts. These are called from signal handlers and between fork and
// exec, where dlsym may not be: libc's own functions are found beforehand.
#define NEXT(result, id, types) static Next<result(*) types> next_##id = {#id, nullptr};
NEXT(void, exit, (int))
NEXT(void, quick_exit, (int))
NEXT(void, abort, (void))
NEXT(void, __assert_fail, (const char*, const char*, unsigned, const char*))
NEXT(pid_t, fork, (void))
NEXT(int, execve, (const char*, char* const*, char* const*))
NEXT(int, execvpe, (const char*, char* const*, char* const*))
NEXT(int, fexecve, (int, char* const*, char* const*))
NEXT(int, posix_spawn,
     (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*, char* const*))
NEXT(int, posix_spawnp,
     (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*, char* const*))
NEXT(int, system, (const char*))
NEXT(FILE*, popen, (const char*, const char*))
namespace {
void find_process_functions() {
    next_exit.get(), next_quick_exit.get(), next_abort.get(), next___assert_fail.get(), next_fork.get();
    next_execve.get(), next_execvpe.get(), next_fexecve.get();
}

/// abort() by way of the C++ library is an exception that nobody caught.
const char* who_aborts(void* caller) {
    Dl_info info{};
    const bool known = dladdr(caller, &info) != 0 && info.dli_fname;
    return known && strstr(info.dli_fname, "libstdc++.so") ? "std::terminate" : "abort";
}

/// Calls `run`, which returns only if the program was not replaced.
template <class Run>
int replace(const char* function, const char* program, Run&& run) {
    if (hooks.process) hooks.process(ProcessEvent::replaces, program);
    if (hooks.ends) hooks.ends(function);
    const int result = run();
    if (hooks.process) hooks.process(ProcessEvent::not_replaced, program);
    return result;
}
}  // namespace

#define NO_RETURN __attribute__((noreturn))
#define ENDS(id, name, parameters, call)                                                          \
    extern "C" __attribute__((visibility("default"))) NO_RETURN void id parameters __asm__(name); \
    void id parameters {                                                                          \
        if (hooks.ends) hooks.ends(name);                                                         \
        call;                                                                                     \
        __builtin_unreachable();                                                                  \
    }
ENDS(ends_exit, "exit", (int status), next_exit.get()(status))
ENDS(ends_quick_exit, "quick_exit", (int status), next_quick_exit.get()(status))
ENDS(ends__exit, "_exit", (int status), for (;;) syscall(SYS_exit_group, status))
ENDS(ends__Exit, "_Exit", (int status), for (;;) syscall(SYS_exit_group, status))
ENDS(ends_assert, "__assert_fail", (const char* text, const char* file, unsigned line, const char* function),
     next___assert_fail.get()(text, file, line, function))
extern "C" __attribute__((visibility("default"))) NO_RETURN void ends_abort() __asm__("abort");
void ends_abort() {
    if (hooks.ends) hooks.ends(who_aborts(__builtin_return_address(0)));
    next_abort.get()();
    __builtin_unreachable();
}

HIDES(pid_t, forks, "fork", (void)) {
    const pid_t child = next_fork.get()();
    if (child > 0 && hooks.process) hooks.process(ProcessEvent::forked, nullptr);
    return child;
}
HIDES(int, spawns, "posix_spawn",
      (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
       char* const* argv, char* const* environment)) {
    const int failed = next_posix_spawn.get()(child, path, actions, attributes, argv, environment);
    if (!failed && hooks.process) hooks.process(ProcessEvent::started, path);
    return failed;
}
HIDES(int, spawns_by_name, "posix_spawnp",
      (pid_t * child, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
       char* const* argv, char* const* environment)) {
    const int failed = next_posix_spawnp.get()(child, file, actions, attributes, argv, environment);
    if (!failed && hooks.process) hooks.process(ProcessEvent::started, file);
    return failed;
}
HIDES(int, runs_command, "system", (const char* command)) {
    if (command && hooks.process) hooks.process(ProcessEvent::started, command);
    return next_system.get()(command);
}
HIDES(FILE*, opens_command, "popen", (const char* command, const char* mode)) {
    if (hooks.process) hooks.process(ProcessEvent::started, command);
    return next_popen.get()(command, mode);
}
HIDES(int, execs_e, "execve", (const char* path, char* const* argv, char* const* environment)) {
    return replace("execve", path, [&] { return next_execve.get()(path, argv, environment); });
}
HIDES(int, execs, "execv", (const char* path, char* const* argv)) {
    return replace("execv", path, [&] { return next_execve.get()(path, argv, environ); });
}
HIDES(int, execs_pe, "execvpe", (const char* file, char* const* argv, char* const* environment)) {
    return replace("execvpe", file, [&] { return next_execvpe.get()(file, argv, environment); });
}
HIDES(int, execs_p, "execvp", (const char* file, char* const* argv)) {
    return replace("execvp", file, [&] { return next_execvpe.get()(file, argv, environ); });
}
HIDES(int, execs_file, "fexecve", (int file, char* const* argv, char* const* environment)) {
    return replace("fexecve", "a file that it had opened", [&] { return next_fexecve.get()(file, argv, environment); });
}
// The arguments of execl and its kin as an array: `run` may use `argv`, and `environment` where one follows them.
#define EXEC_LIST(id, name, run)                                                                    \
    HIDES(int, id, name, (const char* path, const char* first, ...)) {                              \
        va_list list;                                                                               \
        va_start(list, first);                                                                      \
        size_t count = 1;                                                                           \
        for (const char* argument = first; argument; ++count) argument = va_arg(list, const char*); \
        va_end(list);                                                                               \
        char** argv = static_cast<char**>(alloca(count * sizeof(char*)));                           \
        va_start(list, first);                                                                      \
        argv[0] = const_cast<char*>(first);                                                         \
        for (size_t i = 1; i < count; ++i) argv[i] = va_arg(list, char*);                           \
        char* const* environment = strcmp(name, "execle") ? environ : va_arg(list, char* const*);   \
        va_end(list);                                                                               \
        return replace(name, path, [&] { return run(path, argv, environment); });                   \
    }
EXEC_LIST(execs_l, "execl", next_execve.get())
EXEC_LIST(execs_le, "execle", next_execve.get())
EXEC_LIST(execs_lp, "execlp", next_execvpe.get())

// ---- Probes of `trace cc`

// A program of Whittle's own API has a listener itself; where that lies in a library, ours stands before it.
static const whittle_probe_table* own_listener() {
    static const auto* const next = static_cast<const whittle_probe_table*>(dlsym(RTLD_NEXT, "whittle_probe_ops"));
    return next;
}
static whittle_probe_cursor* probe_enter(const whittle_probe_file* file, unsigned function) {
    static __thread whittle_probe_cursor cursor;
    if (const auto* own = own_listener()) return own->enter(file, function);
    if (!hooks.probe_enter) return nullptr;
    hooks.probe_enter(file->functions[function].name);
    return &cursor;
}
static void probe_value(const whittle_probe_value* value, int is_parameter) {
    if (value->kind == WHITTLE_PROBE_TORCH_TENSOR && hooks.probe_name)
        hooks.probe_name(value->tensor, value->name, value->element, is_parameter);
}
static void probe_parameter(const whittle_probe_file* file, unsigned function, const whittle_probe_value* value) {
    if (const auto* own = own_listener()) return own->parameter(file, function, value);
    probe_value(value, 1);
    if (hooks.probe_value) hooks.probe_value(value);
}
static void probe_result(const whittle_probe_file* file, unsigned function, const whittle_probe_value* value) {
    if (const auto* own = own_listener()) own->result(file, function, value);
}
static void probe_leave(const whittle_probe_file* file, unsigned function, int by_exception) {
    if (const auto* own = own_listener()) return own->leave(file, function, by_exception);
    if (hooks.probe_leave) hooks.probe_leave();
}
static void probe_variable(const whittle_probe_file* file, unsigned site, const whittle_probe_value* value) {
    if (const auto* own = own_listener()) return own->name(file, site, value);
    probe_value(value, 0);
}
static void probe_before_branch(const whittle_probe_file* file, unsigned site) {
    if (const auto* own = own_listener()) own->before_branch(file, site);
}
static void probe_branch(const whittle_probe_file* file, unsigned site, long long value) {
    if (const auto* own = own_listener()) return own->branch(file, site, value);
    if (hooks.probe_branch) hooks.probe_branch(file, site, value);
}
static void probe_effect(const whittle_probe_file* file, unsigned site) {
    if (const auto* own = own_listener()) own->effect(file, site);
}
extern "C" __attribute__((visibility("default")))
const whittle_probe_table whittle_probe_ops = {WHITTLE_PROBE_VERSION,
                                               sizeof(whittle_probe_table),
                                               probe_enter,
                                               probe_parameter,
                                               probe_result,
                                               probe_leave,
                                               nullptr,
                                               probe_variable,
                                               probe_before_branch,
                                               probe_branch,
                                               probe_effect};
