// What a debug folder holds of a program of the API beside the artifacts that are made on the way: a trace, and of each
// compiled function what runs in its place, on the calls that the trace recorded.
#pragma once

#include <filesystem>
#include <memory>

#include "api/trace.h"

namespace whittle::api {

/// Writes full_code of the functions in a folder that trace wrote, as artifacts. `records`: as for
/// full_code().
void log_full_code(const std::filesystem::path& folder, const std::string& records);

/// The same of a trace that somebody else keeps: a debug folder gets it, too.
void log_full_code(const std::filesystem::path& folder);

class DebugTrace {
  public:
    /// In the debug folder; null where it is to hold none, or cannot.
    static std::unique_ptr<DebugTrace> begin();
    ~DebugTrace() { write_code(); }
    DebugTrace(const DebugTrace&) = delete;
    DebugTrace& operator=(const DebugTrace&) = delete;

    Trace& trace() { return trace_; }
    /// Full code of what was recorded, once.
    void write_code();

  private:
    explicit DebugTrace(const std::filesystem::path& folder)
        : folder_(folder), trace_(folder, RecordPolicy::always, false) {}

    const std::filesystem::path folder_;
    Trace trace_;
    bool written_ = false;
};

}  // namespace whittle::api
