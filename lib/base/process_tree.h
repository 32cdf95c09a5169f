// What /proc tells of the processes below this one. Asked by a guard (guard.h): only async-signal-safe calls and what
// glibc makes safe after fork (malloc).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace whittle {

/// The parent of a process, as /proc/PID/stat has it; -1 when it is gone.
pid_t parent_of(pid_t pid);

/// What the processes below us hold and have used. What ended and was waited for counts with who waited for it; orphans
/// stay zombies until the end, so that they count, too.
class ProcessTree {
  public:
    ProcessTree();
    double cpu_seconds() const;
    /// Cheap, and too much where processes share memory.
    std::size_t resident() const;
    /// Exact: what each has for itself, and of what it shares with n others 1/n (proc(5), smaps_rollup). What is shared
    /// with us is among the latter, so that up to `free` bytes of these do not count.
    std::size_t held(std::size_t free) const;

  private:
    void collect(pid_t pid);

    std::vector<pid_t> pids_;
};

}  // namespace whittle
