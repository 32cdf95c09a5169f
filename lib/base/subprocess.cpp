#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/interrupt.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGrace{500};  // between TERM and KILL
constexpr int kGlance = 250;  // ms between looks for an interrupt, which may have reached another thread

/// A file descriptor that closes itself.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset();
        fd_ = std::exchange(other.fd_, -1);
        return *this;
    }
    int get() const { return fd_; }
    bool open() const { return fd_ >= 0; }
    void reset() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_ = -1;
};

[[noreturn]] void fail(const std::string& program, const std::string& doing, int code) {
    throw Error("cannot " + doing + " '" + program + "': " + std::strerror(code));
}

struct Pipe {
    Descriptor read, write;

    explicit Pipe(const std::string& program) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) fail(program, "make a pipe to", errno);
        read = Descriptor(ends[0]);
        write = Descriptor(ends[1]);
    }
};

/// Standard input as a file of its own: the child may seek in it, and nobody blocks or gets SIGPIPE feeding it.
Descriptor input_file(const std::string& program, std::string_view input) {
    if (input.empty()) {
        Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!null.open()) fail(program, "open /dev/null for", errno);
        return null;
    }
    Descriptor file(::memfd_create("whittle-input", MFD_CLOEXEC));
    if (!file.open()) fail(program, "make the input of", errno);
    while (!input.empty()) {
        const ssize_t written = ::write(file.get(), input.data(), input.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(program, "write the input of", errno);
        input.remove_prefix(static_cast<std::size_t>(written));
    }
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

/// "NAME=VALUE" strings: ours, with `added` replacing or following them.
std::vector<std::string> environment_of(const std::vector<std::pair<std::string, std::string>>& added) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        const std::string_view key = text.substr(0, text.find('='));
        const bool replaced =
            std::any_of(added.begin(), added.end(), [&](const auto& pair) { return pair.first == key; });
        if (!replaced) result.emplace_back(text);
    }
    for (const auto& [key, value] : added) result.push_back(key + "=" + value);
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// Everything the child needs, made before the fork: after it only async-signal-safe calls are allowed, because other
/// threads of ours may have held locks.
struct Launch {
    char* const* argv;
    char* const* environment;
    const char* folder;  // or nullptr
    const ProcessOptions* options;
    pid_t parent;
    int in, out, err, report;
};

/// What the child could not do, sent through the close-on-exec pipe.
struct LaunchFailure {
    enum Step : int { chdir, exec } step;
    int code;
};

void limit_resource(__rlimit_resource resource, rlim_t value) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    limit.rlim_cur = std::min(value, limit.rlim_max);
    limit.rlim_max = limit.rlim_cur;
    ::setrlimit(resource, &limit);
}

[[noreturn]] void become(const Launch& launch) {
    const auto give_up = [&](LaunchFailure::Step step) {
        const LaunchFailure failure{step, errno};
        const ssize_t ignored = ::write(launch.report, &failure, sizeof failure);
        static_cast<void>(ignored);
        ::_exit(127);
    };
    if (launch.options->own_group) ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launch.parent) ::_exit(127);  // died before the line above
    for (int signal = 1; signal < 32; ++signal)      // handlers are ours; ignored signals would be inherited
        if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(launch.in, STDIN_FILENO);
    if (!launch.options->inherit_output) {
        ::dup2(launch.out, STDOUT_FILENO);
        ::dup2(launch.err, STDERR_FILENO);
    }
    if (launch.folder && ::chdir(launch.folder) != 0) give_up(LaunchFailure::chdir);
    if (launch.options->cpu_limit)
        limit_resource(RLIMIT_CPU, static_cast<rlim_t>(std::max<std::int64_t>(1, launch.options->cpu_limit->count())));
    limit_resource(RLIMIT_CORE, 0);
    if (launch.options->memory_limit) limit_resource(RLIMIT_AS, *launch.options->memory_limit);
    ::execvpe(launch.argv[0], launch.argv, launch.environment);
    give_up(LaunchFailure::exec);
    ::_exit(127);
}

std::string hint_for(const std::string& program, int code) {
    std::error_code ignored;
    const bool path = program.find('/') != std::string::npos, folder = std::filesystem::is_directory(program, ignored);
    switch (code) {
        case ENOENT:
            if (!path) return "is it installed, and is its folder in PATH?";
            return std::filesystem::exists(program, ignored) ? "does the interpreter in its first line exist?" : "";
        case EACCES:
            return folder ? "it is a folder" : "is it executable (chmod +x)?";
        case ENOMEM:
            return "the memory limit may be too low to start it";
        default:
            return {};
    }
}

