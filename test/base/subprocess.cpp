#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "base/error.h"
#include "base/files.h"

using namespace whittle;
using namespace std::chrono_literals;

namespace {

ProcessResult shell(const std::string& script, const ProcessOptions& options = {}) {
    return run_process({"/bin/sh", "-c", script}, options);
}

/// A pipe whose write end children inherit: its read end sees the end of file when the last of them is gone.
struct Heartbeat {
    int ends[2];
    Heartbeat() { REQUIRE(::pipe(ends) == 0); }
    ~Heartbeat() { ::close(ends[0]); }
    bool all_gone() {
        ::close(ends[1]);
        pollfd wait{ends[0], POLLIN, 0};
        return ::poll(&wait, 1, 20000) == 1 && (wait.revents & POLLHUP);
    }
};

}  // namespace

TEST_CASE("a program's output and exit code come back") {
    const ProcessResult result = shell("echo out; echo err >&2; exit 7");
    CHECK(result.exit_code == 7);
    CHECK(result.signal == 0);
    CHECK(result.out == "out\n");
    CHECK(result.err == "err\n");
    CHECK_FALSE(result.timed_out);
    CHECK(result.seconds >= 0);
}

TEST_CASE("arguments reach the program as they are") {
    const std::vector<std::string> hostile = {"$(exit 3)", "a b", "'", "\"", "", "*", "\n"};
    std::vector<std::string> argv = {"printf", "[%s]"};
    argv.insert(argv.end(), hostile.begin(), hostile.end());
    std::string expected;
    for (const std::string& word : hostile) expected += "[" + word + "]";
    CHECK(run_process(argv).out == expected);
    // And through a shell, once quoted.
    CHECK(shell(shell_quote(argv)).out == expected);
}

TEST_CASE("shell_quote leaves plain words alone") {
    CHECK(shell_quote({"g++", "-O1", "a.cpp", "-DX=1"}) == "g++ -O1 a.cpp -DX=1");
    CHECK(shell_quote({"A=b", "it's"}) == "'A=b' 'it'\\''s'");
}

TEST_CASE("shell_split is the inverse of shell_quote, and reads what people write") {
    const std::vector<std::string> words = {"a b", "", "it's", "\"q\"", "\\", "$x", "--plain=1", "tab\there"};
    CHECK(shell_split(shell_quote(words)) == words);
    CHECK(shell_split("  run 'a  b'  \"c \\\" \\d\" e\\ f g''h \"\" ") ==
          std::vector<std::string>{"run", "a  b", "c \" \\d", "e f", "gh", ""});
    CHECK(shell_split("").empty());
    CHECK_THROWS_WITH(shell_split("run 'x"), Catch::Contains("no closing '"));
}

TEST_CASE("signals have their usual names") {
    CHECK(signal_name(SIGSEGV) == "SIGSEGV");
    CHECK(signal_name(63) == "signal 63");
}

TEST_CASE("a child without a group of its own stays in ours") {
    ProcessOptions options;
    options.own_group = false;
    options.timeout = 50ms;
    const ProcessResult result = shell("exec sleep 1000", options);
    CHECK(result.timed_out);
    CHECK(result.signal == SIGTERM);
    ProcessOptions plain;
    plain.own_group = false;
    CHECK(shell("cut -d' ' -f5 /proc/$$/stat", plain).out == std::to_string(::getpgrp()) + "\n");
    CHECK(shell("cut -d' ' -f5 /proc/$$/stat").out != std::to_string(::getpgrp()) + "\n");
}

TEST_CASE("a program that cannot be started is an Error") {
    CHECK_THROWS_WITH(run_process({"/no/such/program"}), Catch::Contains("cannot run '/no/such/program'"));
    CHECK_THROWS_WITH(run_process({"/etc/passwd"}), Catch::Contains("Permission denied"));
    CHECK_THROWS_AS(run_process({}), Error);
    ProcessOptions options;
    options.folder = "/no/such/folder";
    CHECK_THROWS_WITH(shell("true", options), Catch::Contains("/no/such/folder"));
}

