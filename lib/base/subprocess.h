// Running other programs: argv lists (never a shell), limits on time, memory and output, whole process groups.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle {

struct ProcessOptions {
    std::optional<std::filesystem::path> folder = {};                   ///< working directory
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
    std::optional<std::chrono::milliseconds> timeout = {};  ///< wall clock; then TERM, 500 ms later KILL, to the group
    /// Bytes of memory that it and all that it starts hold together; what they share counts once. Address space is
    /// free: sanitizers and compilers reserve terabytes of it.
    std::optional<std::size_t> memory_limit = {};
    /// Bytes that it may share with us without their counting: a copy of this process shares all that we hold.
    std::size_t shared_memory = 0;
    std::optional<std::chrono::seconds> cpu_limit = {};  ///< processor time of each process (RLIMIT_CPU), and of all
    /// Bytes kept of each stream, half of its beginning and half of its end; of the rest only the count is told.
    std::size_t output_limit = std::size_t(1) << 20;
    bool inherit_errors = false;  ///< the child writes to our own stderr
    bool inherit_output = false;  ///< the child writes to our own stdout and stderr
    /// Off: the child stays in our group and whoever ends that ends it too; of what it leaves behind nothing is killed.
    bool own_group = true;
    std::filesystem::path remove_if_killed = {};  ///< a folder that goes with the child when we are killed
    std::string input = {};                       ///< its standard input; empty is /dev/null
    /// Its standard input is a pipe that says `input` and then stays open for as long as we wait: at its end it sees
    /// that nobody waits any more, on another machine too.
    bool hold_input = false;
    std::chrono::milliseconds unkillable{10000};  ///< after KILL; then it hangs in the kernel and is left behind
    /// How it is signalled. For tests: one that keeps KILL back makes a process that cannot die.
    int (*send_signal)(pid_t, int) = ::kill;
};

struct ProcessResult {
    int exit_code = -1;  ///< meaningful when signal == 0
    int signal = 0;      ///< the signal that ended it, else 0
    bool timed_out = false;
    bool cpu_exceeded = false;   ///< ended by the limit of processor time
    bool out_of_memory = false;  ///< ended by the limit of memory
    /// Ended by a signal that asks for the end (KILL, TERM …) and that neither we nor a limit of ours sent: the
    /// kernel's memory killer, a person, a batch system. Says nothing of the program.
    bool ended_from_outside = false;
    pid_t left_behind = 0;  ///< what did not die of KILL; 0: nothing
    std::string out, err;   ///< as output_limit has them
    double seconds = 0;     ///< wall clock

    bool good() const { return signal == 0 && exit_code == 0; }
};

/// Where a process that others depend on was ended from outside: no answer, and nobody's fault.
class EndedFromOutside final : public std::runtime_error {
  public:
    explicit EndedFromOutside(const ProcessResult& process);
};

/// "was killed by SIGSEGV", "exited with 3", "did not end in time".
std::string ending_of(const ProcessResult& process);

/// Runs argv[0] (looked up in PATH) in a session and process group of its own and waits. Every process that it leaves
/// behind is killed, daemons too, and all of them when the calling thread ends or we are killed. Throws Error when the
/// program cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

/// As run_process, but what runs is `work` in a copy of this process, warm with all that it has loaded; what it returns
/// is the exit code, and it must not throw. What it logs is logged here when it has ended, by a crash too.
ProcessResult run_forked(const std::function<int()>& work, const ProcessOptions& options = {});

/// As run_forked, for work that has an answer, which may be of any size. Where the copy did not come to its end the
/// answer may be cut short.
struct ForkedAnswer {
    ProcessResult process;
    std::string answer;
};
ForkedAnswer ask_forked(const std::function<std::string()>& work, const ProcessOptions& options = {});
/// Bytes of memory that this process has in use: what a copy of it shares.
std::size_t resident_memory();

/// The command as one line that a POSIX shell reads back as the same argv.
std::string shell_quote(const std::vector<std::string>& argv);
/// The command with the file in the place of each "{}"; behind the command, where there is none.
std::vector<std::string> with_file(std::vector<std::string> argv, const std::string& file);

/// The words of a command line as a POSIX shell splits them: blanks, quotes and backslashes; nothing is expanded.
/// Throws Error for a quote that is not closed.
std::vector<std::string> shell_split(std::string_view line);

/// The file that execvp() would run for `name`: by its path, or found in PATH.
std::optional<std::filesystem::path> program_path(const std::string& name);
/// The program lies in a folder of PATH, where a shell may find another one of its name first.
bool is_on_path(const std::filesystem::path& program);

/// The files that decide what a command does, as far as its words name them: the program (as PATH finds it), and each
/// word, or what follows a '=' in it, that is a file.
std::vector<std::filesystem::path> files_named(const std::vector<std::string>& argv);

/// "SIGSEGV", or "signal 63" for one without a name.
std::string signal_name(int signal);

}  // namespace whittle
