#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal.h"

namespace whittle::cli {

std::string clock_text(std::chrono::seconds duration) {
    const long long s = std::max<long long>(0, duration.count());
    char text[32];
    if (s >= 3600)
        std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        std::snprintf(text, sizeof text, "%02lld:%02lld", s / 60, s % 60);
    return text;
}

std::string progress_line(std::string_view label, std::size_t done, std::size_t total, std::chrono::seconds elapsed,
                          std::string_view note, std::size_t width) {
    constexpr std::size_t kBar = 20;
    std::string line(label);
    if (total) {
        done = std::min(done, total);
        const std::size_t filled = done * kBar / total;
        line += "  [" + std::string(filled, '#') + std::string(kBar - filled, '.') + "]  " + std::to_string(done) +
                "/" + std::to_string(total);
        if (done && done < total) {
            const auto left = elapsed.count() * static_cast<long long>(total - done) / static_cast<long long>(done);
            line += "  " + clock_text(std::chrono::seconds(left)) + " left";
        }
    } else {
        line += "  " + std::to_string(done);
    }
    if (!note.empty()) line += "  " + std::string(note);
    return line.substr(0, width);
}

Progress::Progress(std::string label, std::size_t total, bool enabled)
    : label_(std::move(label)), total_(total), enabled_(enabled), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::update(std::size_t done, std::string_view note) {
    if (!enabled_) return;
    const auto now = std::chrono::steady_clock::now();
    if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    drawn_ = true;
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - start_);
    const std::size_t columns = terminal_columns(STDERR_FILENO);
    const std::string line = progress_line(label_, done, total_, elapsed, note, (columns ? columns : 80) - 1);
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
}

void Progress::clear() {
    if (!enabled_ || !drawn_) return;
    drawn_ = false;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
}

}  // namespace whittle::cli
