#include "base/subprocess.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

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
    CHECK(result.out.find("x\n[... 4999011 bytes omitted ...]\nx") == 500 - 1);
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

TEST_CASE("address space is free, memory that is held is not", "[process]") {
    ProcessOptions options;
    options.memory_limit = std::size_t(256) << 20;
    // As sanitizers and some compilers do: much space, of which two pages are touched. ThreadSanitizer leaves a program
    // too little for a terabyte, depending on where its libraries are loaded.
    const auto reserve = [] {
        const std::size_t size = std::size_t(256) << 30;
        void* reserved =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED) return 1;
        for (const std::size_t at : {std::size_t(0), size - 1}) static_cast<volatile char*>(reserved)[at] = 1;
        ::usleep(100'000);  // it is looked at
        return 0;
    };
    const ProcessResult reserved = run_forked(reserve, options);
    CHECK(reserved.exit_code == 0);
    CHECK_FALSE(reserved.out_of_memory);
    CHECK(shell("ulimit -v", options).out == shell("ulimit -v").out);
    // dd touches its block, and then waits for input that never comes.
    const ProcessResult held = shell("exec dd if=/dev/zero of=/dev/null bs=400M count=1000000", options);
    CHECK(held.out_of_memory);
    CHECK_FALSE(held.ended_from_outside);
}

