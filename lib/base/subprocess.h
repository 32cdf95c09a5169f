// Running other programs: argv lists (never a shell), limits on time, memory and output, whole process groups.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
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
    /// Bytes of address space of each process (RLIMIT_AS), and of memory that it and all that it starts hold together.
    std::optional<std::size_t> memory_limit = {};
    std::optional<std::size_t> resident_limit = {};      ///< the second of these alone, or another one
    std::optional<std::chrono::seconds> cpu_limit = {};  ///< processor time of each process (RLIMIT_CPU), and of all
    /// Bytes kept of each stream, half of its beginning and half of its end; of the rest only the count is told.
    std::size_t output_limit = std::size_t(1) << 20;
    bool inherit_errors = false;  ///< the child writes to our own stderr
    bool inherit_output = false;  ///< the child writes to our own stdout and stderr
    /// Off: the child stays in our group and whoever ends that ends it too; of what it leaves behind nothing is killed.
    bool own_group = true;
    std::filesystem::path remove_if_killed = {};  ///< a folder that goes with the child when we are killed
    std::string input = {};                       ///< its standard input; empty is /dev/null
};

struct ProcessResult {
    int exit_code = -1;  ///< meaningful when signal == 0
    int signal = 0;      ///< the signal that ended it, else 0
    bool timed_out = false;
    bool cpu_exceeded = false;   ///< ended by the limit of processor time
    bool out_of_memory = false;  ///< killed by SIGKILL under a memory limit without our having sent it
    std::string out, err;        ///< as output_limit has them
    double seconds = 0;          ///< wall clock
};

/// Runs argv[0] (looked up in PATH) in a session and process group of its own and waits. Every process that it leaves
/// behind is killed, daemons too, and all of them when the calling thread ends or we are killed. Throws Error when the
/// program cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

/// As run_process, but what runs is `work` in a copy of this process, warm with all that it has loaded; what it returns
/// is the exit code, and it must not throw.
ProcessResult run_forked(const std::function<int()>& work, const ProcessOptions& options = {});

/// The command as one line that a POSIX shell reads back as the same argv.
std::string shell_quote(const std::vector<std::string>& argv);

/// The words of a command line as a POSIX shell splits them: blanks, quotes and backslashes; nothing is expanded.
/// Throws Error for a quote that is not closed.
std::vector<std::string> shell_split(std::string_view line);

/// "SIGSEGV", or "signal 63" for one without a name.
std::string signal_name(int signal);

}  // namespace whittle
