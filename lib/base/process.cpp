#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace whittle {

void fail_process(const std::string& program, const std::string& doing, int code) {
    throw Error("cannot " + doing + " '" + program + "': " + std::strerror(code));
}

Pipe::Pipe(const std::string& program) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail_process(program, "make a pipe to", errno);
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
}

// ---- streams --------------------------------------------------------------------------------------------------------

bool Stream::read_some() {
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

void Stream::drain() {
    if (!from_.open()) return;
    ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
    for (int chunk = 0; chunk < 64 && from_.open() && read_some(); ++chunk) {
    }
}

void Stream::forget() {
    head_.clear(), tail_.clear();
    total_ = 0;
}

std::string Stream::text() const {
    if (total_ <= limit_) return head_ + tail_;
    const std::string end = tail_.substr(tail_.size() - std::min(tail_.size(), limit_ / 2));
    return head_ + "\n[... " + std::to_string(total_ - head_.size() - end.size()) + " bytes omitted ...]\n" + end;
}

void Stream::take(std::string_view bytes) {
    total_ += bytes.size();
    const std::size_t room = std::min(limit_ - limit_ / 2 - head_.size(), bytes.size());
    head_ += bytes.substr(0, room);
    tail_ += bytes.substr(room);
    if (tail_.size() > limit_ + (1 << 16)) tail_.erase(0, tail_.size() - limit_);
}

// ---- the program ----------------------------------------------------------------------------------------------------

namespace {

/// "NAME=VALUE" strings: ours, with `added` replacing or following them.
std::vector<std::string> environment_of(const std::vector<std::pair<std::string, std::string>>& added) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        const std::string_view key = text.substr(0, text.find('='));
        const bool replaced = std::ranges::any_of(added, [&](const auto& pair) { return pair.first == key; });
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

std::string hint_for(const std::string& program, int code) {
    std::error_code ignored;
    const bool path = program.find('/') != std::string::npos, folder = std::filesystem::is_directory(program, ignored);
    switch (code) {
        case ENOENT:
            if (!path) return "check that the program is installed, and that the folder of the program is in PATH";
            return std::filesystem::exists(program, ignored)
                       ? "check that the interpreter in the first line of the file exists"
                       : "";
        case EACCES:
            return folder ? "the path is a folder" : "check that the file is executable (chmod +x)";
        default:
            return {};
    }
}

}  // namespace

Launch::Launch(const std::vector<std::string>& argv, const ProcessOptions& options)
    : words_(argv),
      variables_(environment_of(options.environment)),
      argv_(pointers(words_)),
      environment_(pointers(variables_)),
      folder_(options.folder ? options.folder->c_str() : nullptr) {}

void Launch::become(int pipe) const {
    if (folder_ && ::chdir(folder_) != 0) {
        tell_failure(pipe, GuardReport::Step::chdir, errno);
    } else {
        ::execvpe(argv_[0], argv_.data(), environment_.data());
        tell_failure(pipe, GuardReport::Step::exec, errno);
    }
    ::_exit(127);
}

void expect_start(const GuardReport& report, const std::string& program, const ProcessOptions& options) {
    if (report.failed_step == GuardReport::Step::none) return;
    if (report.failed_step == GuardReport::Step::chdir)
        throw Error({options.folder->string(), {}},
                    std::string("cannot enter the folder: ") + std::strerror(report.failed_code));
    throw Error("cannot run '" + program + "': " + std::strerror(report.failed_code),
                hint_for(program, report.failed_code));
}

namespace {

/// The signal that ended it, also as shells report the end of their own child.
int ending_signal(const ProcessResult& result) {
    if (result.signal != 0) return result.signal;
    for (const int signal : {SIGKILL, SIGTERM})
        if (result.exit_code == 128 + signal) return signal;
    return 0;
}

}  // namespace

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

}  // namespace whittle
