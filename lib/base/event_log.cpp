#include "base/event_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <utility>

#include "base/files.h"
#include "base/number_text.h"

namespace whittle {
namespace {

/// As a JSON string; bytes that are not UTF-8 become U+FFFD.
std::string quoted(std::string_view text);

/// UTC, with microseconds: "2026-01-31T23:59:59.000001Z".
std::string now() {
    std::timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    std::tm utc{};
    ::gmtime_r(&time.tv_sec, &utc);
    char date[32], whole[80];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    std::snprintf(whole, sizeof whole, "%s.%06ldZ", date, time.tv_nsec / 1000);
    return whole;
}

/// Members that are texts.
using Members = std::initializer_list<std::pair<const char*, std::string_view>>;

std::string line(const char* kind, const Members& members, const std::string& rest = {}) {
    std::string text = R"({"time": ")" + now() + R"(", "process": )" + std::to_string(::getpid()) + R"(, "thread": )" +
                       std::to_string(::syscall(SYS_gettid)) + R"(, "kind": ")" + kind + '"';
    for (const auto& [name, value] : members) text += std::string(", \"") + name + "\": " + quoted(value);
    return text + rest + "}\n";
}

void put(int descriptor, const std::string& text) {
    // In one piece, since the file is appended to; the rest where a signal or a full disk cut it.
    for (std::size_t written = 0; written < text.size();) {
        const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        written += static_cast<std::size_t>(count);
    }
}

/// Whether somebody was killed while writing its last line.
bool is_cut(int descriptor) {
    struct stat status {};
    char last = '\n';
    return ::fstat(descriptor, &status) == 0 && status.st_size > 0 &&
           ::pread(descriptor, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

bool is_same_file(const std::string& file, int descriptor) {
    struct stat named {
    }, opened{};
    return ::stat(file.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/// Length of the UTF-8 sequence at the begin of `text`; 0: none. https://www.unicode.org/versions/latest/core-spec/
/// chapter 3, table 3-7.
std::size_t sequence(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF)
        return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
    if (first >= 0xF0 && first <= 0xF4)
        return follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
    return 0;
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    while (!text.empty()) {
        const std::size_t length = sequence(text);
        const char c = text[0];
        if (length == 0) {
            result += "\xEF\xBF\xBD";
        } else if (c == '"' || c == '\\') {
            (result += '\\') += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            result += escape;
        } else {
            result += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result + '"';
}

/// argv, as far as the system tells it.
std::string own_command() {
    std::string list;
    try {
        const std::string words = read_file("/proc/self/cmdline");
        for (std::size_t begin = 0; begin < words.size();) {
            const std::size_t end = std::min(words.find('\0', begin), words.size());
            list += (list.empty() ? "" : ", ") + quoted(std::string_view(words).substr(begin, end - begin));
            begin = end + 1;
        }
    } catch (const std::exception&) {  // no such file system
    }
    return '[' + list + ']';
}

}  // namespace

EventLog& EventLog::instance() {
    static EventLog* const log = new EventLog;  // leaked: threads may log while the process ends
    return *log;
}

/// No copy of this process starts while another thread holds the lock: the copy would wait for that thread forever.
void EventLog::keep_usable_in_copies() {
    static std::once_flag once;
    std::call_once(once, [] {
        ::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                         [] { instance().mutex_.unlock(); });
    });
}

void EventLog::open(const std::string& folder) {
    keep_usable_in_copies();
    const std::lock_guard lock(mutex_);
    std::string file = folder + "/log.jsonl";
    if (file == file_ && is_same_file(file, descriptor_)) return;  // else removed meanwhile
    const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (made < 0) return;
    if (is_cut(made)) put(made, "\n");
    file_ = std::move(file);
    put(made, line("process", {}, R"(, "command": )" + own_command()));
    if (descriptor_ < 0) {
        descriptor_ = made;
        return;
    }
    ::dup2(made, descriptor_);  // under the number that other threads are about to write to
    ::close(made);
}

std::string EventLog::file() const {
    const std::lock_guard lock(mutex_);
    return file_;
}

void EventLog::message(std::string_view channel, std::string_view level, std::string_view text) {
    put(descriptor_, line("message", {{"channel", channel}, {"level", level}, {"text", text}}));
}

void EventLog::artifact(std::string_view name, std::string_view title, std::string_view text) {
    put(descriptor_, line("artifact", {{"artifact", name}, {"title", title}, {"text", text}}));
}

void EventLog::step(std::string_view step, std::string_view event, std::string_view title, double seconds) {
    const std::string rest = event == "begin" ? "" : ", \"seconds\": " + fixed(seconds, 6);
    put(descriptor_, line("step", {{"step", step}, {"event", event}, {"title", title}}, rest));
}

}  // namespace whittle
