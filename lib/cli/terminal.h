// How wide the user's screen is, and standard streams that are closed.
#pragma once

#include <cstddef>

namespace whittle::cli {

/// What $COLUMNS says, else the terminal behind `fd`; 0 where neither limits a line: a file, a pipe.
std::size_t terminal_columns(int fd);

/// Standard streams that the caller closed: else the next file that is opened is one of them, and gets what we print.
/// Output fails as before, for they are opened the wrong way round; what is said on stderr is lost.
void occupy_closed_streams();

}  // namespace whittle::cli
