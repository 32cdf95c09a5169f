// A process that answers again and again: a line to its standard input, lines from its standard output.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/guard.h"
#include "base/process.h"

namespace whittle {

class Service {
  public:
    /// Starts argv[0] as run_process() does, in a process group of its own under the limits of `options` on memory and
    /// processor time, which hold from its start to its end; time is limited per question. It ends with the calling
    /// thread at the latest. Throws Error when it cannot be started.
    Service(const std::vector<std::string>& argv, const ProcessOptions& options);
    /// Ends its input, and soon it.
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// True for the line that ends a question.
    using Ends = std::function<bool(std::string_view line)>;
    /// The line that ended the question, or how the process ended instead: by itself, by a limit, or by us because
    /// `timeout` was over or it wrote more than `output_limit` without one.
    struct Ended {
        ProcessResult process;
        bool flooded = false;
    };
    using Answer = std::variant<std::string, Ended>;
    /// Writes `question` (a line; nothing: only listens) and reads lines until one ends it. Not after it has ended.
    /// Throws Interrupted.
    Answer ask(std::string_view question, const Ends& ends, std::chrono::milliseconds timeout);

    bool running() { return !ended_ && !guard_->over(); }

  private:
    Ended end(bool timed_out, bool flooded);
    bool read_output();
    bool take_line(const Ends& ends, std::string& line);

    std::string program_;
    ProcessOptions options_;
    Pipe in_;  ///< we keep both ends: writing to who does not read any more is no error, its end is told by the guard
    Stream err_;
    Descriptor out_;
    std::optional<Guard> guard_;
    std::string unread_;        ///< of standard output
    std::size_t searched_ = 0;  ///< of it, without an end of line
    std::size_t read_ = 0;      ///< bytes of this question
    bool ended_ = false;
};

}  // namespace whittle