TEST_CASE("what a copy of this process shares with us does not count as its memory", "[process]") {
    const std::string ours(std::size_t(200) << 20, 'x');
    ProcessOptions options;
    options.memory_limit = std::size_t(100) << 20;
    options.shared_memory = std::size_t(300) << 20;
    const auto copy = [&] {
        ::usleep(100'000);
        return ours[ours.size() / 2] == 'x' ? 0 : 1;
    };
    CHECK(run_forked(copy, options).exit_code == 0);
    const auto take = [&] {
        const std::string own(std::size_t(200) << 20, 'y');
        ::usleep(10'000'000);
        return own[own.size() / 2] == 'y' ? 0 : 1;
    };
    CHECK(run_forked(take, options).out_of_memory);
    // Shared among its own processes it does count.
    const auto share = [&] {
        const std::string own(std::size_t(450) << 20, 'y');
        const pid_t child = ::fork();
        ::usleep(10'000'000);
        if (child == 0) ::_exit(own[own.size() / 2] == 'y' ? 0 : 1);
        return 0;
    };
    CHECK(run_forked(share, options).out_of_memory);
}

TEST_CASE("a signal that neither we nor a limit sent is somebody else's") {
    ProcessOptions options;
    options.memory_limit = std::size_t(4) << 30;
    const ProcessResult killed = shell("kill -KILL $$", options);
    CHECK(killed.ended_from_outside);
    CHECK_FALSE(killed.out_of_memory);
    CHECK(shell("kill -TERM $$").ended_from_outside);
    CHECK(shell("sh -c 'kill -KILL $$'; exit $?").ended_from_outside);  // 137
    CHECK_FALSE(shell("kill -SEGV $$").ended_from_outside);
    CHECK_FALSE(shell("exit 1").ended_from_outside);
    options.timeout = 50ms;
    CHECK_FALSE(shell("exec sleep 1000", options).ended_from_outside);
}

TEST_CASE("a process that does not die of KILL is given up, and the caller goes on") {
    // Nobody can make a process that hangs in the kernel; one that KILL never reaches looks the same.
    ProcessOptions options;
    options.timeout = 50ms;
    options.unkillable = 200ms;
    options.send_signal = [](pid_t, int) { return 0; };
    const ProcessResult result = shell("exec sleep 1000", options);
    CHECK(result.timed_out);
    CHECK(result.left_behind > 0);
    CHECK(result.seconds < 500);
    // The guard's end takes it along where it can be taken.
    for (int i = 0; i < 5000 && ::kill(result.left_behind, 0) == 0; ++i) ::usleep(1000);
    CHECK(::kill(result.left_behind, 0) != 0);
    CHECK(shell("exit 3").left_behind == 0);
}

TEST_CASE("nothing that the guarded process writes changes what the guard says of it", "[process]") {
    // All that it has inherited, pipes and shared memory, it fills with rubbish.
    const ProcessResult result = run_forked([] {
        ::signal(SIGPIPE, SIG_IGN);  // who reads rubbish may well close its end before the next is written
        std::FILE* maps = std::fopen("/proc/self/maps", "r");
        char line[512];
        while (maps && std::fgets(line, sizeof line, maps)) {
            unsigned long begin = 0, end = 0;
            char mode[5] = {};
            if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, mode) == 3 && mode[1] == 'w' && mode[3] == 's')
                std::memset(reinterpret_cast<void*>(begin), 0x41, end - begin);
        }
        const std::string rubbish(16, '\1');
        for (int fd = 3; fd < 256; ++fd)
            if (::fcntl(fd, F_GETFL) >= 0 && (::fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
                static_cast<void>(!::write(fd, rubbish.data(), rubbish.size()));
        return 5;
    });
    CHECK(result.exit_code == 5);
    CHECK(result.signal == 0);
}

TEST_CASE("processes are started where pidfd_open is denied, as container runtimes do") {
    const ProcessResult result = run_forked([] {
        sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const sock_fprog program{std::size(filter), filter};
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 7;
        if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 8;
        if (::syscall(SYS_pidfd_open, ::getpid(), 0) >= 0) return 9;
        try {
            ProcessOptions options;
            options.timeout = 50ms;
            return shell("echo here; exit 3").exit_code == 3 && shell("sleep 1000", options).timed_out ? 0 : 1;
        } catch (const Error&) {
            return 2;
        }
    });
    CHECK(result.exit_code == 0);
}

TEST_CASE("an input that is held stays open until nobody waits any more") {
    ProcessOptions options;
    options.input = "hello\n";
    options.hold_input = true;
    options.timeout = 300ms;
    const ProcessResult result = shell("read word; echo $word; cat; echo over", options);
    CHECK(result.out == "hello\n");  // cat saw no end
    CHECK(result.timed_out);
    options.timeout = 60s;
    CHECK(shell("exit 4", options).exit_code == 4);
}

TEST_CASE("work in a copy of this process may have an answer of any size") {
    const std::string large(std::size_t(3) << 20, 'x');
    CHECK(ask_forked([&] { return large; }).answer == large);
    const ForkedAnswer died = ask_forked([]() -> std::string {
        ::raise(SIGSEGV);
        return "never";
    });
    CHECK(died.answer.empty());
    CHECK(ending_of(died.process) == "was killed by SIGSEGV");
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

TEST_CASE("a program that holds more than its limit of memory is ended") {
    ProcessOptions options;
    options.memory_limit = std::size_t(64) << 20;
    // dd touches its block, and then waits for input that never comes.
    const ProcessResult result = shell("exec dd if=/dev/zero of=/dev/null bs=200M count=1000000 2>/dev/null", options);
    CHECK(result.out_of_memory);
    CHECK(shell("exec true", options).exit_code == 0);
}

TEST_CASE("limits of memory and processor time hold for all processes together") {
    ProcessOptions memory{.timeout = 60s};
    memory.memory_limit = std::size_t(400) << 20;  // each holds 150 MB: dd touches its block, and waits
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

TEST_CASE("the limit of memory holds for processes beyond the first thousand") {
    ProcessOptions memory{.timeout = 120s};
    memory.memory_limit = std::size_t(800) << 20;  // of a sleep some 100 kB are its own
    const std::string many = "i=0; while [ $i -lt 1100 ]; do sleep 1000 & i=$((i+1)); done; ";
    CHECK(shell(many + "dd if=/dev/zero of=/dev/null bs=1G count=1000000 2>/dev/null & wait", memory).out_of_memory);
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
