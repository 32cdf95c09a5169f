// The log, as those know it that write beside it: hooks of output functions, and other processes.
#pragma once

#include <string>

namespace whittle {

/// Whether this thread is within the log, which holds its lock: who watches the C library's output functions neither
/// looks at what is written then, nor logs.
bool writing_log();

/// The file that the log is written to, absolute; empty where it is none. Other processes append to it: what
/// $WHITTLE_LOG_FILE names is never cut.
std::string log_file();

}  // namespace whittle
