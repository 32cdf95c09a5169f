#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/guard.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory_file.h"
#include "base/process.h"
#include "base/turn.h"
#include "base/words.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;

/// The folders of PATH.
std::vector<std::filesystem::path> search_path() {
    const char* path = std::getenv("PATH");
    const std::vector<std::string> folders = split(path ? path : "/bin:/usr/bin", ':');
    return {folders.begin(), folders.end()};
}

/// Standard input as a file of its own: the child may seek in it, and nobody blocks or gets SIGPIPE feeding it.
Descriptor input_file(const std::string& program, std::string_view input) {
    if (input.empty()) {
        Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!null.open()) fail_process(program, "open /dev/null for", errno);
        return null;
    }
    Descriptor file(::memfd_create("whittle-input", MFD_CLOEXEC));
    if (!file.open()) fail_process(program, "make the input of", errno);
    while (!input.empty()) {
        const ssize_t written = ::write(file.get(), input.data(), input.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail_process(program, "write the input of", errno);
        input.remove_prefix(static_cast<std::size_t>(written));
    }
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

/// A pipe with `input` in it, which must not be more than a pipe holds.
Pipe held_input(const std::string& program, std::string_view input) {
    Pipe pipe(program);
    if (::write(pipe.write.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size()))
        fail_process(program, "write the input of", errno);
    return pipe;
}

/// Reads both streams until the guard says that all is over.
void capture(Guard& guard, Stream& out, Stream& err) {
    for (bool told = false;;) {
        pollfd waits[3] = {{guard.news(), POLLIN, 0},
                           {out.descriptor(), POLLIN, 0},  // a closed one is -1, which poll ignores
                           {err.descriptor(), POLLIN, 0}};
        const int ready = [&] {
            const TurnPause others;
            return ::poll(waits, 3, kGlance);
        }();
        if (ready < 0 && errno != EINTR) fail_process("the guard", "wait for", errno);
        if (waits[1].revents) out.read_some();
        if (waits[2].revents) err.read_some();
        if (guard.over()) break;
        if (!told_to_stop() || told) continue;
        guard.stop();
        told = true;
    }
    out.drain();
    err.drain();
}

/// `work` in a guarded process; its captured output and its end.
ProcessResult run_guarded(const std::string& program, const ProcessOptions& options, const GuardedWork& work) {
    throw_if_interrupted();
    const Clock::time_point start = Clock::now();
    std::optional<Pipe> held;
    if (options.hold_input) held = held_input(program, options.input);
    Descriptor input = held ? std::move(held->read) : input_file(program, options.input);
    Pipe out(program), err(program);
    GuardStreams streams{.in = input.get()};
    if (!options.inherit_output) streams.out = out.write.get();
    if (!options.inherit_output && !options.inherit_errors) streams.err = err.write.get();
    Guard guard(options, streams, work);
    const CleanUpScope scope(options.own_group ? guard.pid() : 0);
    for (Descriptor* given : {&input, &out.write, &err.write}) given->reset();
    Stream printed(std::move(out.read), options.output_limit), errors(std::move(err.read), options.output_limit);
    capture(guard, printed, errors);
    const GuardReport& report = guard.wait();
    throw_if_interrupted();
    expect_start(report, program, options);
    ProcessResult result = result_of(report, options);
    if (result.left_behind)
        log_warning(LogChannel::run, "'" + program + "' (process " + std::to_string(result.left_behind) +
                                         "), or one of its child processes, is still running: SIGKILL does not end a "
                                         "process that hangs in the kernel");
    result.out = printed.text();
    result.err = errors.text();
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
    if (argv.empty() || argv[0].empty()) throw Error("found an empty command, expected a program to run");
    const Launch launch(argv, options);
    return run_guarded(argv[0], options, [&](int pipe) { launch.become(pipe); });
}

ProcessResult run_forked(const std::function<int()>& work, const ProcessOptions& options) {
    std::fflush(nullptr);  // or the child would print what we have buffered once more
    const MemoryFile log;  // a pipe would have to be read while it crashes
    const auto relay = [&] { log.read(relay_log); };
    try {
        ProcessResult result = run_guarded("a copy of this process", options, [&](int pipe) {
            ::close(pipe);
            send_log_to(log.descriptor());
            handle_interrupts_in_child();
            if (options.folder && ::chdir(options.folder->c_str()) != 0) ::_exit(127);
            for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
            ::_exit(work());
        });
        relay();
        return result;
    } catch (...) {
        relay();
        throw;
    }
}

ForkedAnswer ask_forked(const std::function<std::string()>& work, const ProcessOptions& options) {
    const MemoryFile file;
    ForkedAnswer asked;
    asked.process = run_forked([&] { return file.write(work()) ? 0 : 1; }, options);
    file.read([&](std::string_view bytes) { asked.answer = bytes; });
    return asked;
}

std::size_t resident_memory() {
    std::size_t mapped = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> mapped >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

EndedFromOutside::EndedFromOutside(const ProcessResult& process)
    : std::runtime_error(ending_of(process) +
                         ": a signal that Whittle did not send (the kernel sends SIGKILL if memory runs out)") {}

std::string ending_of(const ProcessResult& process) {
    if (process.timed_out) return "did not end in time";
    if (process.signal != 0) return "was killed by " + signal_name(process.signal);
    return "exited with " + std::to_string(process.exit_code);
}

std::vector<std::string> with_file(std::vector<std::string> argv, const std::string& file) {
    const bool placed = std::ranges::any_of(argv, [](const std::string& word) { return word.find("{}") != word.npos; });
    for (std::string& word : argv) word = replaced(std::move(word), "{}", file);
    if (!placed) argv.push_back(file);
    return argv;
}

std::string shell_quote(const std::vector<std::string>& argv) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%^";
    std::string line;
    for (const std::string& word : argv) {
        if (!line.empty()) line += ' ';
        // A leading '=' or NAME= would be an assignment before a command; quoting is always right.
        const bool assignment = &word == argv.data() && word.find('=') != std::string::npos;
        if (!word.empty() && !assignment && word.find_first_not_of(plain) == std::string::npos) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

std::vector<std::string> shell_split(std::string_view line) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
            // Inside "" a backslash is itself, except before these.
            if (quote && std::string_view("$`\"\\").find(line[i + 1]) == std::string_view::npos) words.back() += c;
            words.back() += line[++i];
        } else {
            words.back() += c;
        }
    }
    if (quote) throw Error({"command '" + std::string(line) + "'", {}}, std::string("found no closing ") + quote);
    return words;
}

std::optional<std::filesystem::path> program_path(const std::string& name) {
    namespace fs = std::filesystem;
    const auto runs = [](const fs::path& file) {
        std::error_code ignored;
        return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos) return runs(name) ? std::optional<fs::path>(name) : std::nullopt;
    for (const fs::path& folder : search_path())
        if (fs::path file = folder / name; runs(file)) return file;
    return std::nullopt;
}

bool is_on_path(const std::filesystem::path& program) {
    return std::ranges::any_of(search_path(), [&](const std::filesystem::path& folder) {
        std::error_code ignored;
        return std::filesystem::equivalent(folder, program.parent_path(), ignored);
    });
}

std::vector<std::filesystem::path> files_named(const std::vector<std::string>& argv) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    const auto add = [&](const fs::path& file) {
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored)) files.push_back(file);
    };
    if (!argv.empty() && argv[0].find('/') == std::string::npos)
        if (const auto program = program_path(argv[0])) files.push_back(*program);
    for (const std::string& word : argv) {
        add(word);
        if (const std::size_t equal = word.find('='); equal != std::string::npos) add(word.substr(equal + 1));
    }
    return files;
}

std::string signal_name(int signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    return abbreviation ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal);
}

}  // namespace whittle
