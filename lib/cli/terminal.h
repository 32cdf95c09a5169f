// How wide the user's screen is.
#pragma once

#include <cstddef>

namespace whittle::cli {

/// What $COLUMNS says, else the terminal behind `fd`; 0 where neither limits a line: a file, a pipe.
std::size_t terminal_columns(int fd);

}  // namespace whittle::cli