TEST_CASE("folder, environment and input are the child's own") {
    TempDir folder;
    ProcessOptions options;
    options.folder = folder.path();
    options.environment = {{"WHITTLE_TEST_VALUE", "first line\nsecond"}, {"HOME", "/elsewhere"}};
    options.input = "to be read";
    const ProcessResult result = shell("pwd; echo \"$WHITTLE_TEST_VALUE\"; echo $HOME; cat", options);
    CHECK(result.out ==
          std::filesystem::canonical(folder.path()).string() + "\nfirst line\nsecond\n/elsewhere\nto be read");
    CHECK(shell("cat; echo end").out == "end\n");  // no input is /dev/null, not our terminal
}

TEST_CASE("large input and output do not deadlock") {
    ProcessOptions options;
    options.input = std::string(3 << 20, 'x');
    options.output_limit = 4 << 20;
    CHECK(shell("cat", options).out == options.input);
    CHECK(shell("exit 0", options).exit_code == 0);  // never reads it
}

TEST_CASE("of output beyond the limit the beginning, the end and a note are kept") {
    ProcessOptions options;
    options.output_limit = 1000;
    const ProcessResult result =
        shell("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo last; echo done >&2", options);
    CHECK(result.out.substr(0, 10) == "first\nxxxx");
    CHECK(result.out.substr(result.out.size() - 10) ==
          "xxxxx"
          "last\n");
    CHECK(result.out.find("x\n[... 4999011 bytes left out ...]\nx") == 500 - 1);
    CHECK(result.err == "done\n");
    CHECK(result.exit_code == 0);
    options.output_limit = 5;
    CHECK(shell("printf 12345", options).out == "12345");
}

TEST_CASE("a signal is told apart from an exit code") {
    const ProcessResult result = shell("kill -SEGV $$");
    CHECK(result.signal == SIGSEGV);
    CHECK_FALSE(result.out_of_memory);
}

TEST_CASE("a timeout ends the whole group") {
    Heartbeat heartbeat;
    ProcessOptions options;
    options.timeout = 100ms;
    const ProcessResult result = shell("sleep 1000 & sleep 1000", options);
    CHECK(result.timed_out);
    CHECK(result.signal == SIGTERM);
    CHECK(heartbeat.all_gone());
}

TEST_CASE("a program that ignores TERM is killed") {
    ProcessOptions options;
    options.timeout = 2s;  // time enough to reach the trap, whatever else the machine does
    const ProcessResult result = shell("trap '' TERM; while :; do sleep 1000; done", options);
    CHECK(result.timed_out);
    CHECK(result.signal == SIGKILL);
    CHECK_FALSE(result.out_of_memory);
}

TEST_CASE("children left behind are killed, and do not hold up the result") {
    Heartbeat heartbeat;
    const ProcessResult result = shell("sleep 1000 & echo started");
    CHECK(result.out == "started\n");
    CHECK(result.exit_code == 0);
    CHECK(heartbeat.all_gone());
}

TEST_CASE("the memory limit is the child's") {
    ProcessOptions options;
    options.memory_limit = std::size_t(256) << 20;
    const ProcessResult small = shell("echo fits", options);
    CHECK(small.out == "fits\n");
    // dd wants its block in one piece.
    const ProcessResult large = run_process({"dd", "if=/dev/zero", "of=/dev/null", "bs=1G", "count=1"}, options);
    CHECK(large.exit_code != 0);
    CHECK(large.err.find("memory") != std::string::npos);
}

TEST_CASE("a SIGKILL that we did not send under a memory limit counts as out of memory") {
    ProcessOptions options;
    options.memory_limit = std::size_t(4) << 30;
    CHECK(shell("kill -KILL $$", options).out_of_memory);
    CHECK_FALSE(shell("kill -KILL $$").out_of_memory);
}

TEST_CASE("the processor time limit ends a busy program, whatever it ignores") {
    ProcessOptions options;
    options.cpu_limit = 1s;
    const ProcessResult result = shell("trap '' XCPU; while :; do :; done", options);
    CHECK(result.signal == SIGKILL);
    CHECK(result.cpu_exceeded);
    CHECK_FALSE(result.timed_out);
    CHECK_FALSE(result.out_of_memory);
    options.memory_limit = std::size_t(4) << 30;
    CHECK(shell("(while :; do :; done); exit $?", options).cpu_exceeded);
    CHECK_FALSE(shell("exit 152").cpu_exceeded);
}

