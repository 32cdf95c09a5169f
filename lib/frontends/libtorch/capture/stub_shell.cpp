// system() and popen(): libc's own start a shell with the program's environment, in a way that nobody stands before.
#include <alloca.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/libtorch/capture/stub.h"

using namespace whittle::libtorch;

namespace {

/// As POSIX has it for system(): the caller ignores SIGINT and SIGQUIT meanwhile, and SIGCHLD waits. Several threads
/// may be in it: the first sets the actions, the last sets them back.
class ShellSignals {
  public:
    ShellSignals() {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigemptyset(&ignore.sa_mask);
        lock();
        if (users++ == 0) {
            sigaction(SIGINT, &ignore, &interrupt);
            sigaction(SIGQUIT, &ignore, &quit);
        }
        unlock();
        sigset_t children;
        sigemptyset(&children);
        sigaddset(&children, SIGCHLD);
        sigprocmask(SIG_BLOCK, &children, &mask_);
    }
    ~ShellSignals() {
        lock();
        if (--users == 0) {
            sigaction(SIGINT, &interrupt, nullptr);
            sigaction(SIGQUIT, &quit, nullptr);
        }
        unlock();
        sigprocmask(SIG_SETMASK, &mask_, nullptr);
    }
    ShellSignals(const ShellSignals&) = delete;
    ShellSignals& operator=(const ShellSignals&) = delete;

    /// The shell has what the caller had.
    void give_back(posix_spawnattr_t* attributes) const {
        sigset_t restored;
        sigemptyset(&restored);
        if (interrupt.sa_handler != SIG_IGN) sigaddset(&restored, SIGINT);
        if (quit.sa_handler != SIG_IGN) sigaddset(&restored, SIGQUIT);
        posix_spawnattr_setsigmask(attributes, &mask_);
        posix_spawnattr_setsigdefault(attributes, &restored);
        posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }

  private:
    static void lock() {
        while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) {
        }
    }
    static void unlock() { __atomic_clear(&locked, __ATOMIC_RELEASE); }

    static bool locked;
    static int users;
    static struct sigaction interrupt, quit;
    sigset_t mask_;
};
bool ShellSignals::locked = false;
int ShellSignals::users = 0;
struct sigaction ShellSignals::interrupt, ShellSignals::quit;

Next<int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
             char* const*)>
    next_shell_spawn = {"posix_spawn", nullptr};

int run_shell(const char* command, char* const* environment) {
    const ShellSignals signals;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    signals.give_back(&attributes);
    char shell[] = "sh", option[] = "-c";
    char* const argv[] = {shell, option, const_cast<char*>(command), nullptr};
    pid_t child = -1;
    const int failed = next_shell_spawn.get()(&child, "/bin/sh", nullptr, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    int status = 127 << 8;  // as if the shell could not run the command
    if (failed) return errno = failed, status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

/// Takes entries of ours out of an environment that somebody copied meanwhile.
void take_back(char* const* saved, const ExecEntries& entries) {
    const auto is_ours = [&](const char* entry) {
        return entry == entries.preload || entry == entries.users || is_setting(entry);
    };
    char* users_own = nullptr;
    for (; *saved; ++saved)
        if (!strncmp(*saved, "LD_PRELOAD=", 11)) users_own = *saved;
    char** to = environ;
    for (char** from = environ; *from; ++from)
        if (*from == entries.preload && users_own)
            *to++ = users_own;
        else if (!is_ours(*from))
            *to++ = *from;
    *to = nullptr;
}

}  // namespace

HIDES(int, runs_command, "system", (const char* command)) {
    NEXT_OF("system", int (*)(const char*));
    if (command && hooks.process) hooks.process(ProcessEvent::started, command);
    if (!command || !hands_on()) return next(command);
    auto** const space = static_cast<char**>(alloca(environment_size(environ) * sizeof(char*)));
    ExecEntries entries;
    return run_shell(command, environment_for_exec(nullptr, environ, space, entries));
}

namespace {

/// An environment that others may have pointers into for good: getenv() on another thread gives them out. Kept, but
/// once where it is like one before.
struct KeptEnvironment {
    KeptEnvironment* before;
    ExecEntries entries;
    char** space() { return reinterpret_cast<char**>(this + 1); }  ///< lies behind it
};
KeptEnvironment* kept_environments = nullptr;

/// Null where there is no memory.
KeptEnvironment* keep_environment(char* const* given) {
    const size_t size = sizeof(KeptEnvironment) + environment_size(given) * sizeof(char*);
    auto* const made = static_cast<KeptEnvironment*>(calloc(1, size));
    if (!made) return nullptr;
    environment_for_exec(nullptr, given, made->space(), made->entries);
    const auto same = [&](KeptEnvironment* known) {
        for (size_t i = 0;; ++i) {
            const char *one = made->space()[i], *other = known->space()[i];
            if (!one || !other) return one == other;
            const bool own = one == made->entries.preload || one == made->entries.users;
            if (own ? strcmp(one, other) != 0 : one != other) return false;
        }
    };
    for (KeptEnvironment* known = __atomic_load_n(&kept_environments, __ATOMIC_ACQUIRE); known; known = known->before)
        if (same(known)) {
            free(made);
            return known;
        }
    made->before = __atomic_load_n(&kept_environments, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&kept_environments, &made->before, made, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
    }
    return made;
}

}  // namespace

/// popen() has to know of its child, so it is libc's own that starts it, with the environment that it finds.
HIDES(FILE*, opens_command, "popen", (const char* command, const char* mode)) {
    NEXT_OF("popen", FILE * (*)(const char*, const char*));
    if (hooks.process) hooks.process(ProcessEvent::started, command);
    char** const saved = environ;
    KeptEnvironment* const kept = hands_on() ? keep_environment(saved) : nullptr;
    if (!kept) return next(command, mode);
    environ = kept->space();
    FILE* const file = next(command, mode);
    const int saved_errno = errno;
    if (environ == kept->space())
        environ = saved;
    else
        take_back(saved, kept->entries);
    errno = saved_errno;
    return file;
}
