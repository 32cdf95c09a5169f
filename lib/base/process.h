// What run_process() and Service have in common: pipes, the captured streams of a process, what exec needs, how it
// ended. subprocess.cpp and service.cpp are its only users.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/guard.h"
#include "base/subprocess.h"

namespace whittle {

constexpr int kGlance = 250;  // ms between looks for an interrupt, which may have reached another thread

/// Throws Error: "cannot DOING 'PROGRAM': …", with the words of the errno `code`.
[[noreturn]] void fail_process(const std::string& program, const std::string& doing, int code);

struct Pipe {
    Descriptor read, write;

    /// Throws Error.
    explicit Pipe(const std::string& program);
};

/// One captured stream: its first and its last bytes, so that neither the cause nor the last words are lost.
class Stream {
  public:
    Stream(Descriptor from, std::size_t limit) : from_(std::move(from)), limit_(limit) {}

    int descriptor() const { return from_.get(); }

    /// Reads once; closes at the end of the stream. False when there was nothing to read now.
    bool read_some();

    /// What is in the pipe now. Processes that escaped may still write, so no more than pipes hold is read.
    void drain();
    /// Of what was read so far nothing is kept.
    void forget();

    std::string text() const;

  private:
    void take(std::string_view bytes);

    Descriptor from_;
    std::size_t limit_, total_ = 0;
    std::string head_, tail_;
};

/// Everything exec needs, made before the fork: after it only async-signal-safe calls are allowed, because other
/// threads of ours may have held locks.
class Launch {
  public:
    Launch(const std::vector<std::string>& argv, const ProcessOptions& options);
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;
    /// Becomes the program. `pipe` is closed by a successful exec and told of the failure otherwise.
    [[noreturn]] void become(int pipe) const;

  private:
    std::vector<std::string> words_, variables_;
    std::vector<char*> argv_, environment_;
    const char* folder_;  // or nullptr
};

/// Throws Error where there is no guarded program.
void expect_start(const GuardReport& report, const std::string& program, const ProcessOptions& options);

ProcessResult result_of(const GuardReport& report, const ProcessOptions& options);

}  // namespace whittle
