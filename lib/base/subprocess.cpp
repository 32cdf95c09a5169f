#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/guard.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory_file.h"
#include "base/turn.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;

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

/// A pipe with `input` in it, which must not be more than a pipe holds.
Pipe held_input(const std::string& program, std::string_view input) {
    Pipe pipe(program);
    if (::write(pipe.write.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size()))
        fail(program, "write the input of", errno);
    return pipe;
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

/// Everything exec needs, made before the fork: after it only async-signal-safe calls are allowed, because other
/// threads of ours may have held locks.
struct Launch {
    char* const* argv;
    char* const* environment;
    const char* folder;  // or nullptr
};

/// `pipe` is closed by a successful exec.
[[noreturn]] void become(const Launch& launch, int pipe) {
    if (launch.folder && ::chdir(launch.folder) != 0) {
        tell_failure(pipe, GuardReport::Step::chdir, errno);
    } else {
        ::execvpe(launch.argv[0], launch.argv, launch.environment);
        tell_failure(pipe, GuardReport::Step::exec, errno);
    }
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
        default:
            return {};
    }
}

void expect_start(const GuardReport& report, const std::string& program, const ProcessOptions& options) {
    if (report.failed_step == GuardReport::Step::none) return;
    if (report.failed_step == GuardReport::Step::chdir)
        throw Error({options.folder->string(), {}},
                    std::string("cannot enter the folder: ") + std::strerror(report.failed_code));
    throw Error("cannot run '" + program + "': " + std::strerror(report.failed_code),
                hint_for(program, report.failed_code));
}

/// One captured stream: its first and its last bytes, so that neither the cause nor the last words are lost.
class Stream {
  public:
    Stream(Descriptor from, std::size_t limit) : from_(std::move(from)), limit_(limit) {}

    int descriptor() const { return from_.get(); }

    /// Reads once; closes at the end of the stream. False when there was nothing to read now.
    bool read_some() {
        std::array<char, 1 << 16> chunk;
        const ssize_t count = ::read(from_.get(), chunk.data(), chunk.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return errno == EINTR;
        if (count <= 0) {
            from_.reset();
            return false;
        }
        take({chunk.data(), static_cast<std::size_t>(count)});
        return true;
    }

    /// What is in the pipe now. Processes that escaped may still write, so no more than pipes hold is read.
    void drain() {
        if (!from_.open()) return;
        ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
        for (int chunk = 0; chunk < 64 && from_.open() && read_some(); ++chunk) {
        }
    }

    std::string text() const {
        if (total_ <= limit_) return head_ + tail_;
        const std::string end = tail_.substr(tail_.size() - std::min(tail_.size(), limit_ / 2));
        return head_ + "\n[... " + std::to_string(total_ - head_.size() - end.size()) + " bytes left out ...]\n" + end;
    }

  private:
    void take(std::string_view bytes) {
        total_ += bytes.size();
        const std::size_t room = std::min(limit_ - limit_ / 2 - head_.size(), bytes.size());
        head_ += bytes.substr(0, room);
        tail_ += bytes.substr(room);
        if (tail_.size() > limit_ + (1 << 16)) tail_.erase(0, tail_.size() - limit_);
    }

    Descriptor from_;
    std::size_t limit_, total_ = 0;
    std::string head_, tail_;
};

/// Reads both streams until the guard says that all is over.
void capture(Guard& guard, Stream& out, Stream& err) {
    for (bool told = false;;) {
        pollfd waits[3] = {{guard.news(), POLLIN, 0},
                           {out.descriptor(), POLLIN, 0},  // a closed one is -1, which poll ignores
                           {err.descriptor(), POLLIN, 0}};
        const int ready = [&] {
            const TurnPause others;
            return ::poll(waits, 3, kGlance);
        }();
        if (ready < 0 && errno != EINTR) fail("the guard", "wait for", errno);
        if (waits[1].revents) out.read_some();
        if (waits[2].revents) err.read_some();
        if (guard.over()) break;
        if (!told_to_stop() || told) continue;
        guard.stop();
        told = true;
    }
    out.drain();
    err.drain();
}

/// The signal that ended it, also as shells report the end of their own child.
int ending_signal(const ProcessResult& result) {
    if (result.signal != 0) return result.signal;
    for (const int signal : {SIGKILL, SIGTERM})
        if (result.exit_code == 128 + signal) return signal;
    return 0;
}

ProcessResult result_of(const GuardReport& report, const ProcessOptions& options) {
    ProcessResult result;
    if (!report.ended || !report.reaped)
        result.signal = SIGKILL;  // it died with the guard, or it should have died
    else if (WIFSIGNALED(report.status))
        result.signal = WTERMSIG(report.status);
    else
        result.exit_code = WEXITSTATUS(report.status);
    result.timed_out = report.timed_out;
    if (options.cpu_limit && !report.timed_out) {
        // XCPU ends it, or KILL when it ignores that; a shell reports the end of its own child as 128 + the signal.
        const bool used = report.cpu_seconds >= static_cast<double>(options.cpu_limit->count());
        result.cpu_exceeded = report.over_cpu || result.signal == SIGXCPU || result.exit_code == 128 + SIGXCPU ||
                              (ending_signal(result) == SIGKILL && used);
    }
    result.out_of_memory = report.over_memory;
    const bool ours = report.timed_out || report.told || report.sent_kill || result.cpu_exceeded;
    const int signal = ending_signal(result);
    for (const int end : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGXCPU})
        if (signal == end && !ours) result.ended_from_outside = true;
    if (report.given_up) result.left_behind = report.child;
    return result;
}

