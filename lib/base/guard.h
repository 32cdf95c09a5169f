// The guard: a small process that stands between us and one that may do anything. It starts that process, holds it to
// its limits, ends it and all that it started (double-forked daemons too: it adopts orphans), and when we are killed
// it ends them just the same. What it saw comes as messages of fixed size through a pipe that the guarded process does
// not have. subprocess.cpp is its only user; call run_process() or run_forked().
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>

#include "base/subprocess.h"

namespace whittle {

/// What the guard saw. A message: plain data, no pointers.
struct GuardReport {
    /// Why there is no guarded program.
    enum class Step : int { none, fork, chdir, exec };

    pid_t child = 0;
    bool ended = false;        ///< the members below are there; false after the guard: somebody killed it
    bool reaped = false;       ///< `status` is there
    int status = 0;            ///< as waitpid() gives it
    double cpu_seconds = 0;    ///< of the child and of what it waited for
    bool timed_out = false;    ///< it ran into the wall clock's limit
    bool told = false;         ///< we asked for its end
    bool sent_kill = false;    ///< by us, whatever for
    bool over_memory = false;  ///< it and all that it started held more than the limit
    bool over_cpu = false;     ///< they used more processor time than the limit
    bool given_up = false;     ///< it, or one that it started, did not die of KILL and was left behind
    Step failed_step = Step::none;
    int failed_code = 0;  ///< its errno
};

/// The guarded process' standard streams; -1: as ours.
struct GuardStreams {
    int in = -1, out = -1, err = -1;
};

/// What the guarded process does; it never returns. Through the pipe it may tell once why it cannot become a program;
/// whatever else it is to run must not have it.
using GuardedWork = std::function<void(int pipe)>;
void tell_failure(int pipe, GuardReport::Step step, int code);

class Guard {
  public:
    /// Starts the guard and, through it, `work` (which never returns) under the limits of `options`. Throws Error when
    /// no process can be started.
    Guard(const ProcessOptions& options, const GuardStreams& streams, const GuardedWork& work);
    /// Ends everything.
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    pid_t pid() const { return pid_; }
    /// A descriptor that is readable when there is news of it: ask over(). A guard that was killed may leave it silent.
    int news() const { return told_; }
    /// Whether all is over.
    bool over();
    /// Asks for the end: TERM, then KILL.
    void stop();
    /// Waits for the end.
    const GuardReport& wait();

  private:
    void read_news();

    pid_t pid_ = -1;
    int told_ = -1;  ///< the pipe's end where the guard's messages arrive
    GuardReport report_ = {};
    bool waited_ = false;
};

}  // namespace whittle
