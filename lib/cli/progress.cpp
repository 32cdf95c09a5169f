#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/terminal.h"

namespace whittle::cli {

using std::chrono::seconds;
using std::chrono::steady_clock;

std::optional<seconds> ProgressState::time_left() const {
    if (left || !total || !done || done >= total) return left;
    return elapsed * static_cast<long long>(total - done) / static_cast<long long>(done);
}

std::string clock_text(seconds duration) {
    const long long s = std::max<long long>(0, duration.count());
    char text[32];
    if (s >= 3600)
        std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        std::snprintf(text, sizeof text, "%02lld:%02lld", s / 60, s % 60);
    return text;
}

std::string progress_line(std::string_view label, const ProgressState& state, std::size_t width) {
    constexpr std::size_t kBar = 20;
    std::string line(label);
    const std::size_t done = state.total ? std::min(state.done, state.total) : state.done;
    if (state.total) {
        const std::size_t filled = done * kBar / state.total;
        line += "  [" + std::string(filled, '#') + std::string(kBar - filled, '.') + "]  " + std::to_string(done) +
                "/" + std::to_string(state.total);
    } else {
        line += "  " + std::to_string(done) + (state.unit.empty() ? "" : " ") + std::string(state.unit);
    }
    if (const auto left = state.time_left()) line += "  " + clock_text(*left) + " left";
    if (!state.note.empty()) line += "  " + std::string(state.note);
    return line.substr(0, width);
}

std::string progress_json(std::string_view label, const ProgressState& state) {
    nlohmann::ordered_json json = {{"program", label}, {"done", state.done}};
    if (state.total) json["total"] = state.total;
    if (!state.unit.empty()) json["unit"] = state.unit;
    json["seconds"] = state.elapsed.count();
    if (const auto left = state.time_left()) json["left"] = left->count();
    if (!state.note.empty()) json["note"] = state.note;
    return nlohmann::ordered_json{{"progress", json}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Between two lines of a log.
static std::optional<seconds> period_of(ProgressStyle style) {
    if (style == ProgressStyle::plain) return seconds(10);
    if (style == ProgressStyle::sparse) return seconds(60);
    return std::nullopt;
}

Progress::Progress(std::string label, std::size_t total, ProgressStyle style, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      style_(style),
      start_(steady_clock::now()),
      next_(start_) {
    next_ += period_of(style_).value_or(seconds(0));
}

Progress::~Progress() { clear(); }

void Progress::update(std::size_t done, std::string_view note, std::optional<steady_clock::time_point> end) {
    const auto now = steady_clock::now();
    const bool line = style_ == ProgressStyle::line;
    if (style_ == ProgressStyle::none || (now < next_ && (drawn_ || !line))) return;
    ProgressState state{.done = done, .total = total_, .unit = unit_, .note = note};
    state.elapsed = std::chrono::duration_cast<seconds>(now - start_);
    if (end) state.left = std::chrono::duration_cast<seconds>(*end - now);
    if (style_ == ProgressStyle::json) {
        next_ = now + seconds(1);
        std::fprintf(stderr, "%s\n", progress_json(label_, state).c_str());
    } else if (const auto period = period_of(style_)) {
        next_ = now + *period;
        std::fprintf(stderr, "%s\n", progress_line(label_, state, std::string::npos).c_str());
    } else {
        next_ = now + std::chrono::milliseconds(100);
        drawn_ = true;
        const std::size_t columns = terminal_columns(STDERR_FILENO);
        std::fprintf(stderr, "\r\033[K%s", progress_line(label_, state, (columns ? columns : 80) - 1).c_str());
    }
    std::fflush(stderr);
}

void Progress::clear() {
    if (!drawn_) return;
    drawn_ = false;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
}

}  // namespace whittle::cli