TEST_CASE("the memory that a process holds can be watched where its address space cannot be limited") {
    ProcessOptions options;
    options.resident_limit = std::size_t(64) << 20;
    // dd touches its block, and then waits for input that never comes.
    const ProcessResult result = shell("exec dd if=/dev/zero of=/dev/null bs=200M count=1000000 2>/dev/null", options);
    CHECK(result.out_of_memory);
    CHECK(shell("exec true", options).exit_code == 0);
}

TEST_CASE("limits of memory and processor time hold for all processes together") {
    ProcessOptions memory{.timeout = 60s};
    memory.resident_limit = std::size_t(400) << 20;  // each holds 150 MB: dd touches its block, and waits
    const std::string hold = "dd if=/dev/zero of=/dev/null bs=150M count=1000000 2>/dev/null & ";
    CHECK(shell(hold + hold + hold + hold + "wait", memory).out_of_memory);
    ProcessOptions cpu{.timeout = 60s, .cpu_limit = 2s};
    // None of them comes to two seconds: each ends itself after one.
    const std::string burn = "(ulimit -t 1; while :; do :; done) & ";
    const ProcessResult burnt = shell(burn + burn + burn + burn + burn + burn + "sleep 1000", cpu);
    CHECK(burnt.cpu_exceeded);
    CHECK_FALSE(burnt.timed_out);
    CHECK_FALSE(burnt.out_of_memory);
}

TEST_CASE("daemons that left the session are killed too") {
    Heartbeat heartbeat;
    const ProcessResult result =
        shell("setsid sh -c 'trap \"\" TERM HUP; setsid sleep 1000 & sleep 1000' & (sleep 1000 &) ; echo started");
    CHECK(result.out == "started\n");
    CHECK(heartbeat.all_gone());
}

TEST_CASE("a child that closes everything or kills its keeper harms nobody") {
    CHECK(shell("exec 0<&- 1>&- 2>&-; sleep 0.05; exit 3").exit_code == 3);
    Heartbeat heartbeat;
    const ProcessResult result = shell("sleep 1000 & kill -9 $PPID; sleep 1000");
    CHECK(result.signal == SIGKILL);
    CHECK(heartbeat.all_gone());
}

TEST_CASE("when we are killed, what we run and its folder go") {
    Heartbeat heartbeat;
    const TempDir outer;
    const std::filesystem::path inner = outer.path() / "query";
    std::filesystem::create_directory(inner);
    const pid_t user = ::fork();
    if (user == 0) {
        ::close(heartbeat.ends[0]);
        ProcessOptions options;
        options.remove_if_killed = inner;
        shell("setsid sleep 1000 & touch " + (inner / "started").string() + "; sleep 1000", options);
        ::_exit(0);
    }
    while (!std::filesystem::exists(inner / "started")) ::usleep(1000);
    ::kill(user, SIGKILL);
    ::waitpid(user, nullptr, 0);
    CHECK(heartbeat.all_gone());
    for (int i = 0; i < 5000 && std::filesystem::exists(inner); ++i) ::usleep(1000);
    CHECK_FALSE(std::filesystem::exists(inner));
}

TEST_CASE("work in a copy of this process: its result, its output, its end") {
    ProcessOptions options;
    options.environment = {{"WHITTLE_TEST_VALUE", "seen"}};
    options.timeout = 10s;
    const ProcessResult result = run_forked(
        [] {
            const char* value = std::getenv("WHITTLE_TEST_VALUE");
            const bool seen = value && std::string(value) == "seen";
            return ::write(STDOUT_FILENO, "hello", 5) == 5 && seen ? 4 : 5;
        },
        options);
    CHECK(result.exit_code == 4);
    CHECK(result.out == "hello");
    CHECK(std::getenv("WHITTLE_TEST_VALUE") == nullptr);
    CHECK(run_forked([] { return ::raise(SIGSEGV); }).signal == SIGSEGV);
}

TEST_CASE("our signal dispositions are not inherited") {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const ProcessResult result = shell("kill -PIPE $$");
    std::signal(SIGPIPE, before);
    CHECK(result.signal == SIGPIPE);
}
