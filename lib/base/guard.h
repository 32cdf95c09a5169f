// The guard: a small process that stands between us and one that may do anything. It starts that process, holds it to
// its limits, ends it and all that it started (double-forked daemons too: it adopts orphans), and when we are killed
// it ends them just the same. subprocess.cpp is its only user; call run_process() or run_forked().
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>

#include "base/subprocess.h"

namespace whittle {

/// What the guard saw, in memory that it shares with us and with the guarded process. Plain data, written once each.
struct GuardReport {
    pid_t child = 0;
    bool ended = false;        ///< the members below are there; false after the guard: somebody killed it
    int status = 0;            ///< as waitpid() gives it
    double cpu_seconds = 0;    ///< of the child and of what it waited for
    bool timed_out = false;    ///< it ran into the wall clock's limit
    bool sent_kill = false;    ///< TERM did not suffice
    bool over_memory = false;  ///< it and all that it started held more than the limit
    bool over_cpu = false;     ///< they used more processor time than the limit
    /// Why the child could not become a program: the step ("chdir", "exec") and its errno.
    const char* failed_step = nullptr;
    int failed_code = 0;
};

/// The guarded process' standard streams; -1: as ours.
struct GuardStreams {
    int in = -1, out = -1, err = -1;
};

class Guard {
  public:
    /// Starts the guard and, through it, `work` (which never returns) under the limits of `options`. Throws Error when
    /// no process can be started.
    Guard(const ProcessOptions& options, const GuardStreams& streams, const std::function<void(GuardReport&)>& work);
    /// Ends everything.
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    pid_t pid() const { return pid_; }
    /// A descriptor that is readable when all is over.
    int over() const { return over_; }
    /// Asks for the end: TERM, then KILL.
    void stop();
    /// Waits for the end.
    const GuardReport& wait();

  private:
    pid_t pid_ = -1;
    int over_ = -1;
    GuardReport* report_ = nullptr;
    bool waited_ = false;
};

}  // namespace whittle
