// libwhittle_capture.so, preloaded into the program that is captured. It links neither LibTorch nor libstdc++, so that
// a program without LibTorch hardly notices it: it takes its own traces out of the environment, and stands before a few
// functions of LibTorch, libstdc++ and libc. Once the program has LibTorch, at its start or by a later dlopen(), it
// loads the capture library, which fills in `hooks`; until then each function here just calls the one it hides.
#include "frontends/libtorch/capture/stub.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontends/libtorch/capture/event_files.h"
#include "frontends/libtorch/capture/stub_settings.h"

namespace whittle::libtorch {

Hooks hooks;

namespace {

/// What whoever started us says, as entries of an environment: kept for the programs that we start in our turn.
char settings[16][PATH_MAX + 64];
size_t setting_count;
char own_preload[PATH_MAX];  ///< we and the libraries that are preloaded with us, as LD_PRELOAD has them

bool is_variable(const char* entry, const char* name) {
    const size_t length = strlen(name);
    return !strncmp(entry, name, length) && entry[length] == '=';
}

/// Null where it was not given.
const char* value_of(const char* name) {
    for (size_t i = 0; i < setting_count; ++i)
        if (is_variable(settings[i], name)) return settings[i] + strlen(name) + 1;
    return nullptr;
}

enum State : int {
    kOff,        ///< nobody asked for a capture
    kWaiting,    ///< for LibTorch
    kActivated,  ///< it was seen: it is captured, or why not is told
};
int state = kOff;
char not_found[16384];         ///< see find_missing_hooks()
unsigned long long looked_at;  ///< libraries loaded so far when it was looked for LibTorch
__thread int loading __attribute__((tls_model("initial-exec")));  ///< calls of dlopen() that are running

/// What became of the capture, for the program that started us: one line about it, then those of `not_found`. Of
/// several processes one that is captured is told; those that have a LibTorch and are not are counted then.
void tell(const char* text, const char* more = "", bool torch = false) {
    constexpr char kActive[] = "active";
    char status[PATH_MAX + 16], told[sizeof kActive] = {};
    if (snprintf(status, sizeof status, "%s.status", value_of(kFileVariable)) >= PATH_MAX) return;
    const int file = open(status, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    const bool taken = read(file, told, sizeof kActive - 1) == sizeof kActive - 1 && !strcmp(told, kActive);
    if (!taken && ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0) {
        const char* const parts[] = {text, more, not_found};
        for (const char* part : parts)
            if (write(file, part, strlen(part)) < 0) break;
    }
    close(file);
    if (taken && torch) count_other_process(value_of(kFileVariable), kOtherTorch);
}

/// The path of the libtorch_cpu that is mapped, or an empty text.
struct Mapped {
    char path[PATH_MAX];
    unsigned long long adds;
};
int find_torch(dl_phdr_info* info, size_t, void* data) {
    auto& mapped = *static_cast<Mapped*>(data);
    if (info->dlpi_adds == looked_at) return 1;
    mapped.adds = info->dlpi_adds;
    const char* const file = info->dlpi_name ? strrchr(info->dlpi_name, '/') : nullptr;
    if (!file || strncmp(file, "/libtorch_cpu.so", 16) != 0) return 0;
    strncpy(mapped.path, info->dlpi_name, sizeof mapped.path - 1);
    return 1;
}

/// Takes variables out of the environment in place, so that the order of the others stays.
template <class Is>
void remove_variables(Is is) {
    if (!environ) return;
    char** to = environ;
    for (char** from = environ; *from; ++from)
        if (!is(*from)) *to++ = *from;
    *to = nullptr;
}
void remove_variable(const char* name) {
    remove_variables([&](const char* entry) { return is_variable(entry, name); });
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

/// Of LD_PRELOAD what is before the user's part.
void find_own_preload(const char* users) {
    const char* const preload = getenv("LD_PRELOAD");
    if (!preload) return;
    size_t length = strlen(preload);
    const size_t theirs = users ? strlen(users) + 1 : 0;  // with the colon before it
    if (theirs < length) length -= theirs;
    if (length < sizeof own_preload) memcpy(own_preload, preload, length);
}

/// Takes all that is ours out of the environment, once: another preloaded library may ask for a setting before our
/// constructor has run.
void take_settings() {
    static bool taken = false;
    if (taken) return;
    taken = true;
    remove_variables([](const char* entry) {
        const bool ours = is_variable(entry, kFileVariable) || is_variable(entry, kLimitsVariable) ||
                          !strncmp(entry, kOthersPrefix, sizeof kOthersPrefix - 1);
        const bool fits = strlen(entry) < sizeof *settings && setting_count < sizeof settings / sizeof *settings;
        if (ours && fits) strcpy(settings[setting_count++], entry);
        return ours;
    });
    if (setting_count == 0) return;
    const char* const users = getenv(kPreloadVariable);
    find_own_preload(users);
    restore_preload(users);
    remove_variable(kPreloadVariable);
}

/// What the programs know of, see choice.h; null where there is none. The caller frees it.
char* read_libraries(const char* base) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s%s", base, kListSuffix);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    char* text = nullptr;
    if (file >= 0 && fstat(file, &status) == 0 &&
        (text = static_cast<char*>(calloc(static_cast<size_t>(status.st_size) + 1, 1))))
        for (ssize_t used = 0, got; (got = read(file, text + used, static_cast<size_t>(status.st_size - used))) > 0;)
            used += got;
    if (file >= 0) close(file);
    return text;
}

/// The path of the capture library for this LibTorch; false where there is none, which is told. A second LibTorch, or
/// one of another version in one process with code for this one, would end badly.
bool find_library(const char* torch, const TorchFacts& facts, char* path, size_t size) {
    char* const libraries = read_libraries(value_of(kFileVariable));
    const Choice choice = libraries ? choose(libraries, facts) : Choice{nullptr, 0};
    const bool found = choice.path && choice.size < size;
    if (found) {
        memcpy(path, choice.path, choice.size);
        path[choice.size] = 0;
    }
    free(libraries);  // or the program's LeakSanitizer would tell it
    if (found) return true;
    static char line[PATH_MAX + 512];
    snprintf(line, sizeof line, "no-library %s %s %s %s ", facts.build_id, facts.version, facts.abi, facts.soname);
    tell(line, torch, true);
    return false;
}

void activate(const char* torch) {
    TorchFacts facts;
    find_facts(torch, facts);
    static char library[PATH_MAX];
    if (!find_library(torch, facts, library, sizeof library)) return;
    unsigned long long bytes = 0, milliseconds = 0;  // whole numbers read alike in every locale of the program
    unsigned long long only = 0;
    int flags = 0;
    const char* const limits = value_of(kLimitsVariable);
    if (!limits || sscanf(limits, "%llu %llu %d %llu", &bytes, &milliseconds, &flags, &only) != 4) return;
    const char* const base = value_of(kFileVariable);
    static char file[PATH_MAX + 16];
    if (!take_event_file(base, file, sizeof file)) return count_other_process(base, kTooMany);
    find_missing_hooks(facts, not_found, sizeof not_found);
    void* const capture = plain_dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!capture) return tell("not-loaded ", dlerror(), true);
    const auto start = reinterpret_cast<StartFunction>(dlsym(capture, "whittle_capture_start"));
    if (!start || start(&hooks, base, file, bytes, static_cast<double>(milliseconds) / 1e3, flags, only) != 0)
        return tell("not-loaded ", "the capture library could not start", true);
    char line[128];
    snprintf(line, sizeof line, "active %s ", facts.version);
    tell(line, torch);
}

__attribute__((constructor)) void enter() {
    take_settings();
    if (setting_count == 0) return;
    const int saved_errno = errno;
    find_at_start();
    find_process_functions();
    if (value_of(kFileVariable)) {
        tell("no-torch");
        state = kWaiting;
        activate_if_torch();
    }
    errno = saved_errno;
}

/// LibTorch that came by no dlopen() that we stand before: dlmopen(), a library that is linked statically.
__attribute__((destructor)) void leave() {
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != kWaiting) return;
    Mapped found{};
    dl_iterate_phdr(find_torch, &found);
    if (found.path[0]) tell("late-torch ", found.path);
}

/// The caller's own view of the libraries: glibc takes a link_map for a handle.
link_map* map_of(const void* address) {
    Dl_info info{};
    link_map* map = nullptr;
    return dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) ? map : nullptr;
}

