#include "base/guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kGrace{500};         // between TERM and KILL
constexpr milliseconds kDying{200};         // that a killed parent takes at most
constexpr milliseconds kLook{20};           // between looks at the memory in use
constexpr milliseconds kUnkillable{10000};  // a process that survives KILL so long hangs in the kernel

[[noreturn]] void fail(const char* doing) { throw Error(std::string("cannot ") + doing + ": " + std::strerror(errno)); }

/// A file descriptor of process `pid` that is readable when it has ended. glibc 2.36 declares pidfd_open() for C only.
int open_process(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

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
    if (options.memory_limit) limit_resource(RLIMIT_AS, *options.memory_limit, *options.memory_limit);
}

// ---- the guard. Other threads of ours may have held locks when it was forked: only async-signal-safe calls and, at
// ---- the very end, what glibc makes safe after fork (malloc).

/// The parent of a process, as /proc/PID/stat has it; -1 when it is gone.
pid_t parent_of(pid_t pid) {
    char path[64], text[512];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    const ssize_t count = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[std::max<ssize_t>(count, 0)] = 0;
    const char* after_name = std::strrchr(text, ')');  // the program's name may hold anything
    return after_name && std::strlen(after_name) > 4 ? static_cast<pid_t>(std::atoi(after_name + 4)) : -1;
}

/// Kills every child of ours, the orphans that we adopted among them, each with its group.
void kill_children() {
    DIR* all = ::opendir("/proc");
    if (!all) return;
    const pid_t own = ::getpid();
    while (const dirent* entry = ::readdir(all)) {
        const pid_t child = static_cast<pid_t>(std::atoi(entry->d_name));
        if (child <= 0 || parent_of(child) != own) continue;  // ours and not reaped: the number is nobody else's
        const pid_t group = ::getpgid(child);
        if (group > 1 && group != own) ::kill(-group, SIGKILL);
        ::kill(child, SIGKILL);
    }
    ::closedir(all);
}

/// Until there is no process left below us. A process that forks faster than it is killed loses its group at once.
void end_descendants() {
    const Clock::time_point give_up = Clock::now() + kUnkillable;
    for (;;) {
        const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
        if (reaped > 0) continue;
        if (reaped < 0 && errno == EINTR) continue;
        if (reaped < 0 || Clock::now() > give_up) return;  // ECHILD
        kill_children();
        const timespec moment{0, 200'000};
        ::nanosleep(&moment, nullptr);
    }
}

/// The file's text, cut to `size`; false when it is gone.
bool read_text(const char* path, char* text, std::size_t size) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t count = ::read(file, text, size - 1);
    ::close(file);
    text[std::max<ssize_t>(count, 0)] = 0;
    return count > 0;
}

/// What the processes below us hold and have used. What ended and was waited for counts with who waited for it; orphans
/// stay zombies until the end, so that they count, too.
class Tree {
  public:
    Tree() { collect(::getpid()); }

    double cpu_seconds() const {
        double ticks = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            char path[64], text[1024];
            std::snprintf(path, sizeof path, "/proc/%d/stat", pids_[i]);
            if (!read_text(path, text, sizeof text)) continue;
            const char* after_name = std::strrchr(text, ')');
            unsigned long user = 0, system = 0;
            long waited_user = 0, waited_system = 0;
            if (after_name &&
                std::sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &user,
                            &system, &waited_user, &waited_system) == 4)
                ticks += static_cast<double>(user + system) + static_cast<double>(waited_user + waited_system);
        }
        return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }

    /// Cheap, and too much where processes share memory.
    std::size_t resident() const {
        std::size_t pages = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            char path[64], text[128];
            std::snprintf(path, sizeof path, "/proc/%d/statm", pids_[i]);
            unsigned long held = 0;
            if (read_text(path, text, sizeof text) && std::sscanf(text, "%*u %lu", &held) == 1) pages += held;
        }
        return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    }

    /// Exact: what n processes share counts 1/n for each (proc(5), smaps_rollup).
    std::size_t proportional() const {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            char path[64], text[2048];
            std::snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pids_[i]);
            if (!read_text(path, text, sizeof text)) continue;
            const char* line = std::strstr(text, "\nPss:");
            if (line) bytes += std::strtoull(line + 5, nullptr, 10) << 10;
        }
        return bytes;
    }

  private:
    /// The children of each thread.
    void collect(pid_t pid) {
        char path[64];
        std::snprintf(path, sizeof path, "/proc/%d/task", pid);
        DIR* threads = ::opendir(path);
        if (!threads) return;
        while (const dirent* thread = ::readdir(threads)) {
            if (thread->d_name[0] == '.') continue;
            char children[96], text[4096];
            std::snprintf(children, sizeof children, "/proc/%d/task/%.16s/children", pid, thread->d_name);
            if (!read_text(children, text, sizeof text)) continue;
            for (char *at = text, *end = nullptr; count_ < kMost; at = end) {
                const long child = std::strtol(at, &end, 10);
                if (end == at) break;
                pids_[count_++] = static_cast<pid_t>(child);
                collect(static_cast<pid_t>(child));
            }
        }
        ::closedir(threads);
    }

    static constexpr std::size_t kMost = 1024;
    pid_t pids_[kMost];
    std::size_t count_ = 0;
};

/// Waits for the child to end by itself, by a limit or because we are told to stop, and ends it.
class Watch {
  public:
    Watch(const ProcessOptions& options, GuardReport& report, Clock::time_point start)
        : options_(options), report_(report), target_(options.own_group ? -report.child : report.child) {
        if (options.timeout) deadline_ = start + *options.timeout;
    }

