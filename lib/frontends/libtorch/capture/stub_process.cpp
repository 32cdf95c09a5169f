// How the program ends, and what other programs it starts. These functions are called from signal handlers and between
// fork and exec, where dlsym may not be: libc's own functions are found beforehand.
#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontends/libtorch/capture/stub.h"

using namespace whittle::libtorch;

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
void whittle::libtorch::find_process_functions() {
    next_exit.get(), next_quick_exit.get(), next_abort.get(), next___assert_fail.get(), next_fork.get();
    next_execve.get(), next_execvpe.get(), next_fexecve.get();
}

namespace {
/// abort() by way of the C++ library is an exception that nobody caught.
const char* who_aborts(void* caller) {
    Dl_info info{};
    const bool known = dladdr(caller, &info) != 0 && info.dli_fname;
    return known && strstr(info.dli_fname, "libstdc++.so") ? "std::terminate" : "abort";
}

/// Calls `run`, which returns only if the program was not replaced, with the environment for what takes its place.
template <class Run>
int replace(const char* function, const char* program, char* const* environment, Run&& run) {
    if (hooks.process) hooks.process(ProcessEvent::replaces, program);
    if (hooks.ends) hooks.ends(function);
    auto** const space = static_cast<char**>(alloca(environment_size(environment) * sizeof(char*)));
    ExecEntries entries;
    const int result = run(environment_for_exec(program, environment, space, entries));
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
    auto** const space = static_cast<char**>(alloca(environment_size(environment) * sizeof(char*)));
    ExecEntries entries;
    const int failed = next_posix_spawn.get()(child, path, actions, attributes, argv,
                                              environment_for_exec(path, environment, space, entries));
    if (!failed && hooks.process) hooks.process(ProcessEvent::started, path);
    return failed;
}
HIDES(int, spawns_by_name, "posix_spawnp",
      (pid_t * child, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
       char* const* argv, char* const* environment)) {
    auto** const space = static_cast<char**>(alloca(environment_size(environment) * sizeof(char*)));
    ExecEntries entries;
    const int failed = next_posix_spawnp.get()(child, file, actions, attributes, argv,
                                               environment_for_exec(file, environment, space, entries));
    if (!failed && hooks.process) hooks.process(ProcessEvent::started, file);
    return failed;
}
HIDES(int, execs_e, "execve", (const char* path, char* const* argv, char* const* environment)) {
    return replace("execve", path, environment,
                   [&](char* const* given) { return next_execve.get()(path, argv, given); });
}
HIDES(int, execs, "execv", (const char* path, char* const* argv)) {
    return replace("execv", path, environ, [&](char* const* given) { return next_execve.get()(path, argv, given); });
}
HIDES(int, execs_pe, "execvpe", (const char* file, char* const* argv, char* const* environment)) {
    return replace("execvpe", file, environment,
                   [&](char* const* given) { return next_execvpe.get()(file, argv, given); });
}
HIDES(int, execs_p, "execvp", (const char* file, char* const* argv)) {
    return replace("execvp", file, environ, [&](char* const* given) { return next_execvpe.get()(file, argv, given); });
}
HIDES(int, execs_file, "fexecve", (int file, char* const* argv, char* const* environment)) {
    return replace("fexecve", "a file that it had opened", environment,
                   [&](char* const* given) { return next_fexecve.get()(file, argv, given); });
}
// The arguments of execl and its kin as an array: `run` may use `argv`, and `environment` where one follows them.
#define EXEC_LIST(id, name, run)                                                                             \
    HIDES(int, id, name, (const char* path, const char* first, ...)) {                                       \
        va_list list;                                                                                        \
        va_start(list, first);                                                                               \
        size_t count = 1;                                                                                    \
        for (const char* argument = first; argument; ++count) argument = va_arg(list, const char*);          \
        va_end(list);                                                                                        \
        char** argv = static_cast<char**>(alloca(count * sizeof(char*)));                                    \
        va_start(list, first);                                                                               \
        argv[0] = const_cast<char*>(first);                                                                  \
        for (size_t i = 1; i < count; ++i) argv[i] = va_arg(list, char*);                                    \
        char* const* environment = strcmp(name, "execle") ? environ : va_arg(list, char* const*);            \
        va_end(list);                                                                                        \
        return replace(name, path, environment, [&](char* const* given) { return run(path, argv, given); }); \
    }
EXEC_LIST(execs_l, "execl", next_execve.get())
EXEC_LIST(execs_le, "execle", next_execve.get())
EXEC_LIST(execs_lp, "execlp", next_execvpe.get())
