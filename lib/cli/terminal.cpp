#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/number_text.h"

namespace whittle::cli {

std::size_t terminal_columns(int fd) {
    constexpr std::size_t kLeast = 20;  // nothing sensible fits less
    if (const char* given = std::getenv("COLUMNS"))
        if (const auto columns = number_of<std::size_t>(given); columns && *columns >= kLeast) return *columns;
    winsize size{};
    return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeast ? size.ws_col : 0;
}

void occupy_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
            ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);  // the lowest that is free: `stream`
}

namespace fs = std::filesystem;

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// What stands between words: names with other characters in them are not found.
bool parts_words(char c) { return std::string_view(" \t\n\"'`(),;[]{}<>|\033").find(c) != std::string_view::npos; }

/// The name in "NAME:12:3", "NAME:" or "NAME.".
std::string_view file_in(std::string_view word) {
    while (!word.empty() && (word.back() == ':' || word.back() == '.')) word.remove_suffix(1);
    for (int numbers = 0; numbers < 2; ++numbers) {
        const std::size_t colon = word.rfind(':');
        if (colon == word.npos || colon + 1 == word.size() || !std::ranges::all_of(word.substr(colon + 1), is_digit))
            break;
        word = word.substr(0, colon);
    }
    return word;
}

bool is_file(std::string_view name) {
    if (name.find_first_of("./") == name.npos) return false;  // "main" is rather a function
    std::error_code ignored;
    return fs::is_regular_file(fs::path(name), ignored);
}

/// As the path of a URI: https://www.rfc-editor.org/rfc/rfc3986 section 3.3.
std::string escaped(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (std::isalnum(static_cast<unsigned char>(c)) ||
            std::string_view("/-._~").find(c) != std::string_view::npos) {
            text += c;
            continue;
        }
        char hex[4];
        std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += hex;
    }
    return text;
}

std::string link(std::string_view shown, std::string_view file) {
    static const std::string host = host_name();
    const std::string path = fs::absolute(fs::path(file)).lexically_normal().string();
    return "\033]8;;file://" + host + escaped(path) + "\033\\" + std::string(shown) + "\033]8;;\033\\";
}

/// Length of the escape sequence at the begin of `text`: ECMA-48, section 5.4.
std::size_t sequence(std::string_view text) {
    if (text.size() < 2 || text[1] != '[') return std::min<std::size_t>(text.size(), 2);
    std::size_t end = 2;
    while (end < text.size() && (text[end] < 0x40 || text[end] > 0x7E)) ++end;
    return std::min(end + 1, text.size());
}

/// Holds back the line that is being written. What is flushed before its end goes out as it is.
class Linker final : public std::streambuf {
  public:
    explicit Linker(std::streambuf& to) : to_(to) {}

  protected:
    int_type overflow(int_type c) override {
        if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
        line_ += traits_type::to_char_type(c);
        if (line_.back() != '\n') return c;
        return write(with_links(line_)) ? c : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        for (std::streamsize i = 0; i < size; ++i)
            if (traits_type::eq_int_type(overflow(traits_type::to_int_type(text[i])), traits_type::eof())) return i;
        return size;
    }
    int sync() override { return write(line_) ? to_.pubsync() : -1; }

  private:
    bool write(const std::string& text) {
        const auto size = static_cast<std::streamsize>(text.size());
        const bool written = to_.sputn(text.data(), size) == size;
        line_.clear();
        return written;
    }

    std::streambuf& to_;
    std::string line_;
};

}  // namespace

bool terminal_takes_links(int descriptor) {
    const auto is_set = [](const char* name) {
        const char* value = std::getenv(name);
        return value && *value;
    };
    if (is_set("FORCE_HYPERLINK")) return std::string_view(std::getenv("FORCE_HYPERLINK")) != "0";
    const char* terminal = std::getenv("TERM");
    if (!::isatty(descriptor) || !terminal || std::string_view(terminal) == "dumb") return false;
    const std::string_view name = terminal;
    return is_set("VTE_VERSION") || is_set("WT_SESSION") || is_set("KONSOLE_VERSION") || is_set("WEZTERM_PANE") ||
           is_set("TERM_PROGRAM") || name == "xterm-kitty" || name == "foot" || name == "alacritty";
}

std::string with_links(std::string_view line) {
    std::string text;
    while (!line.empty()) {
        if (parts_words(line[0])) {
            const std::size_t skipped = line[0] == '\033' ? sequence(line) : 1;
            text += line.substr(0, skipped);
            line.remove_prefix(skipped);
            continue;
        }
        const auto end = std::ranges::find_if(line, parts_words);
        const std::string_view word = line.substr(0, static_cast<std::size_t>(end - line.begin()));
        const std::string_view file = file_in(word);
        text += is_file(file) ? link(word, file) : std::string(word);
        line.remove_prefix(word.size());
    }
    return text;
}

void link_standard_output() {
    static auto* const linker = new Linker(*std::cout.rdbuf());  // leaked: std::cout is flushed at the very end
    std::cout.rdbuf(linker);
}

void link_standard_error() {
    static auto* const linker = new Linker(*std::cerr.rdbuf());
    std::cerr.unsetf(std::ios::unitbuf);  // which would flush each piece of a line; lines go out at their end
    std::cerr.rdbuf(linker);
}

}  // namespace whittle::cli