/// dlopen() looks for a name without a slash in the RUNPATH of its caller, and for $ORIGIN at its caller's place. The
/// caller would be this file.
void* open_for(const void* caller, const char* file, int mode) {
    link_map* const map = file && (!strchr(file, '/') || file[0] == '$') ? map_of(caller) : nullptr;
    if (!map) return plain_dlopen(file, mode);
    char path[PATH_MAX];
    const char* const origins[] = {"$ORIGIN/", "${ORIGIN}/"};
    for (const char* origin : origins)
        if (!strncmp(file, origin, strlen(origin)) && dlinfo(map, RTLD_DI_ORIGIN, path) == 0) {
            const size_t length = strlen(path), left = sizeof path - length;
            const int added = snprintf(path + length, left, "/%s", file + strlen(origin));
            return plain_dlopen(added > 0 && static_cast<size_t>(added) < left ? path : file, mode);
        }
    if (void* loaded = plain_dlopen(file, mode | RTLD_NOLOAD)) return loaded;
    Dl_serinfo size;
    if (dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0) return plain_dlopen(file, mode);
    auto* const paths = static_cast<Dl_serinfo*>(malloc(size.dls_size));
    if (!paths) return plain_dlopen(file, mode);
    void* handle = nullptr;
    if (dlinfo(map, RTLD_DI_SERINFOSIZE, paths) == 0 && dlinfo(map, RTLD_DI_SERINFO, paths) == 0)
        for (unsigned i = 0; i < paths->dls_cnt && !handle; ++i) {
            const int length = snprintf(path, sizeof path, "%s/%s", paths->dls_serpath[i].dls_name, file);
            if (length < static_cast<int>(sizeof path) && access(path, R_OK) == 0) handle = plain_dlopen(path, mode);
        }
    free(paths);
    return handle ? handle : plain_dlopen(file, mode);
}

