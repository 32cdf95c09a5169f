// The structured log: what happened in a process, a JSON object a line, whatever is shown to people. Each line is
// written at once, by copies of the process, too: what there is after a crash can be read. Only KILL can cut a write,
// at the end of a page: the last line then has no end. The members of a line: share/schema/log_line.schema.json.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

namespace whittle {

class EventLog {
  public:
    /// This process's.
    static EventLog& instance();

    /// Lines go to the end of FOLDER/log.jsonl from now on, and no longer into the folder before; where that cannot be
    /// written, everything stays as it is.
    void open(const std::string& folder);
    bool is_open() const { return descriptor_.load(std::memory_order_relaxed) >= 0; }
    /// The file; empty where there is none.
    std::string file() const;

    void message(std::string_view channel, std::string_view level, std::string_view text);
    void artifact(std::string_view name, std::string_view title, std::string_view text);
    /// `event`: "begin", "done", "failed", "ended"; `seconds` since its begin, which has none itself.
    void step(std::string_view step, std::string_view event, std::string_view title, double seconds);

  private:
    EventLog() = default;
    static void keep_usable_in_copies();

    std::atomic<int> descriptor_{-1};
    mutable std::mutex mutex_;  ///< of file_
    std::string file_;
};

}  // namespace whittle
