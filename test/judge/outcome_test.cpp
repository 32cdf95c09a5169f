#include "judge/outcome.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>

#include "graph/abilities.h"
#include "graph/example.h"
#include "graph/text.h"

using namespace whittle;

namespace {

/// A backend whose compile and run are what a test wants.
class FakeBackend final : public Backend, public Support {
  public:
    std::function<CompileResult()> on_compile = [] { return CompileResult(); };
    std::function<RunResult(std::span<const Tensor>)> on_run = [](auto inputs) {
        return Values(inputs.begin(), inputs.end());
    };

    std::string name() const override { return "fake"; }
    std::string description() const override { return "for tests"; }
    std::function<std::vector<std::string>()> on_unsupported = [] { return std::vector<std::string>(); };
    std::vector<std::string> unsupported(const Graph&) const override { return on_unsupported(); }
    CompileResult compile(const Graph&, const BackendOptions&) override {
        CompileResult result = on_compile();
        if (auto* executable = std::get_if<std::unique_ptr<Executable>>(&result))
            *executable = std::make_unique<Fake>(on_run);
        return result;
    }

  private:
    struct Fake final : Executable {
        explicit Fake(std::function<RunResult(std::span<const Tensor>)> f) : f_(std::move(f)) {}
        RunResult run(std::span<const Tensor> inputs) override { return f_(inputs); }
        std::function<RunResult(std::span<const Tensor>)> f_;
    };
};

const std::vector<Tensor> kInputs = {Tensor::of<float>({1, 2})};

Outcome isolated(FakeBackend& backend, Limits limits = {}) {
    return run_isolated(identity_graph(), kInputs, backend, {}, limits);
}

}  // namespace

TEST_CASE("an isolated run returns what the backend computed", "[run]") {
    FakeBackend backend;
    const Outcome outcome = isolated(backend);
    REQUIRE(outcome.kind == Outcome::Kind::ok);
    REQUIRE(outcome.outputs.size() == 1);
    CHECK(same_bits(outcome.outputs[0], kInputs[0]));
}

TEST_CASE("tensors of every dtype, rank and emptiness come back from the child", "[run]") {
    std::vector<Tensor> values;
    for (DType dtype : kAllDTypes)
        for (const Sizes& sizes : {Sizes{}, Sizes{0, 3}, Sizes{2, 3}}) values.emplace_back(dtype, sizes);
    values.push_back(Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}).as_strided({3, 2}, {1, 3}, 0));
    FakeBackend backend;
    backend.on_run = [&](auto) { return values; };
    const Outcome outcome = isolated(backend);
    INFO(outcome.message);
    REQUIRE(outcome.outputs.size() == values.size());
    for (std::size_t i = 0; i < values.size(); i++) CHECK(same_bits(outcome.outputs[i], values[i]));
}

TEST_CASE("an exception is a failure of the stage it came from", "[run]") {
    FakeBackend backend;
    backend.on_compile = []() -> CompileResult { throw std::runtime_error("no such kernel"); };
    CHECK(isolated(backend).stage == "compile");
    backend = {};
    backend.on_run = [](auto) -> RunResult { throw std::runtime_error("bad input 3"); };
    const Outcome outcome = isolated(backend);
    CHECK(outcome.kind == Outcome::Kind::exception);
    CHECK(outcome.stage == "run");
    CHECK(outcome.message == "bad input 3");
}

TEST_CASE("a backend's failure, break or skip is an outcome", "[run]") {
    FakeBackend backend;
    backend.on_compile = [] {
        return CompileResult(BackendFailure{.stage = "compile", .op = "aten.relu.default", .message = "no"});
    };
    CHECK(isolated(backend).op == "aten.relu.default");
    backend.on_compile = [] {
        return CompileResult(BackendFailure{.stage = "compile", .message = "no", .unsupported = true});
    };
    CHECK(isolated(backend).kind == Outcome::Kind::unsupported);
    backend.on_compile = [] { return CompileResult(BreakRequest{.reason = "not today"}); };
    CHECK(isolated(backend).kind == Outcome::Kind::unsupported);
}

TEST_CASE("a crash is an outcome with its signal and last words", "[run]") {
    FakeBackend backend;
    backend.on_run = [](auto) -> RunResult {
        std::fputs("assertion failed: lanes > 0\n", stderr);
        std::signal(SIGABRT, SIG_DFL);
        std::abort();
    };
    const Outcome outcome = isolated(backend);
    CHECK(outcome.kind == Outcome::Kind::crash);
    CHECK(outcome.detail == "SIGABRT");
    CHECK(outcome.stage == "run");
    CHECK(outcome.message.find("lanes > 0") != std::string::npos);
    backend.on_run = [](auto) -> RunResult { std::_Exit(0); };
    CHECK(isolated(backend).kind == Outcome::Kind::crash);  // it left without an answer
}

