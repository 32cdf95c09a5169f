// A progress line with an estimate of the time left: on a terminal only, so that logs and pipes stay clean.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace whittle::cli {

/// "00:07" or "1:02:03".
std::string clock_text(std::chrono::seconds duration);

/// "replay  [#########.......]  12/34  00:03 left  note", at most `width` columns. Without a total: "replay  12  note".
std::string progress_line(std::string_view label, std::size_t done, std::size_t total, std::chrono::seconds elapsed,
                          std::string_view note, std::size_t width);

class Progress {
  public:
    /// Draws on stderr when `enabled` (Shared::progress), else does nothing. `total` 0: unknown.
    Progress(std::string label, std::size_t total, bool enabled);
    /// Wipes the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Redraws at most ten times a second.
    void update(std::size_t done, std::string_view note = {});
    /// Wipes the line before something else is printed; the next update draws it again.
    void clear();

  private:
    std::string label_;
    std::size_t total_;
    bool enabled_, drawn_ = false;
    std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace whittle::cli
