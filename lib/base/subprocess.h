// Running other programs: argv lists (never a shell), limits on time, memory and output, whole process groups.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle {

struct ProcessOptions {
    std::optional<std::filesystem::path> folder = {};                   ///< working directory
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
    std::optional<std::chrono::milliseconds> timeout = {};  ///< wall clock; then TERM, 500 ms later KILL, to the group
    std::optional<std::size_t> memory_limit = {};           ///< bytes of address space (RLIMIT_AS)
    std::optional<std::chrono::seconds> cpu_limit = {};     ///< RLIMIT_CPU
    std::size_t output_limit = std::size_t(1) << 20;        ///< bytes kept of each stream; the rest is read and dropped
    bool inherit_output = false;                            ///< the child writes to our own stdout and stderr
    /// Off: the child stays in our group and whoever ends that ends it too; of what it leaves behind nothing is killed.
    bool own_group = true;
    std::string input = {};  ///< its standard input; empty is /dev/null
};

struct ProcessResult {
    int exit_code = -1;  ///< meaningful when signal == 0
    int signal = 0;      ///< the signal that ended it, else 0
    bool timed_out = false;
    bool out_of_memory = false;  ///< killed by SIGKILL under a memory limit without our having sent it
    std::string out, err;        ///< first output_limit bytes of each
    double seconds = 0;          ///< wall clock
};

/// Runs argv[0] (looked up in PATH) in a process group of its own and waits; every process left in the group is killed
/// when it returns, and it is killed when the calling thread ends. Throws Error when the program cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

/// The command as one line that a POSIX shell reads back as the same argv.
std::string shell_quote(const std::vector<std::string>& argv);

/// The words of a command line as a POSIX shell splits them: blanks, quotes and backslashes; nothing is expanded.
/// Throws Error for a quote that is not closed.
std::vector<std::string> shell_split(std::string_view line);

/// "SIGSEGV", or "signal 63" for one without a name.
std::string signal_name(int signal);

}  // namespace whittle
