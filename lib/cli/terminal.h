// How wide the user's screen is, and standard streams that are closed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::cli {

/// What $COLUMNS says, else the terminal behind `fd`; 0 where neither limits a line: a file, a pipe.
std::size_t terminal_columns(int fd);

/// Standard streams that the caller closed: else the next file that is opened is one of them, and gets what we print.
/// Output fails as before, for they are opened the wrong way round; what is said on stderr is lost.
void occupy_closed_streams();

// Names of files as links that a terminal opens (OSC 8, as GCC, ls and ripgrep write them:
// https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).

/// Whether the descriptor is a terminal that is known to take links, for others may show them as garbage; or what
/// $FORCE_HYPERLINK says, 1 or 0, as other programs read it.
bool terminal_takes_links(int descriptor);

/// The line, where each word that is the name of a file that exists, with or without ":LINE" and ":COLUMN" behind it,
/// is a link to the file. What is within an escape sequence stays as it is.
std::string with_links(std::string_view line);

/// From now on lines of std::cout, of std::cerr are written so. Call each once.
void link_standard_output();
void link_standard_error();

}  // namespace whittle::cli