/// `work` in a guarded process; its captured output and its end.
ProcessResult run_guarded(const std::string& program, const ProcessOptions& options, const GuardedWork& work) {
    throw_if_interrupted();
    const Clock::time_point start = Clock::now();
    std::optional<Pipe> held;
    if (options.hold_input) held = held_input(program, options.input);
    Descriptor input = held ? std::move(held->read) : input_file(program, options.input);
    Pipe out(program), err(program);
    GuardStreams streams{.in = input.get()};
    if (!options.inherit_output) streams.out = out.write.get();
    if (!options.inherit_output && !options.inherit_errors) streams.err = err.write.get();
    Guard guard(options, streams, work);
    const CleanUpScope scope(options.own_group ? guard.pid() : 0);
    for (Descriptor* given : {&input, &out.write, &err.write}) given->reset();
    Stream printed(std::move(out.read), options.output_limit), errors(std::move(err.read), options.output_limit);
    capture(guard, printed, errors);
    const GuardReport& report = guard.wait();
    throw_if_interrupted();
    expect_start(report, program, options);
    ProcessResult result = result_of(report, options);
    if (result.left_behind)
        log_warning(LogChannel::run,
                    "'" + program + "' (process " + std::to_string(result.left_behind) +
                        "), or what it started, does not die of KILL: it hangs in the kernel and is left behind");
    result.out = printed.text();
    result.err = errors.text();
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
    if (argv.empty() || argv[0].empty()) throw Error("found an empty command, expected a program to run");
    std::vector<std::string> arguments = argv, environment = environment_of(options.environment);
    const std::vector<char*> argument_pointers = pointers(arguments), environment_pointers = pointers(environment);
    const Launch launch{argument_pointers.data(), environment_pointers.data(),
                        options.folder ? options.folder->c_str() : nullptr};
    return run_guarded(argv[0], options, [&](int pipe) { become(launch, pipe); });
}

ProcessResult run_forked(const std::function<int()>& work, const ProcessOptions& options) {
    std::fflush(nullptr);  // or the child would print what we have buffered once more
    const MemoryFile log;  // a pipe would have to be read while it crashes
    const auto relay = [&] { log.read(relay_log); };
    try {
        ProcessResult result = run_guarded("a copy of this process", options, [&](int pipe) {
            ::close(pipe);
            send_log_to(log.descriptor());
            handle_interrupts_in_child();
            if (options.folder && ::chdir(options.folder->c_str()) != 0) ::_exit(127);
            for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
            ::_exit(work());
        });
        relay();
        return result;
    } catch (...) {
        relay();
        throw;
    }
}

ForkedAnswer ask_forked(const std::function<std::string()>& work, const ProcessOptions& options) {
    const MemoryFile file;
    ForkedAnswer asked;
    asked.process = run_forked([&] { return file.write(work()) ? 0 : 1; }, options);
    file.read([&](std::string_view bytes) { asked.answer = bytes; });
    return asked;
}

EndedFromOutside::EndedFromOutside(const ProcessResult& process)
    : std::runtime_error(ending_of(process) +
                         ": a signal that Whittle did not send (the kernel's memory killer sends SIGKILL)") {}

std::string ending_of(const ProcessResult& process) {
    if (process.timed_out) return "did not end in time";
    if (process.signal != 0) return "was killed by " + signal_name(process.signal);
    return "exited with " + std::to_string(process.exit_code);
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

std::vector<std::filesystem::path> files_named(const std::vector<std::string>& argv) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    const auto add = [&](const fs::path& file) {
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored)) files.push_back(file);
    };
    if (const char* path = std::getenv("PATH"); path && !argv.empty() && argv[0].find('/') == std::string::npos) {
        std::istringstream folders(path);
        for (std::string folder; files.empty() && std::getline(folders, folder, ':');) add(fs::path(folder) / argv[0]);
    }
    for (const std::string& word : argv) {
        add(word);
        if (const std::size_t equal = word.find('='); equal != std::string::npos) add(word.substr(equal + 1));
    }
    return files;
}

std::string signal_name(int signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    return abbreviation ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal);
}

}  // namespace whittle
