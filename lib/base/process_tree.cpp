#include "base/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace whittle {
namespace {

/// The file's text, cut to `size`; false when it is gone.
bool read_text(const char* path, char* text, std::size_t size) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t count = ::read(file, text, size - 1);
    ::close(file);
    text[std::max<ssize_t>(count, 0)] = 0;
    return count > 0;
}

/// Calls `each` with every number of a list in /proc, however long that is.
template <class Each>
void for_each_number(const char* path, Each each) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    char text[4096];
    pid_t number = 0;
    for (ssize_t count; (count = ::read(file, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < count; ++i) {
            const bool digit = text[i] >= '0' && text[i] <= '9';
            if (!digit && number) each(number);
            number = digit ? 10 * number + (text[i] - '0') : 0;
        }
    if (number) each(number);
    ::close(file);
}

std::size_t kilobytes(const char* text, const char* label) {
    const char* line = std::strstr(text, label);
    return line ? std::strtoull(line + std::strlen(label), nullptr, 10) : 0;
}

}  // namespace

pid_t parent_of(pid_t pid) {
    char path[64], text[512];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (!read_text(path, text, sizeof text)) return -1;
    const char* after_name = std::strrchr(text, ')');  // the program's name may hold anything
    return after_name && std::strlen(after_name) > 4 ? static_cast<pid_t>(std::atoi(after_name + 4)) : -1;
}

ProcessTree::ProcessTree() {
    collect(::getpid());
    for (std::size_t i = 0; i < pids_.size(); ++i) collect(pids_[i]);
}

double ProcessTree::cpu_seconds() const {
    double ticks = 0;
    for (const pid_t pid : pids_) {
        char path[64], text[1024];
        std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
        if (!read_text(path, text, sizeof text)) continue;
        const char* after_name = std::strrchr(text, ')');
        unsigned long user = 0, system = 0;
        long waited_user = 0, waited_system = 0;
        if (after_name && std::sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
                                      &user, &system, &waited_user, &waited_system) == 4)
            ticks += static_cast<double>(user + system) + static_cast<double>(waited_user + waited_system);
    }
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::size_t ProcessTree::resident() const {
    std::size_t pages = 0;
    for (const pid_t pid : pids_) {
        char path[64], text[128];
        std::snprintf(path, sizeof path, "/proc/%d/statm", pid);
        unsigned long held = 0;
        if (read_text(path, text, sizeof text) && std::sscanf(text, "%*u %lu", &held) == 1) pages += held;
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t ProcessTree::held(std::size_t free) const {
    std::size_t own = 0, all = 0;
    for (const pid_t pid : pids_) {
        char path[64], text[2048];
        std::snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
        if (!read_text(path, text, sizeof text)) continue;
        for (const char* label : {"\nPrivate_Clean:", "\nPrivate_Dirty:"}) own += kilobytes(text, label) << 10;
        all += kilobytes(text, "\nPss:") << 10;
    }
    const std::size_t shared = all - std::min(all, own);
    return own + shared - std::min(shared, free);
}

/// The children of each thread.
void ProcessTree::collect(pid_t pid) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR* threads = ::opendir(path);
    if (!threads) return;
    while (const dirent* thread = ::readdir(threads)) {
        if (thread->d_name[0] == '.') continue;
        char children[96];
        std::snprintf(children, sizeof children, "/proc/%d/task/%.16s/children", pid, thread->d_name);
        for_each_number(children, [&](pid_t child) { pids_.push_back(child); });
    }
    ::closedir(threads);
}

}  // namespace whittle