/// The loader of a program for another machine would complain of us. Others than ELF files are scripts.
bool takes_preload(const char* program) {
    if (!program || !strchr(program, '/')) return true;
    const int saved_errno = errno;
    Elf64_Ehdr header;
    const int file = open(program, O_RDONLY | O_CLOEXEC);
    const bool read_all = file >= 0 && read(file, &header, sizeof header) == sizeof header;
    if (file >= 0) close(file);
    errno = saved_errno;
    if (!read_all || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return true;
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
}

}  // namespace

bool hands_on() { return own_preload[0]; }

bool is_setting(const char* entry) {
    for (size_t i = 0; i < setting_count; ++i)
        if (entry == settings[i]) return true;
    return false;
}

void* plain_dlopen(const char* file, int mode) {
    static auto* const next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
    return next(file, mode);
}

void activate_if_torch() {
    Mapped found;
    found.path[0] = 0;
    found.adds = 0;
    dl_iterate_phdr(find_torch, &found);
    if (found.adds) looked_at = found.adds;
    if (!found.path[0]) return;
    int waiting = kWaiting;
    if (!__atomic_compare_exchange_n(&state, &waiting, static_cast<int>(kActivated), false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return;
    activate(found.path);
    dlerror();  // what failed on the way was ours
}

size_t environment_size(char* const* given) {
    size_t count = 0;
    while (given && given[count]) ++count;
    return hands_on() ? count + setting_count + 3 : 1;
}

char* const* environment_for_exec(const char* program, char* const* given, char** space, ExecEntries& entries) {
    if (!hands_on() || !takes_preload(program)) return given;
    size_t count = 0;
    const char* users_own = nullptr;
    for (; given && *given; ++given)
        if (is_variable(*given, "LD_PRELOAD"))
            users_own = *given + strlen("LD_PRELOAD=");
        else
            space[count++] = *given;
    for (size_t i = 0; i < setting_count; ++i) space[count++] = settings[i];
    snprintf(entries.preload, sizeof entries.preload, "LD_PRELOAD=%s%s%s", own_preload, users_own ? ":" : "",
             users_own ? users_own : "");
    space[count++] = entries.preload;
    if (users_own) {
        snprintf(entries.users, sizeof entries.users, "%s=%s", kPreloadVariable, users_own);
        space[count++] = entries.users;
    }
    space[count] = nullptr;
    return space;
}

}  // namespace whittle::libtorch

using namespace whittle::libtorch;

/// See setting().
extern "C" __attribute__((visibility("default"))) const char* whittle_capture_setting(const char* name) {
    take_settings();
    return value_of(name);
}

/// Looks for LibTorch behind the outermost call, when all that it loads is initialized.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
    const void* const caller = __builtin_return_address(0);
    ++loading;
    void* const handle = open_for(caller, file, mode);
    const int saved_errno = errno;
    if (--loading == 0 && handle && __atomic_load_n(&state, __ATOMIC_ACQUIRE) == kWaiting) activate_if_torch();
    errno = saved_errno;
    return handle;
}
