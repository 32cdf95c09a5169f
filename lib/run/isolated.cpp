// run_isolated(): the backend works in a forked child; its outcome comes back through a pipe.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/sanitizer.h"
#include "graph/json_text.h"
#include "run/outcome.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargestMessage = std::size_t(8) << 30;  // of outputs; a child cannot make us allocate more
constexpr auto kGrace = std::chrono::milliseconds(500);        // between TERM and KILL

// ---- the message: plain fields in a fixed order, each string and list preceded by its length -----------------------

class MessageWriter {
  public:
    template <class T>
    void number(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(const std::string& value) {
        number<std::uint64_t>(value.size());
        bytes_ += value;
    }
    void tensor(const Tensor& value) {
        number(static_cast<std::uint8_t>(value.dtype()));
        number<std::uint64_t>(value.sizes().size());
        for (std::int64_t size : value.sizes()) number(size);
        const Tensor contiguous = value.contiguous();
        const auto data = contiguous.contiguous_bytes();
        bytes_.append(reinterpret_cast<const char*>(data.data()), data.size());
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

/// Reads what MessageWriter wrote. A child that went mad can send anything: every read is checked, failed() says so.
class MessageReader {
  public:
    explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
    bool failed() const { return failed_; }
    bool at_end() const { return rest_.empty(); }

    template <class T>
    T number() {
        T value{};
        if (!take(sizeof value)) return value;
        std::memcpy(&value, taken_.data(), sizeof value);
        return value;
    }
    std::string text() { return take(number<std::uint64_t>()) ? std::string(taken_) : std::string(); }
    Tensor tensor() {
        const auto dtype = number<std::uint8_t>();
        const auto rank = number<std::uint64_t>();
        if (dtype > static_cast<std::uint8_t>(DType::boolean) || rank > 64) failed_ = true;
        if (failed_) return {};
        Sizes sizes(rank);
        for (std::int64_t& size : sizes) size = number<std::int64_t>();
        try {
            const auto count = static_cast<std::uint64_t>(element_count(sizes));
            if (count > rest_.size() || !take(count * size_of(static_cast<DType>(dtype)))) {
                failed_ = true;
                return {};
            }
            Tensor result(static_cast<DType>(dtype), sizes);
            if (count) std::memcpy(result.mutable_raw(), taken_.data(), taken_.size());
            return result;
        } catch (const Error&) {
            failed_ = true;
            return {};
        }
    }

  private:
    bool take(std::uint64_t count) {
        if (failed_ || count > rest_.size()) {
            failed_ = true;
            return false;
        }
        taken_ = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return true;
    }

    std::string_view rest_, taken_;
    bool failed_ = false;
};

std::string encode(const Outcome& outcome) {
    MessageWriter writer;
    writer.number(static_cast<std::uint8_t>(outcome.kind));
    for (const std::string* text : {&outcome.stage, &outcome.op, &outcome.message, &outcome.detail}) writer.text(*text);
    writer.number(outcome.compile_seconds);
    writer.number(outcome.run_seconds);
    writer.number<std::uint64_t>(outcome.outputs.size());
    for (const Tensor& output : outcome.outputs) writer.tensor(output);
    return writer.bytes();
}

std::optional<Outcome> decode(std::string_view bytes) {
    MessageReader reader(bytes);
    Outcome outcome;
    const auto kind = reader.number<std::uint8_t>();
    if (kind > static_cast<std::uint8_t>(Outcome::Kind::unsupported)) return std::nullopt;
    outcome.kind = static_cast<Outcome::Kind>(kind);
    for (std::string* text : {&outcome.stage, &outcome.op, &outcome.message, &outcome.detail}) *text = reader.text();
    outcome.compile_seconds = reader.number<double>();
    outcome.run_seconds = reader.number<double>();
    const auto count = reader.number<std::uint64_t>();
    for (std::uint64_t i = 0; i < count && !reader.failed(); i++) outcome.outputs.push_back(reader.tensor());
    if (reader.failed() || !reader.at_end()) return std::nullopt;
    return outcome;
}

// ---- the child -----------------------------------------------------------------------------------------------------

/// Bytes of address space in use.
std::size_t address_space() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit(int resource, rlim_t value) {
    const struct rlimit limits { value, value };
    ::setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

/// Tells the parent how far the child came, even when it crashes.
struct Shared {
    volatile int stage;  // 0: compile, 1: run
};

class StageBackend final : public Backend {
  public:
    StageBackend(Backend& inner, Shared& shared) : inner_(inner), shared_(shared) {}
    std::string name() const override { return inner_.name(); }
    std::string description() const override { return inner_.description(); }
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        CompileResult result = inner_.compile(graph, options);
        shared_.stage = 1;
        return result;
    }
    std::vector<std::string> unsupported(const Graph& graph) const override { return inner_.unsupported(graph); }

  private:
    Backend& inner_;
    Shared& shared_;
};

[[noreturn]] void child(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                        const BackendOptions& options, const Limits& limits, Shared& shared,
                        const std::filesystem::path& scratch, int pipe, int output) {
    ::setenv("TMPDIR", scratch.c_str(), 1);
    ::setpgid(0, 0);
    handle_interrupts_in_child();
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, rlim_t(1) << 32);
    if (!kAddressSanitizer) limit(RLIMIT_AS, address_space() + limits.memory);
    StageBackend staged(backend, shared);
    std::string message;
    try {
        message = encode(run_in_process(graph, inputs, staged, options));
    } catch (const std::bad_alloc&) {
        message = encode({.kind = Outcome::Kind::out_of_memory,
                          .stage = shared.stage ? "run" : "compile",
                          .message = "out of memory"});
    }
    std::string_view rest = message;
    while (!rest.empty()) {
        const ssize_t written = ::write(pipe, rest.data(), rest.size());
        if (written < 0 && errno != EINTR) ::_exit(1);
        if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
    ::_exit(0);
}

// ---- the parent ----------------------------------------------------------------------------------------------------

void fail(const char* doing) { throw Error(std::string("cannot ") + doing + ": " + std::strerror(errno)); }

/// Reads until the pipe closes or the deadline passes. False: the deadline passed, or we are to stop.
bool read_until(int pipe, Clock::time_point deadline, std::string& bytes) {
    std::vector<char> chunk(1 << 16);
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0 || interrupt_signal()) return false;
        struct pollfd waiting {
            pipe, POLLIN, 0
        };
        // In slices: an interrupt may have reached another thread.
        const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, 250)));
        if (ready <= 0) continue;
        const ssize_t count = ::read(pipe, chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0 || bytes.size() > kLargestMessage) return true;
        bytes.append(chunk.data(), static_cast<std::size_t>(count));
    }
}

