#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace whittle::cli {

std::size_t terminal_columns(int fd) {
    constexpr std::size_t kLeast = 20;  // nothing sensible fits less
    if (const char* given = std::getenv("COLUMNS")) {
        const std::string_view text(given);
        std::size_t columns = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), columns);
        if (status == std::errc() && end == text.data() + text.size() && columns >= kLeast) return columns;
    }
    winsize size{};
    return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeast ? size.ws_col : 0;
}

void occupy_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
            ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);  // the lowest that is free: `stream`
}

}  // namespace whittle::cli