/// Blocks until the child has called exec (the pipe closes) or says why it could not.
void expect_exec(pid_t child, int report, const std::string& program, const ProcessOptions& options) {
    LaunchFailure failure{};
    ssize_t count;
    do count = ::read(report, &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    if (count != static_cast<ssize_t>(sizeof failure)) return;
    ::waitpid(child, nullptr, 0);
    if (failure.step == LaunchFailure::chdir)
        throw Error({options.folder->string(), {}},
                    std::string("cannot enter the folder: ") + std::strerror(failure.code));
    throw Error("cannot run '" + program + "': " + std::strerror(failure.code), hint_for(program, failure.code));
}

/// One captured stream.
struct Stream {
    Descriptor from;
    std::string* to;
    std::size_t limit;

    /// Reads once; closes at the end of the stream. False when there was nothing to read now.
    bool read_some() {
        std::array<char, 1 << 16> chunk;
        const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return errno == EINTR;
        if (count <= 0) {
            from.reset();
            return false;
        }
        const std::size_t room = limit - std::min(limit, to->size());
        to->append(chunk.data(), std::min(room, static_cast<std::size_t>(count)));
        return true;
    }
};

/// Waits for a running child: captures its streams, enforces the deadline, ends its group.
class Watch {
  public:
    /// `target`: what is signalled, the child or minus its group.
    Watch(pid_t target, Descriptor exited, std::array<Stream, 2> streams, std::optional<Clock::time_point> deadline)
        : target_(target), exited_(std::move(exited)), streams_(std::move(streams)), deadline_(deadline) {}

    /// Returns when the child has ended and its streams are drained. It is still a zombie then, so that its process
    /// group cannot be anybody else's when the rest of the group is killed.
    void until_end() {
        bool running = true;
        while (running) {
            pollfd waits[3] = {{exited_.get(), POLLIN, 0},
                               {streams_[0].from.get(), POLLIN, 0},  // a closed one is -1, which poll ignores
                               {streams_[1].from.get(), POLLIN, 0}};
            if (::poll(waits, 3, milliseconds_left()) < 0 && errno != EINTR)
                fail(std::to_string(target_), "wait for process", errno);
            for (int i = 0; i < 2; ++i)
                if (waits[i + 1].revents) streams_[i].read_some();
            running = waits[0].revents == 0;
            if (running) enforce_deadline();
        }
        if (target_ < 0) ::kill(target_, SIGKILL);
        drain();
    }
    bool timed_out() const { return timed_out_; }
    bool sent_kill() const { return sent_kill_; }

  private:
    int milliseconds_left() const {
        if (!deadline_) return kGlance;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, kGlance));
    }

    void enforce_deadline() {
        if (interrupt_signal() && !timed_out_ && !sent_kill_)
            deadline_ = std::min(Clock::now(), deadline_.value_or(Clock::now()));
        if (!deadline_ || Clock::now() < *deadline_) return;
        if (!timed_out_) {
            timed_out_ = true;
            ::kill(target_, SIGTERM);
            *deadline_ += kGrace;
        } else {
            sent_kill_ = true;
            ::kill(target_, SIGKILL);
            deadline_.reset();
        }
    }

    /// What is in the pipes now. Processes that left the group may still write, so no more than pipes hold is read.
    void drain() {
        for (Stream& stream : streams_) {
            if (!stream.from.open()) continue;
            ::fcntl(stream.from.get(), F_SETFL, O_NONBLOCK);
            for (int chunk = 0; chunk < 64 && stream.from.open() && stream.read_some(); ++chunk) {
            }
        }
    }

    pid_t target_;
    Descriptor exited_;  // pidfd: readable when the child has ended
    std::array<Stream, 2> streams_;
    std::optional<Clock::time_point> deadline_;
    bool timed_out_ = false, sent_kill_ = false;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
    if (argv.empty() || argv[0].empty()) throw Error("found an empty command, expected a program to run");
    throw_if_interrupted();
    const std::string& program = argv[0];
    std::vector<std::string> arguments = argv, environment = environment_of(options.environment);
    const std::vector<char*> argument_pointers = pointers(arguments), environment_pointers = pointers(environment);
    Descriptor input = input_file(program, options.input);
    Pipe out(program), err(program), report(program);
    const Launch launch{argument_pointers.data(),
                        environment_pointers.data(),
                        options.folder ? options.folder->c_str() : nullptr,
                        &options,
                        ::getpid(),
                        input.get(),
                        out.write.get(),
                        err.write.get(),
                        report.write.get()};

    const Clock::time_point start = Clock::now();
    const pid_t child = ::fork();
    if (child < 0) fail(program, "start", errno);
    if (child == 0) become(launch);
    input.reset();
    out.write.reset();
    err.write.reset();
    report.write.reset();
    const CleanUpScope scope(options.own_group ? child : 0);
    expect_exec(child, report.read.get(), program, options);
    // glibc 2.36 declares pidfd_open() for C only.
    Descriptor exited(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    if (!exited.open()) {
        const int code = errno;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        fail(program, "watch", code);
    }

    ProcessResult result;
    std::optional<Clock::time_point> deadline;
    if (options.timeout) deadline = start + *options.timeout;
    Watch watch(options.own_group ? -child : child, std::move(exited),
                {Stream{std::move(out.read), &result.out, options.output_limit},
                 Stream{std::move(err.read), &result.err, options.output_limit}},
                deadline);
    watch.until_end();

    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    throw_if_interrupted();
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (WIFSIGNALED(status))
        result.signal = WTERMSIG(status);
    else
        result.exit_code = WEXITSTATUS(status);
    result.timed_out = watch.timed_out();
    result.out_of_memory = options.memory_limit && result.signal == SIGKILL && !watch.sent_kill();
    return result;
}

std::string shell_quote(const std::vector<std::string>& argv) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%^";
    std::string line;
    for (const std::string& word : argv) {
        if (!line.empty()) line += ' ';
        // A leading '=' or NAME= would be an assignment before a command; quoting is always right.
        const bool assignment = &word == argv.data() && word.find('=') != std::string::npos;
        if (!word.empty() && !assignment && word.find_first_not_of(plain) == std::string::npos) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

std::vector<std::string> shell_split(std::string_view line) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
            // Inside "" a backslash is itself, except before these.
            if (quote && std::string_view("$`\"\\").find(line[i + 1]) == std::string_view::npos) words.back() += c;
            words.back() += line[++i];
        } else {
            words.back() += c;
        }
    }
    if (quote) throw Error({"command '" + std::string(line) + "'", {}}, std::string("found no closing ") + quote);
    return words;
}

std::string signal_name(int signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    return abbreviation ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal);
}

}  // namespace whittle
