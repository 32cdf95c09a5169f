// How far a long run is: one line that is redrawn on a terminal, lines for a log, or JSON for programs.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::cli {

enum class ProgressStyle {
    none,
    line,    ///< on a terminal
    plain,   ///< a line every ten seconds
    sparse,  ///< a line every minute
    json     ///< {"progress": {"program", "done", "total", "unit", "seconds", "left", "note"}} on a line, once a second
};

/// What is done of how much. `total` 0: unknown. `left`: known otherwise than from the pace.
struct ProgressState {
    std::size_t done = 0, total = 0;
    std::chrono::seconds elapsed = {};
    std::optional<std::chrono::seconds> left = {};
    std::string_view unit = {}, note = {};

    /// Also by the pace so far; nothing when neither is known.
    std::optional<std::chrono::seconds> time_left() const;
};

/// "00:07" or "1:02:03".
std::string clock_text(std::chrono::seconds duration);

/// "replay  [#########.......]  12/34  00:03 left  note", at most `width` columns. Without a total: "minify  12 queries
/// note".
std::string progress_line(std::string_view label, const ProgressState& state, std::size_t width);
/// The same for programs. Without what is not known.
std::string progress_json(std::string_view label, const ProgressState& state);

class Progress {
  public:
    /// On stderr. `total` 0: unknown. `unit`: what is counted, in the plural.
    Progress(std::string label, std::size_t total, ProgressStyle style, std::string unit);
    /// Wipes the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Shows it as often as the style has it. `end`: when the run stops at the latest.
    void update(std::size_t done, std::string_view note = {},
                std::optional<std::chrono::steady_clock::time_point> end = {});
    /// Wipes the line before something else is printed; the next update draws it again.
    void clear();

  private:
    std::string label_, unit_;
    std::size_t total_;
    ProgressStyle style_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point start_, next_;
};

}  // namespace whittle::cli