TEST_CASE("a hang ends at the timeout, with everything it started", "[run]") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    FakeBackend backend;
    backend.on_run = [&](auto) -> RunResult {
        std::signal(SIGTERM, SIG_IGN);
        if (::fork() == 0) ::close(ends[0]);
        for (;;) ::pause();
    };
    Outcome outcome;  // on a busy machine a short time may be over before it runs
    for (std::chrono::milliseconds timeout(200); outcome.stage != "run" && timeout.count() < 60'000; timeout *= 4)
        outcome = isolated(backend, {.timeout = timeout});
    CHECK(outcome.kind == Outcome::Kind::timeout);
    CHECK(outcome.stage == "run");
    // The grandchild holds the pipe's writing end: reading ends only when it is gone.
    ::close(ends[1]);
    char byte;
    CHECK(::read(ends[0], &byte, 1) == 0);
    ::close(ends[0]);
}

TEST_CASE("memory beyond the limit is an outcome", "[run]") {
    FakeBackend backend;
    backend.on_run = [](auto) -> RunResult {
        Tensor huge(DType::u8, {std::int64_t(1) << 30});
        std::memset(huge.mutable_raw(), 1, std::size_t(1) << 30);
        ::usleep(10'000'000);
        return Values{huge};
    };
    CHECK(isolated(backend, {.memory = std::size_t(256) << 20}).kind == Outcome::Kind::out_of_memory);
    backend.on_run = [](auto) -> RunResult { throw std::bad_alloc(); };
    CHECK(isolated(backend).kind == Outcome::Kind::out_of_memory);
}

TEST_CASE("a backend may reserve more address space than there is memory", "[run]") {
    FakeBackend backend;
    backend.on_run = [](auto inputs) -> RunResult {
        const int mode = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        const std::size_t size = std::size_t(256) << 30;  // ThreadSanitizer may leave less than a terabyte
        if (::mmap(nullptr, size, PROT_NONE, mode, -1, 0) == MAP_FAILED)
            return BackendFailure{.stage = "run", .message = "cannot reserve"};
        return Values(inputs.begin(), inputs.end());
    };
    CHECK(isolated(backend, {.memory = std::size_t(256) << 20}).kind == Outcome::Kind::ok);
}

TEST_CASE("words about memory are no verdict", "[run]") {
    for (const char* words : {"terminate called after throwing an instance of 'std::bad_alloc'",
                              "LLVM ERROR: out of memory", "Out of memory (halide_malloc returned nullptr)"}) {
        INFO(words);
        FakeBackend backend;
        backend.on_run = [&](auto) -> RunResult { throw std::runtime_error(words); };
        CHECK(isolated(backend).kind == Outcome::Kind::exception);
        backend.on_run = [&](auto) -> RunResult {
            std::fputs(words, stderr);
            std::abort();
        };
        CHECK(isolated(backend).kind == Outcome::Kind::crash);
    }
}

TEST_CASE("a signal that somebody else sent is no outcome of the backend", "[run]") {
    FakeBackend backend;
    backend.on_run = [](auto) -> RunResult {  // as the kernel's memory killer does
        ::kill(::getpid(), SIGKILL);
        ::pause();
        return Values{};
    };
    const Outcome outcome = isolated(backend);
    CHECK(outcome.kind == Outcome::Kind::unresolved);
    CHECK_FALSE(outcome.is_failure());
    CHECK(outcome.message.find("did not send") != std::string::npos);
}

TEST_CASE("a backend is asked in a copy of this process what it does not support", "[run]") {
    FakeBackend backend;
    backend.on_unsupported = [] { return std::vector<std::string>{"aten.sin.default"}; };
    CHECK(unsupported_isolated(identity_graph(), backend) == std::vector<std::string>{"aten.sin.default"});
    backend.on_unsupported = []() -> std::vector<std::string> {
        ::raise(SIGSEGV);
        return {};
    };
    CHECK_THROWS_WITH(unsupported_isolated(identity_graph(), backend), Catch::Contains("killed by SIGSEGV"));
    backend.on_unsupported = []() -> std::vector<std::string> { throw std::runtime_error("no list"); };
    CHECK_THROWS_WITH(unsupported_isolated(identity_graph(), backend), Catch::Contains("no list"));
}