    void until_end() {
        sigset_t stop;
        sigemptyset(&stop);
        sigaddset(&stop, SIGTERM);
        pollfd waits[2] = {{open_process(report_.child), POLLIN, 0}, {::signalfd(-1, &stop, SFD_CLOEXEC), POLLIN, 0}};
        if (waits[0].fd < 0) ::kill(target_, SIGKILL);
        while (waits[0].fd >= 0) {
            ::poll(waits, 2, milliseconds_left());
            if (waits[0].revents) break;
            if (waits[1].revents) {
                signalfd_siginfo told;
                const ssize_t ignored = ::read(waits[1].fd, &told, sizeof told);
                static_cast<void>(ignored);
                told_ = true;
                if (!asked_) end();
            }
            if (deadline_ && Clock::now() >= *deadline_) {
                if (!asked_) report_.timed_out = true;
                end();
            }
            if (limits_tree()) look_at_tree();
        }
        if (options_.own_group) ::kill(target_, SIGKILL);  // it is a zombie: the group cannot be anybody else's yet
    }

    /// We were told to stop, by who made us or by its end.
    bool told() const { return told_; }

  private:
    bool limits_tree() const { return options_.resident_limit || options_.memory_limit || options_.cpu_limit; }

    void look_at_tree() {
        const Tree tree;
        const std::optional<std::size_t> most =
            options_.resident_limit ? options_.resident_limit : options_.memory_limit;
        if (most && tree.resident() > *most && tree.proportional() > *most) report_.over_memory = true;
        if (options_.cpu_limit && tree.cpu_seconds() > static_cast<double>(options_.cpu_limit->count()) + 1)
            report_.over_cpu = true;  // a second after RLIMIT_CPU, which lets a single process say more
        if (report_.over_memory || report_.over_cpu) ::kill(target_, SIGKILL);
    }

    int milliseconds_left() const {
        milliseconds left = deadline_ ? std::chrono::ceil<milliseconds>(*deadline_ - Clock::now()) : milliseconds(-1);
        if (deadline_) left = std::clamp(left, milliseconds(0), milliseconds(3'600'000));
        if (limits_tree()) left = left < kLook && deadline_ ? left : kLook;
        return static_cast<int>(left.count());
    }

    /// TERM, and when that time is over KILL.
    void end() {
        ::kill(target_, asked_ ? SIGKILL : SIGTERM);
        report_.sent_kill = asked_;
        if (asked_)
            deadline_.reset();
        else
            deadline_ = Clock::now() + kGrace;
        asked_ = true;
    }

    const ProcessOptions& options_;
    GuardReport& report_;
    pid_t target_;  ///< what is signalled, the child or minus its group
    std::optional<Clock::time_point> deadline_;
    bool asked_ = false, told_ = false;
};

/// True when our parent is gone or just going: its threads die one by one, and the first of them tells us.
bool is_orphan(pid_t parent, bool told) {
    if (::getppid() != parent) return true;
    if (!told) return false;
    pollfd end{open_process(parent), POLLIN, 0};
    if (end.fd >= 0 && ::getppid() == parent) ::poll(&end, 1, static_cast<int>(kDying.count()));
    return ::getppid() != parent || end.revents != 0;
}

[[noreturn]] void be_guard(const ProcessOptions& options, const GuardStreams& streams,
                           const std::function<void(GuardReport&)>& work, GuardReport& report, pid_t parent) {
    const Clock::time_point start = Clock::now();
    if (options.own_group) {
        ::setsid();
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // all signals are blocked; signalfd tells of this one
    if (::getppid() != parent) ::_exit(1);
    const pid_t own = ::getpid(), child = ::fork();
    if (child == 0) {
        report.child = ::getpid();
        enter(options, streams, own);
        work(report);
        ::_exit(127);
    }
    if (child < 0) {
        report.failed_step = "fork";
        report.failed_code = errno;
        ::_exit(0);
    }
    report.child = child;
    if (options.own_group) ::setpgid(child, child);  // whoever comes first
    // Pipes of ours would seem open while we live; those of other queries, too.
    ::syscall(SYS_close_range, 0U, ~0U, 0U);
    Watch watch(options, report, start);
    watch.until_end();
    rusage used{};
    int status = 0;
    while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
    }
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    report.status = status;
    report.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    if (options.own_group) end_descendants();
    report.ended = true;
    if (!options.remove_if_killed.empty() && is_orphan(parent, watch.told())) {
        std::error_code ignored;
        std::filesystem::remove_all(options.remove_if_killed, ignored);
    }
    ::_exit(0);
}

}  // namespace

// ---- our side ------------------------------------------------------------------------------------------------------

Guard::Guard(const ProcessOptions& options, const GuardStreams& streams,
             const std::function<void(GuardReport&)>& work) {
    void* memory = ::mmap(nullptr, sizeof(GuardReport), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("map shared memory");
    report_ = new (memory) GuardReport();
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);  // no handler of ours may run in the guard
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) be_guard(options, streams, work, *report_, parent);
    const int code = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid_ > 0) over_ = open_process(pid_);
    if (pid_ > 0 && over_ >= 0) return;
    if (pid_ < 0) errno = code;
    const std::string why = std::strerror(errno);
    if (pid_ > 0) wait();
    ::munmap(memory, sizeof(GuardReport));
    throw Error("cannot start a process: " + why);
}

Guard::~Guard() {
    if (!waited_) {
        stop();
        wait();
    }
    ::close(over_);
    ::munmap(report_, sizeof(GuardReport));
}

void Guard::stop() { ::kill(pid_, SIGTERM); }

const GuardReport& Guard::wait() {
    if (!waited_) {
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        waited_ = true;
        // Somebody killed the guard: its child died with it, and the child's group has no other keeper.
        if (!report_->ended && report_->child > 0) ::kill(-report_->child, SIGKILL);
    }
    return *report_;
}

}  // namespace whittle