/// Waits for the child until `deadline`; nothing when it is still alive then.
std::optional<int> wait_until(pid_t pid, Clock::time_point deadline) {
    for (int status = 0;;) {
        const pid_t ended = ::waitpid(pid, &status, WNOHANG);
        if (ended == pid) return status;
        if (Clock::now() >= deadline) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::string last_lines(int output) {
    char tail[2048];
    const off_t size = ::lseek(output, 0, SEEK_END);
    const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(sizeof tail));
    const ssize_t count = ::pread(output, tail, sizeof tail, begin);
    std::string text(tail, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

Outcome ended(int status, const Shared& shared, int output, const std::string& bytes) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        if (auto outcome = decode(bytes)) return *outcome;
    Outcome outcome;
    outcome.stage = shared.stage ? "run" : "compile";
    outcome.kind = Outcome::Kind::crash;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        // Nobody but the kernel's memory killer sends KILL here: our own comes with a timeout.
        if (signal == SIGKILL) outcome.kind = Outcome::Kind::out_of_memory;
        const char* abbreviation = ::sigabbrev_np(signal);
        outcome.detail = abbreviation ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal);
        outcome.message = "killed by " + outcome.detail;
    } else {
        outcome.detail = "exit";
        outcome.message =
            "the process exited with " + std::to_string(WEXITSTATUS(status)) + " in the middle of its work";
    }
    if (const std::string said = last_lines(output); !said.empty()) outcome.message += ": " + said;
    return outcome;
}

/// Closes on destruction.
struct Descriptor {
    int fd;
    ~Descriptor() { close(); }
    void close() {
        if (fd >= 0) ::close(fd);
        fd = -1;
    }
};

}  // namespace

Outcome run_isolated(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                     const BackendOptions& options, const Limits& limits) {
    throw_if_interrupted();
    const TempDir scratch("whittle-run");  // the child's TMPDIR: what it leaves when it is killed goes with it
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("create a pipe");
    Descriptor reader{ends[0]}, writer{ends[1]},
        output{static_cast<int>(::memfd_create("whittle-output", MFD_CLOEXEC))};
    if (output.fd < 0) fail("create a file for the child's output");
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("map shared memory");
    Shared& shared = *static_cast<Shared*>(memory);
    std::fflush(nullptr);  // or the child would print what we have buffered once more
    const pid_t pid = ::fork();
    if (pid < 0) fail("start a process");
    if (pid == 0) child(graph, inputs, backend, options, limits, shared, scratch.path(), writer.fd, output.fd);
    ::setpgid(pid, pid);
    const CleanUpScope scope(pid);
    writer.close();

    std::string bytes;
    const auto deadline = Clock::now() + limits.timeout;
    std::optional<int> status;
    if (read_until(reader.fd, deadline, bytes)) status = wait_until(pid, deadline);
    const bool late = !status;
    if (late) {
        ::kill(-pid, SIGTERM);
        status = wait_until(pid, Clock::now() + kGrace);
    }
    ::kill(-pid, SIGKILL);  // whatever is left of its group
    if (!status) {
        int waited = 0;
        while (::waitpid(pid, &waited, 0) < 0 && errno == EINTR) {
        }
        status = waited;
    }
    Outcome outcome = late ? Outcome{.kind = Outcome::Kind::timeout,
                                     .stage = shared.stage ? "run" : "compile",
                                     .message = "no result after " + std::to_string(limits.timeout.count()) + " ms"}
                           : ended(*status, shared, output.fd, bytes);
    outcome.message = as_line(outcome.message, 2000);
    ::munmap(memory, sizeof(Shared));
    throw_if_interrupted();
    return outcome;
}

}  // namespace whittle