TEST_CASE("processor time beyond the limit is a timeout", "[run]") {
    FakeBackend backend;
    backend.on_run = [](auto) -> RunResult {
        for (std::atomic<int> busy{0};;) busy++;
    };
    const Outcome outcome = isolated(backend, {.cpu = std::chrono::seconds(1)});
    CHECK(outcome.kind == Outcome::Kind::timeout);
    CHECK(outcome.stage == "run");
    CHECK(outcome.message == "no result after 1 s of processor time");
}

TEST_CASE("a daemon that left the session ends with the query", "[run]") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    FakeBackend backend;
    backend.on_run = [&](auto inputs) -> RunResult {
        if (::fork() == 0) {
            ::close(ends[0]);
            ::setsid();
            if (::fork() == 0) std::signal(SIGTERM, SIG_IGN);
            for (;;) ::pause();
        }
        return Values(inputs.begin(), inputs.end());
    };
    CHECK(isolated(backend).kind == Outcome::Kind::ok);
    ::close(ends[1]);
    char byte;
    CHECK(::read(ends[0], &byte, 1) == 0);
    ::close(ends[0]);
}

TEST_CASE("signatures: what each kind of failure keeps", "[run]") {
    const auto text = [](Outcome outcome) { return signature_of(outcome).text(); };
    using Kind = Outcome::Kind;
    CHECK(text({.kind = Kind::mismatch,
                .stage = "run",
                .op = "k_3",
                .message = "output 4 [1]: got 2",
                .detail = "value"}) == "mismatch (value) at run");
    CHECK(text({.kind = Kind::crash, .stage = "compile", .message = "killed by SIGSEGV: x", .detail = "SIGSEGV"}) ==
          "crash (SIGSEGV) at compile");
    CHECK(text({.kind = Kind::timeout, .stage = "run", .message = "no result after 60000 ms"}) == "timeout at run");
    CHECK(text({.kind = Kind::out_of_memory, .stage = "run", .message = "out of memory"}) == "out_of_memory at run");
    CHECK(text({.kind = Kind::exception, .stage = "compile", .message = "bad %t12 in /tmp/x.cpp: 3 > 2"}) ==
          "exception (bad %_ in <path>: # > #) at compile");
}

TEST_CASE("a child's output does not mix with ours", "[run]") {
    FakeBackend backend;
    backend.on_run = [](auto inputs) {
        for (int i = 0; i < 100000; i++) std::puts("noise noise noise noise");
        return RunResult(Values(inputs.begin(), inputs.end()));
    };
    CHECK(isolated(backend).kind == Outcome::Kind::ok);
}

TEST_CASE("every query asks a backend that is warm, whoever asks first", "[run]") {
    class Warming final : public Backend, public WarmUp {
      public:
        bool warm = false;
        std::string name() const override { return "warming"; }
        std::string description() const override { return ""; }
        void warm_up() override { warm = true; }
        CompileStage consumes() const override { return CompileStage::captured; }
        CompileResult compile(const Graph&, const BackendOptions&) override {
            return BackendFailure{.stage = "compile", .message = warm ? "warm" : "cold"};
        }
    } backend;
    CHECK(run_isolated({}, {}, backend, {}, {}).message == "warm");
}

TEST_CASE("signatures forget what reduction changes", "[run]") {
    const auto detail = [](std::string message) {
        return signature_of({.kind = Outcome::Kind::exception, .stage = "compile", .message = std::move(message)})
            .detail;
    };
    CHECK(detail("bad %x_12 at 0x7ffe12") == detail("bad %conv at 0x11"));
    CHECK(detail("conv_3: sizes [1, 2, 3] differ") == detail("conv: sizes [64] differ"));
    CHECK(detail("/tmp/a.b/x.cpp:12: no") == detail("/home/me/y.cpp:7: no"));
    CHECK(detail("value -1.5e-07 is out") == detail("value 3 is out"));
    CHECK(detail("relu is broken") != detail("conv is broken"));
}

TEST_CASE("judge compares count, dtype, sizes and values", "[run]") {
    const auto judged = [](Values got, Values expected) {
        return judge({.outputs = std::move(got)}, expected, Accuracy{});
    };
    const Tensor one = Tensor::of<float>({1}), nan = Tensor::of<float>({NAN}), two = Tensor::of<float>({2});
    CHECK_FALSE(judged({one}, {one}).failed());
    CHECK(judged({}, {one}).detail == "count");
    CHECK(judged({one.to(DType::f64)}, {one}).detail == "dtype");
    CHECK(judged({nan}, {one}).detail == "nan_or_inf");
    CHECK(judged({two}, {one}).detail == "value");
    CHECK_FALSE(judged({nan}, {nan}).failed());
}
