#include "base/guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/process_folder.h"
#include "base/process_tree.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kGrace{500};  // between TERM and KILL
constexpr milliseconds kDying{200};  // that a killed parent takes at most
constexpr milliseconds kLook{20};    // between looks at the memory in use

timespec timespec_of(milliseconds time) {
    return {static_cast<time_t>(time.count() / 1000), static_cast<long>(time.count() % 1000) * 1'000'000};
}

/// One message; smaller than a pipe's atomic write.
template <class T>
void write_message(int pipe, const T& message) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof message < 512);
    while (::write(pipe, &message, sizeof message) < 0 && errno == EINTR) {
    }
}

// ---- the guarded process -------------------------------------------------------------------------------------------

void limit_resource(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    limit.rlim_max = std::min(hard, limit.rlim_max);
    limit.rlim_cur = std::min(soft, limit.rlim_max);
    ::setrlimit(resource, &limit);
}

void enter(const ProcessOptions& options, const GuardStreams& streams, pid_t guard) {
    if (options.own_group) ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != guard) ::_exit(127);  // it died before the line above
    // Handlers are ours. Ignored signals would be inherited: a build under nohup wants that, a suspect must not have
    // it.
    for (int signal = 1; signal < 32; ++signal) {
        struct sigaction ours {};
        if (signal == SIGKILL || signal == SIGSTOP || ::sigaction(signal, nullptr, &ours) != 0) continue;
        if (options.own_group || ours.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (streams.in >= 0) ::dup2(streams.in, STDIN_FILENO);
    if (streams.out >= 0) ::dup2(streams.out, STDOUT_FILENO);
    if (streams.err >= 0) ::dup2(streams.err, STDERR_FILENO);
    limit_resource(RLIMIT_CORE, 0, 0);
    if (options.cpu_limit) {  // XCPU at the soft limit, KILL a second later for who ignores it
        const auto seconds = static_cast<rlim_t>(std::max<std::int64_t>(1, options.cpu_limit->count()));
        limit_resource(RLIMIT_CPU, seconds, seconds + 1);
    }
}

/// What the guarded process may tell before it becomes a program. The guard believes no other than a whole message.
struct Failed {
    int step = 0, code = 0;
};

// ---- the guard. Other threads of ours may have held locks when it was forked: only async-signal-safe calls and
// ---- what glibc makes safe after fork (malloc).

/// Kills every child of ours, the orphans that we adopted among them, each with its group.
void kill_children(const ProcessOptions& options) {
    DIR* all = ::opendir("/proc");
    if (!all) return;
    const pid_t own = ::getpid();
    while (const dirent* entry = ::readdir(all)) {
        const pid_t child = static_cast<pid_t>(std::atoi(entry->d_name));
        if (child <= 0 || parent_of(child) != own) continue;  // ours and not reaped: the number is nobody else's
        const pid_t group = ::getpgid(child);
        if (group > 1 && group != own) options.send_signal(-group, SIGKILL);
        options.send_signal(child, SIGKILL);
    }
    ::closedir(all);
}

/// Until there is no process left below us; false: one does not die. A process that forks faster than it is killed
/// loses its group at once.
bool end_descendants(const ProcessOptions& options) {
    const Clock::time_point give_up = Clock::now() + options.unkillable;
    for (;;) {
        const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
        if (reaped > 0) continue;
        if (reaped < 0 && errno == EINTR) continue;
        if (reaped < 0) return true;  // ECHILD
        if (Clock::now() > give_up) return false;
        kill_children(options);
        const timespec moment{0, 200'000};
        ::nanosleep(&moment, nullptr);
    }
}

/// Waits for the child to end by itself, by a limit or because we are told to stop, and ends it. Signals wake it, which
/// are blocked: nothing but them and /proc is asked of the kernel.
class Watch {
  public:
    Watch(const ProcessOptions& options, GuardReport& report, Clock::time_point start)
        : options_(options), report_(report), target_(options.own_group ? -report.child : report.child) {
        if (options.timeout) deadline_ = start + *options.timeout;
        sigemptyset(&waking_);
        sigaddset(&waking_, SIGTERM);
        sigaddset(&waking_, SIGCHLD);
    }

    /// Until it has ended or is given up.
    void until_end() {
        while (!has_ended() && !report_.given_up) {
            if (wait_for_signal() == SIGTERM) {
                report_.told = true;
                if (!asked_) end();
            }
            if (deadline_ && Clock::now() >= *deadline_) {
                if (!asked_) report_.timed_out = true;
                end();
            }
            if (limits_tree() && !report_.sent_kill) look_at_tree();
        }
        if (options_.own_group) send(SIGKILL);  // it is a zombie: the group cannot be anybody else's yet
    }

  private:
    bool has_ended() const {
        siginfo_t told{};
        const int result = ::waitid(P_PID, static_cast<id_t>(report_.child), &told, WEXITED | WNOHANG | WNOWAIT);
        return (result == 0 && told.si_pid != 0) || (result < 0 && errno == ECHILD);
    }

    /// The signal that ended the waiting, or -1.
    int wait_for_signal() const {
        const std::optional<milliseconds> left = time_left();
        if (!left) return ::sigwaitinfo(&waking_, nullptr);
        const timespec time = timespec_of(*left);
        return ::sigtimedwait(&waking_, nullptr, &time);
    }

    bool limits_tree() const { return options_.memory_limit || options_.cpu_limit; }

    void look_at_tree() {
        const ProcessTree tree;
        const std::optional<std::size_t> most = options_.memory_limit;
        if (most && tree.resident() > *most && tree.held(options_.shared_memory) > *most) report_.over_memory = true;
        if (options_.cpu_limit && tree.cpu_seconds() > static_cast<double>(options_.cpu_limit->count()) + 1)
            report_.over_cpu = true;  // a second after RLIMIT_CPU, which lets a single process say more
        if (report_.over_memory || report_.over_cpu) kill();
    }

    /// Nothing: for ever.
    std::optional<milliseconds> time_left() const {
        std::optional<milliseconds> left;
        if (deadline_)
            left = std::clamp(std::chrono::ceil<milliseconds>(*deadline_ - Clock::now()), milliseconds(0),
                              milliseconds(3'600'000));
        if (limits_tree()) left = std::min(left.value_or(kLook), kLook);
        return left;
    }

    void send(int signal) const { options_.send_signal(target_, signal); }

    /// TERM; when that time is over KILL; and when that is of no use either, it hangs in the kernel.
    void end() {
        if (report_.sent_kill) {
            report_.given_up = true;
        } else if (asked_) {
            kill();
        } else {
            send(SIGTERM);
            asked_ = true;
            deadline_ = Clock::now() + kGrace;
        }
    }

    void kill() {
        send(SIGKILL);
        // Who holds it in a debugger goes too: its end would not be told us until then.
        if (options_.own_group) kill_children(options_);
        asked_ = report_.sent_kill = true;
        deadline_ = Clock::now() + options_.unkillable;
    }

    const ProcessOptions& options_;
    GuardReport& report_;
    pid_t target_;  ///< what is signalled, the child or minus its group
    sigset_t waking_;
    std::optional<Clock::time_point> deadline_;
    bool asked_ = false;  ///< to end
};

/// True when our parent is gone or just going: its threads die one by one, and the first of them tells us.
bool is_orphan(pid_t parent, bool told) {
    const Clock::time_point late = Clock::now() + kDying;
    while (told && ::getppid() == parent && Clock::now() < late) {
        const timespec moment = timespec_of(milliseconds(2));
        ::nanosleep(&moment, nullptr);
    }
    return ::getppid() != parent;
}

/// What the guarded process told of its start, if it did.
void read_failure(int pipe, GuardReport& report) {
    Failed failed;
    ::fcntl(pipe, F_SETFL, O_NONBLOCK);
    if (::read(pipe, &failed, sizeof failed) != static_cast<ssize_t>(sizeof failed)) return;
    for (const GuardReport::Step step : {GuardReport::Step::chdir, GuardReport::Step::exec})
        if (failed.step == static_cast<int>(step)) report.failed_step = step;
    report.failed_code = failed.code;
}

/// The child's end: how, and at what expense.
void reap(GuardReport& report) {
    rusage used{};
    int status = 0;
    pid_t reaped = 0;
    while ((reaped = ::wait4(report.child, &status, WNOHANG, &used)) < 0 && errno == EINTR) {
    }
    if (reaped != report.child) return;
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    report.reaped = true;
    report.status = status;
    report.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Closes all but `first` and `second`, which become 0 and 1: pipes of ours would seem open while we live; those of
/// other queries, too.
void keep_only(int& first, int& second) {
    const int a = ::fcntl(first, F_DUPFD, 3), b = ::fcntl(second, F_DUPFD, 3);
    first = ::dup2(a, 0);
    second = ::dup2(b, 1);
    ::syscall(SYS_close_range, 2U, ~0U, 0U);
}

/// `told`: the pipe to us, its reading end and its writing end.
[[noreturn]] void be_guard(const ProcessOptions& options, const GuardStreams& streams, const GuardedWork& work,
                           const int (&told)[2], pid_t parent, const std::vector<std::filesystem::path>& folders) {
    const Clock::time_point start = Clock::now();
    if (options.own_group) {
        ::setsid();
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // all signals are blocked; Watch waits for this one
    ::signal(SIGCHLD, SIG_DFL);          // where it is ignored no child is waited for
    if (::getppid() != parent) ::_exit(1);
    GuardReport report;
    int to_us = told[1], started[2];
    const bool piped = ::pipe2(started, O_CLOEXEC) == 0;
    const pid_t own = ::getpid(), child = piped ? ::fork() : -1;
    if (child == 0) {
        for (const int pipe : {told[0], told[1], started[0]}) ::close(pipe);
        enter(options, streams, own);
        work(started[1]);
        ::_exit(127);
    }
    if (child < 0) {
        report.failed_step = GuardReport::Step::fork;
        report.failed_code = errno;
        report.ended = true;
        write_message(to_us, report);
        ::_exit(0);
    }
    report.child = child;
    write_message(to_us, report);
    if (options.own_group) ::setpgid(child, child);  // whoever comes first
    int failure = started[0];
    keep_only(to_us, failure);
    Watch(options, report, start).until_end();
    reap(report);
    if (options.own_group && report.given_up)
        kill_children(options);  // it has had its time
    else if (options.own_group && !end_descendants(options))
        report.given_up = true;
    read_failure(failure, report);
    report.ended = true;
    write_message(to_us, report);
    if (!folders.empty() && is_orphan(parent, report.told)) {
        std::error_code ignored;
        for (const std::filesystem::path& folder : folders) std::filesystem::remove_all(folder, ignored);
    }
    ::_exit(0);
}

}  // namespace

// ---- our side ------------------------------------------------------------------------------------------------------

void tell_failure(int pipe, GuardReport::Step step, int code) {
    write_message(pipe, Failed{static_cast<int>(step), code});
}

Guard::Guard(const ProcessOptions& options, const GuardStreams& streams, const GuardedWork& work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("make the guard's pipe");
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);  // no handler of ours may run in the guard
    const pid_t parent = ::getpid();
    std::vector<std::filesystem::path> folders = ProcessFolder::all();  // to remove when we are killed
    if (!options.remove_if_killed.empty()) folders.push_back(options.remove_if_killed);
    pid_ = ::fork();
    if (pid_ == 0) be_guard(options, streams, work, ends, parent, folders);
    const int code = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(ends[1]);
    told_ = ends[0];
    ::fcntl(told_, F_SETFL, O_NONBLOCK);
    if (pid_ > 0) return;
    ::close(told_);
    errno = code;
    throw_errno("start a process");
}

Guard::~Guard() {
    if (!waited_) {
        stop();
        wait();
    }
    ::close(told_);
}

void Guard::stop() { ::kill(pid_, SIGTERM); }

void Guard::read_news() {
    for (GuardReport message;;) {
        const ssize_t count = ::read(told_, &message, sizeof message);
        if (count < 0 && errno == EINTR) continue;
        if (count != static_cast<ssize_t>(sizeof message)) return;
        report_ = message;
    }
}

bool Guard::over() {
    if (waited_) return true;
    siginfo_t told{};
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &told, WEXITED | WNOHANG | WNOWAIT);
    read_news();  // after the question: what it said last is there when it has ended
    return report_.ended || (result == 0 && told.si_pid != 0) || (result < 0 && errno == ECHILD);
}

const GuardReport& Guard::wait() {
    if (!waited_) {
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        waited_ = true;
        read_news();
        // Somebody killed the guard: its child died with it, and the child's group has no other keeper.
        if (!report_.ended && report_.child > 0) ::kill(-report_.child, SIGKILL);
    }
    return report_;
}

}  // namespace whittle
