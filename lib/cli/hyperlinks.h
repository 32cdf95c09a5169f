// Names of files as links that a terminal opens (OSC 8, as GCC, ls and ripgrep write them:
// https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
#pragma once

#include <string>
#include <string_view>

namespace whittle::cli {

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
